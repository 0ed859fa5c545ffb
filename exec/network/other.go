//go:build !linux || !(amd64 || arm64)

package network

import (
	"fmt"
	"runtime"

	"skep/exec/sandbox"
)

// Device is a TUN device, of which there are none on this system.
type Device struct{}

// Open reports that there are none.
func Open(*sandbox.Pod, []int) (*Device, error) {
	return nil, fmt.Errorf("virtual network: %s on %s has no boxes", runtime.GOOS, runtime.GOARCH)
}

// Probe says why ranks cannot reach each other here.
func Probe(pod *sandbox.Pod) error {
	_, err := Open(pod, nil)
	return fmt.Errorf("ranks of a gang cannot reach each other: %w", err)
}

// Read reads nothing.
func (*Device) Read([]byte) (int, error) { return 0, ErrDropped }

// Write writes nothing.
func (*Device) Write([]byte) (int, error) { return 0, ErrDropped }

// Close has nothing to end.
func (*Device) Close() error { return nil }
