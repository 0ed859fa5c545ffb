//go:build !linux || !(amd64 || arm64)

package network

import (
	"errors"
	"fmt"
	"net"
	"runtime"

	"skep/exec/sandbox"
)

// Device is a TUN device, of which there are none on this system.
type Device struct{}

// Open reports that there are none.
func Open(*sandbox.Pod, []int) (*Device, error) {
	return nil, fmt.Errorf("virtual network: %s on %s has no boxes", runtime.GOOS, runtime.GOARCH)
}

// Loopback is the network of a pod without a device, of which there are none on this system.
type Loopback struct{}

// OpenLoopback reports that there are none.
func OpenLoopback(*sandbox.Pod, []int) (*Loopback, error) {
	return nil, fmt.Errorf("ports of ranks: %s on %s has no boxes", runtime.GOOS, runtime.GOARCH)
}

// ErrAllAddresses is why no listener can stand for a rank elsewhere.
var ErrAllAddresses = errors.New("there are no boxes")

// Listen listens to nothing.
func (*Loopback) Listen(Endpoint, bool) (net.Listener, error) { return nil, ErrAllAddresses }

// Dial connects to nothing.
func (*Loopback) Dial(int, Endpoint) (net.Conn, error) { return nil, ErrAllAddresses }

// AtAll knows of nobody who listens.
func (*Loopback) AtAll([]uint16) (bool, error) { return false, nil }

// Listening knows of nobody who listens.
func (*Loopback) Listening([]uint16) ([]Endpoint, error) { return nil, nil }

// Close has nothing to end.
func (*Loopback) Close() error { return nil }

// ProbePorts says why ranks cannot reach each other here.
func ProbePorts(pod *sandbox.Pod) error {
	_, err := OpenLoopback(pod, nil)
	return fmt.Errorf("ranks of a gang cannot reach each other: %w", err)
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
