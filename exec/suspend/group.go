//go:build unix

package suspend

import "syscall"

// Group is a task of which only the process group is known, by its ID: what has left it goes on.
func Group(id int) Task { return group(id) }

type group int

// Processes lists the group as one.
func (g group) Processes() ([]Process, error) { return []Process{{PID: int(g)}}, nil }

// Signal sends to all of the group.
func (g group) Signal(_ int, sig syscall.Signal) error { return syscall.Kill(-int(g), sig) }
