//go:build !linux

package blob

import "testing"

// withoutDescriptors is for Linux only.
func withoutDescriptors(*testing.T, func()) {}
