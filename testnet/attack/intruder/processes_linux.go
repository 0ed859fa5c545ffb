package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// actions are what is tried on each process outside. None does harm: signals are ignored ones, limits and priorities
// are set to what they are.
var actions = []struct {
	name, what string
	do         func(w *world.World, p *world.Process, pid int) result
}{
	{"kill", "signal it", func(_ *world.World, _ *world.Process,
		pid int) result {
		return by(unix.Kill(pid, unix.SIGURG))
	}},
	{"tgkill", "signal its first thread", func(_ *world.World, _ *world.Process, pid int) result {
		return by(unix.Tgkill(pid, pid, unix.SIGURG))
	}},
	{"tkill", "signal a thread by its number alone", func(_ *world.World, _ *world.Process, pid int) result {
		_, _, errno := unix.RawSyscall(unix.SYS_TKILL, uintptr(pid), uintptr(unix.SIGURG), 0)
		return errnoResult(errno)
	}},
	{"sigqueue", "send it a signal with a value", func(_ *world.World, _ *world.Process, pid int) result {
		info := [128]byte{0: byte(unix.SIGURG)}
		*(*int32)(unsafe.Pointer(&info[8])) = -1 // SI_QUEUE
		_, _, errno := unix.RawSyscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), uintptr(unix.SIGURG),
			uintptr(unsafe.Pointer(&info)))
		return errnoResult(errno)
	}},
	{"pidfd-signal", "signal it by a descriptor", func(_ *world.World, _ *world.Process, pid int) result {
		fd, err := unix.PidfdOpen(pid, 0)
		if err == nil {
			err = unix.PidfdSendSignal(fd, unix.SIGURG, nil, 0)
		}
		return by(err)
	}},
	{"pidfd-getfd", "take a descriptor of it", func(_ *world.World, _ *world.Process, pid int) result {
		fd, err := unix.PidfdOpen(pid, 0)
		if err == nil {
			_, err = unix.PidfdGetfd(fd, 0, 0)
		}
		return by(err)
	}},
	{"ptrace", "trace it", func(_ *world.World, _ *world.Process, pid int) result {
		runtime.LockOSThread()
		const seize = 0x4206
		_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, seize, uintptr(pid), 0, 0, 0, 0)
		return errnoResult(errno)
	}},
	{"vm-read", "read its memory (process_vm_readv)", func(_ *world.World, p *world.Process, pid int) result {
		b := make([]byte, 64)
		n, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &b[0], Len: 64}},
			[]unix.RemoteIovec{{Base: uintptr(p.Address), Len: len(b)}}, 0)
		return seen(p, b[:max(n, 0)], err)
	}},
	{"vm-write", "write its memory (process_vm_writev)", func(_ *world.World, p *world.Process, pid int) result {
		b := []byte(p.Holds)
		if len(b) == 0 {
			return untried("where to write is not known")
		}
		_, err := unix.ProcessVMWritev(pid, []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}},
			[]unix.RemoteIovec{{Base: uintptr(p.Address), Len: len(b)}}, 0)
		if err == unix.EFAULT {
			return won("it was let in, to memory that nobody may write")
		}
		return by(err)
	}},
	{"mem", "read its memory (/proc/PID/mem)", func(_ *world.World, p *world.Process, pid int) result {
		f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
		if err != nil {
			return lost("%v", err)
		}
		defer f.Close()
		b := make([]byte, 64)
		n, err := f.ReadAt(b, int64(p.Address))
		return seen(p, b[:n], err)
	}},
	{"mem-write", "write its memory (/proc/PID/mem)", func(_ *world.World, _ *world.Process, pid int) result {
		return opens(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR)
	}},
	{"task-mem", "read the memory of one of its threads (/proc/PID/task/TID/mem)",
		func(_ *world.World, _ *world.Process, pid int) result {
			return opens(fmt.Sprintf("/proc/%d/task/%d/mem", pid, pid), os.O_RDONLY)
		}},
	{"environ", "read its environment", proc("environ")}, {"maps", "read its memory map", proc("maps")},
	{"auxv", "read its auxiliary vector", proc("auxv")}, {"syscall", "read its registers", proc("syscall")},
	{"cmdline", "read its command line", proc("cmdline")}, {"io", "read what it has read and written", proc("io")},
	{"fd", "list its descriptors", list("fd")}, {"root", "list its root folder", list("root")},
	{"cwd", "list its working folder", list("cwd")}, {"map-files", "list its mapped files", list("map_files")},
	{"exe", "open its program", func(_ *world.World, _ *world.Process, pid int) result {
		return opens(fmt.Sprintf("/proc/%d/exe", pid), os.O_RDONLY)
	}},
	{"prlimit", "set its limits", func(_ *world.World, _ *world.Process, pid int) result {
		var l unix.Rlimit
		err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &l)
		if err == nil {
			err = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &l, nil)
		}
		return by(err)
	}},
	{"priority", "set its priority", func(_ *world.World, _ *world.Process, pid int) result {
		now, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
		if err == nil {
			err = unix.Setpriority(unix.PRIO_PROCESS, pid, 20-now)
		}
		return by(err)
	}},
	{"affinity", "bind it to processors", func(_ *world.World, _ *world.Process, pid int) result {
		var set unix.CPUSet
		err := unix.SchedGetaffinity(pid, &set)
		if err == nil {
			err = unix.SchedSetaffinity(pid, &set)
		}
		return by(err)
	}},
	{"scheduler", "set how it is scheduled", func(_ *world.World, _ *world.Process, pid int) result {
		a, err := unix.SchedGetAttr(pid, 0)
		if err == nil {
			err = unix.SchedSetAttr(pid, a, 0)
		}
		return by(err)
	}},
	{"oom", "have the kernel end it first", func(_ *world.World, _ *world.Process, pid int) result {
		return opens(fmt.Sprintf("/proc/%d/oom_score_adj", pid), os.O_WRONLY)
	}},
	{"robust-list", "learn its addresses (get_robust_list)", func(_ *world.World, _ *world.Process, pid int) result {
		var head, length uintptr
		_, _, errno := unix.RawSyscall(unix.SYS_GET_ROBUST_LIST, uintptr(pid), uintptr(unsafe.Pointer(&head)),
			uintptr(unsafe.Pointer(&length)))
		return errnoResult(errno)
	}},
	{"migrate", "move its memory", func(_ *world.World, _ *world.Process, pid int) result {
		_, _, errno := unix.RawSyscall6(unix.SYS_MOVE_PAGES, uintptr(pid), 0, 0, 0, 0, 0)
		return errnoResult(errno)
	}},
	{"namespace", "enter its mounts (setns)", func(_ *world.World, _ *world.Process, pid int) result {
		fd, err := unix.PidfdOpen(pid, 0)
		if err == nil {
			runtime.LockOSThread()
			unix.Unshare(unix.CLONE_FS)
			err = unix.Setns(fd, unix.CLONE_NEWNS)
		}
		return by(err)
	}},
}

