//go:build !linux || !(amd64 || arm64)

package units

// CPUs returns nil: tasks cannot be pinned here.
func CPUs() []int { return nil }
