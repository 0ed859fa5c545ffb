//go:build !linux

package blob

import "testing"

// few is for Linux only.
func few(*testing.T, func()) {}
