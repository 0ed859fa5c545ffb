//go:build amd64 || arm64

package network

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
)

// Probe tries to make a virtual network in a pod, and says in one line why that cannot be done here and what helps.
// The pod may not have one already.
func Probe(pod *sandbox.Pod) error {
	d, err := Open(pod, []int{0})
	if err == nil {
		return d.Close()
	}
	return explain(err)
}

// ProbePorts tries to set up a pod for ranks that listen on fixed ports, and says in one line why that cannot be done
// here.
func ProbePorts(pod *sandbox.Pod) error {
	l, err := OpenLoopback(pod, []int{0})
	if err == nil {
		return l.Close()
	}
	return fmt.Errorf("ranks of a gang cannot reach each other, not even on fixed ports: %w", err)
}

// explain says why there is no virtual network.
func explain(err error) error {
	remedy := ""
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		remedy = "load the kernel's module tun (modprobe tun); in a container: give it the device /dev/net/tun"
	case errors.Is(err, fs.ErrPermission):
		remedy = "let this node's user read and write /dev/net/tun (chmod 0666, as most distributions have it); " +
			"in a container: give it that device, and as root the capability NET_ADMIN"
	default:
		return fmt.Errorf("ranks of a gang cannot reach each other: %w", err)
	}
	return fmt.Errorf("ranks of a gang cannot reach each other: %w; %s", err, remedy)
}
