package main

import "syscall"

// childAttr puts a child into a group of its own, so that an interrupt at the terminal does not reach it before
// the demonstration has tidied up, and lets it die with the thread that started it.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
