package demo

import "syscall"

// childAttr puts a child into a process group of its own, so that an interrupt at the terminal does not reach it
// before the demonstration has cleaned up, and kills it when the thread that started it ends.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
