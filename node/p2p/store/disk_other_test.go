//go:build !linux

package store

import "testing"

func mount(t *testing.T, _, _ string) { t.Skip("needs Linux to mount a file system in memory") }
