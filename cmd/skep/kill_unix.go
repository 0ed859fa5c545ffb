//go:build unix

package main

import "syscall"

// killGroup kills a child and its group.
func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