// ownStub are actions on process 1 of its own box that the kernel lets its user do, and that hurt that box alone.
var ownStub = []string{"kill", "tgkill", "tkill", "sigqueue", "pidfd-signal", "priority", "affinity", "scheduler",
	"migrate", "cmdline"}

// onProcesses tries each action on each process.
func onProcesses(w *world.World) (all []attack) {
	for i := range w.Processes {
		p := &w.Processes[i]
		for _, a := range actions {
			if p.Name == world.Init && slices.Contains(ownStub, a.name) {
				continue
			}
			all = append(all, attack{world.Attack{Name: "process/" + p.Name + "/" + a.name,
				What: "reach the " + p.Name + ": " + a.what},
				func(w *world.World) result {
					pid, err := find(w, p)
					switch {
					case errors.Is(err, errOwn):
						return lost("%v", err)
					case err != nil:
						return untried("%v", err)
					}
					return a.do(w, p, pid)
				}})
		}
	}
	return all
}

// proc reads a file of a process in /proc.
func proc(name string) func(*world.World, *world.Process, int) result {
	return func(_ *world.World, _ *world.Process, pid int) result {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil {
			return lost("%v", err)
		}
		return won("%d bytes: %.80q", len(b), strings.ReplaceAll(string(b), "\x00", " "))
	}
}

func list(name string) func(*world.World, *world.Process, int) result {
	return func(_ *world.World, _ *world.Process, pid int) result {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/%s/", pid, name))
		if err != nil {
			return lost("%v", err)
		}
		return won("%d entries", len(entries))
	}
}

// seen judges what was read of a memory.
func seen(p *world.Process, b []byte, err error) result {
	if secret := world.FindSecret(b); secret != "" {
		return won("%s", secret)
	}
	if err == nil && p.Holds != "" && strings.HasPrefix(string(b), p.Holds) {
		return won("what it has at %#x", p.Address)
	}
	return lost("%d bytes, %v", len(b), err)
}

func errnoResult(errno syscall.Errno) result {
	if errno != 0 {
		return lost("%v", errno)
	}
	return won("the kernel let it")
}

func opens(path string, flags int) result {
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return lost("%v", err)
	}
	f.Close()
	return won("%s is open", path)
}
