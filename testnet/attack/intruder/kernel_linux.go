package main

import (
	"math/rand/v2"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

func ioctl(fd int, op uintptr, arg *byte) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), op, uintptr(unsafe.Pointer(arg))); errno != 0 {
		return errno
	}
	return nil
}

// forbidden are system calls that tasks must not reach. Each is made so that it does no harm where it is allowed. Where
// reached is set, that error too says that the call was let in.
var forbidden = []struct {
	name, what string
	reached    syscall.Errno
	do         func() error
}{
	{"keyctl", "use keyrings", 0, func() error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING,
			true)
		return err
	}},
	{"add-key", "keep keys in the kernel", 0, func() error {
		_, err := unix.AddKey("user", "a", []byte("b"), unix.KEY_SPEC_PROCESS_KEYRING)
		return err
	}},
	{"request-key", "ask for keys", unix.ENOKEY,
		func() error { _, err := unix.RequestKey("user", "skep-attack", "", 0); return err }},
	{"bpf", "load programs into the kernel", unix.EINVAL, func() error { return number(unix.SYS_BPF, 5, 0, 0, 0) }},
	{"io-uring", "use io_uring", unix.EFAULT, func() error { return number(unix.SYS_IO_URING_SETUP, 8, 0, 0, 0) }},
	{"userfaultfd", "stop the kernel at its own memory", 0,
		func() error { return number(unix.SYS_USERFAULTFD, 1, 0, 0, 0) }},
	{"perf", "measure others (perf_event_open)", unix.EFAULT,
		func() error { return number(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0) }},
	{"ptrace", "trace", 0, func() error { return number(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0) }},
	{"kcmp", "compare processes", 0, func() error {
		return number(unix.SYS_KCMP, uintptr(os.Getpid()),
			uintptr(os.Getppid()), 0, 0)
	}},
	{"memfd-secret", "hold memory that nobody counts", 0,
		func() error { return number(unix.SYS_MEMFD_SECRET, 0, 0, 0, 0) }},
	{"init-module", "load a module", unix.ENOEXEC, func() error { return number(unix.SYS_INIT_MODULE, 0, 0, 0, 0) }},
	{"finit-module", "load a module from a file", unix.ENOEXEC,
		func() error { return number(unix.SYS_FINIT_MODULE, 0, 0, 0, 0) }},
	{"delete-module", "remove a module", unix.ENOENT, func() error { return unix.DeleteModule("skep_attack", 0) }},
	{"kexec", "load a kernel", unix.EINVAL, func() error { return number(unix.SYS_KEXEC_LOAD, 0, 0, 0, 0xffff) }},
	{"reboot", "reboot", unix.EINVAL, func() error { return number(unix.SYS_REBOOT, 1, 2, 3, 0) }},
	{"swapon", "add swap", unix.ENOENT, func() error { return path(unix.SYS_SWAPON, "/skep-attack") }},
	{"swapoff", "take swap away", unix.ENOENT, func() error { return path(unix.SYS_SWAPOFF, "/skep-attack") }},
	{"acct", "log processes", unix.ENOENT, func() error { return unix.Acct("/skep-attack") }},
	{"syslog", "read the kernel's log", 0, func() error { _, err := unix.Klogctl(10, nil); return err }},
	{"quotactl", "set quotas", unix.ENOENT, func() error { return number(unix.SYS_QUOTACTL, 0x80000200, 0, 0, 0) }},
	{"iopl", "reach ports", 0, iopl},
	{"vhangup", "hang up a terminal", 0, func() error { return number(unix.SYS_VHANGUP, 0, 0, 0, 0) }},
	{"settime", "set the clock", 0, func() error {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
			return err
		}
		return number(unix.SYS_CLOCK_SETTIME, unix.CLOCK_REALTIME, uintptr(unsafe.Pointer(&now)), 0, 0)
	}},
	{"adjtime", "bend the clock", 0, func() error {
		var t unix.Timex
		if _, err := unix.Adjtimex(&t); err != nil {
			return err
		}
		t = unix.Timex{Modes: 0x4000, Tick: t.Tick} // ADJ_TICK, as it is
		_, err := unix.Adjtimex(&t)
		return err
	}},
	{"personality", "be a program of another system", 0, func() error {
		const executable = 0x400000 // READ_IMPLIES_EXEC
		err := number(unix.SYS_PERSONALITY, executable, 0, 0, 0)
		number(unix.SYS_PERSONALITY, 0, 0, 0, 0)
		return err
	}},
	{"file-handle", "name a file by a handle", unix.EFAULT,
		func() error { return number(unix.SYS_NAME_TO_HANDLE_AT, ^uintptr(99), 0, 0, 0) }},
	{"list-mounts", "list mounts", unix.EFAULT, func() error { return number(458, 0, 0, 0, 0) }},
	{"hostname", "name the machine", 0, func() error {
		name, err := os.Hostname()
		if err == nil {
			err = unix.Sethostname([]byte(name))
		}
		return err
	}},
	{"chroot", "have another root", 0, func() error { return unix.Chroot(".") }},
	{"pivot-root", "turn the tree", unix.EINVAL, func() error { return unix.PivotRoot(".", ".") }},
	{"mount-tmpfs", "mount", 0, func() error { return mounts("skep", ".", "tmpfs", 0) }},
	{"mount-proc", "mount another /proc", 0, func() error { return mounts("proc", ".", "proc", 0) }},
	{"mount-bind", "show a folder elsewhere", 0, func() error { return mounts("/", ".", "", unix.MS_BIND) }},
	{"mount-remount", "make a mount writable", unix.EINVAL,
		func() error { return unix.Mount("", "/usr", "", unix.MS_REMOUNT|unix.MS_BIND, "") }},
	{"mount-move", "move a mount", unix.EINVAL,
		func() error { return unix.Mount("/task/work", "/run", "", unix.MS_MOVE, "") }},
	{"umount", "unmount its own folder", unix.EINVAL, func() error { return unix.Unmount("/task/work", unix.MNT_EXPIRE) }},
	{"umount-proc", "unmount /proc", unix.EINVAL, func() error { return unix.Unmount("/proc/self", 0) }},
	{"fsopen", "make a file system", 0, func() error { _, err := unix.Fsopen("tmpfs", 0); return err }},
	{"open-tree", "copy mounts", 0, func() error {
		_, err := unix.OpenTree(unix.AT_FDCWD, "/",
			unix.OPEN_TREE_CLONE)
		return err
	}},
	{"open-tree-attr", "copy mounts, and change them", unix.EINVAL, func() error {
		var attr unix.MountAttr
		p := append([]byte("/"), 0)
		return number(467, ^uintptr(99), uintptr(unsafe.Pointer(&p[0])), unix.OPEN_TREE_CLONE, uintptr(unsafe.Pointer(&attr)))
	}},
	{"move-mount", "attach mounts", unix.EBADF, func() error { return unix.MoveMount(-1, "", -1, "", 0x44) }},
	{"mount-setattr", "change mounts", unix.EINVAL, func() error {
		return unix.MountSetattr(unix.AT_FDCWD, "/usr", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	}},
	{"lsm", "change its label", unix.EINVAL, func() error { return number(460, 100, 0, 0, 0) }},
	{"x32", "make a call of the x32 kind", 0, func() error { return abi32x() }},
	{"i386", "make a call of 32 bits", 0, func() error { return abi32() }},
	{"cookie", "guess the number that lets it mount", 0, func() error {
		defer unix.Unmount(".", unix.MNT_DETACH)
		fs, dot := []byte("tmpfs\x00"), []byte(".\x00")
		var errno syscall.Errno
		for range 20_000 {
			if _, _, errno = unix.RawSyscall6(unix.SYS_MOUNT, uintptr(unsafe.Pointer(&fs[0])), uintptr(unsafe.Pointer(&dot[0])),
				uintptr(unsafe.Pointer(&fs[0])), 0, 0, uintptr(rand.Uint64())); errno == 0 {
				return nil
			}
		}
		return errno
	}},
}

// onKernel tries each of them.
func onKernel(*world.World) (all []attack) {
	for _, d := range forbidden {
		all = append(all, attack{world.Attack{Name: "kernel/" + d.name, What: d.what}, func(*world.World) result {
			runtime.LockOSThread()
			err := d.do()
			if d.reached != 0 && err == d.reached {
				return won("the kernel got as far as: %v", err)
			}
			return by(err)
		}})
	}
	return all
}

// number makes a system call; its arguments must not be what the garbage collector could move.
func number(nr, a, b, c, d uintptr) error {
	if _, _, errno := unix.RawSyscall6(nr, a, b, c, d, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func path(nr uintptr, name string) error {
	p := append([]byte(name), 0)
	return number(nr, uintptr(unsafe.Pointer(&p[0])), 0, 0, 0)
}

// mounts mounts something and unmounts it.
func mounts(source, target, kind string, flags uintptr) error {
	err := unix.Mount(source, target, kind, flags, "")
	if err == nil {
		unix.Unmount(target, unix.MNT_DETACH)
	}
	return err
}

// spaces are the kinds of namespaces.
var spaces = []struct {
	name string
	flag uintptr
}{{"user", unix.CLONE_NEWUSER}, {"mnt", unix.CLONE_NEWNS}, {"pid", unix.CLONE_NEWPID}, {"net", unix.CLONE_NEWNET},
	{"ipc", unix.CLONE_NEWIPC},
	{"uts", unix.CLONE_NEWUTS}, {"cgroup", unix.CLONE_NEWCGROUP}, {"time", unix.CLONE_NEWTIME}}

// onNamespaces tries to make and to enter each kind.
func onNamespaces(w *world.World) (all []attack) {
	add := func(name, what string, run func() result) {
		all = append(all, attack{world.Attack{Name: "namespaces/" + name, What: what}, func(*world.World) result {
			runtime.LockOSThread()
			return run()
		}})
	}
	for _, s := range spaces {
		add("unshare/"+s.name, "make a namespace: "+s.name,
			func() result { return by(spawn(&syscall.SysProcAttr{Unshareflags: s.flag})) })
		add("unshare-user/"+s.name, "make a user namespace and in it another: "+s.name, func() result {
			return by(spawn(&syscall.SysProcAttr{Unshareflags: s.flag | unix.CLONE_NEWUSER}))
		})
		if s.flag != unix.CLONE_NEWTIME { // whose bit is one of the signal's
			add("clone/"+s.name, "fork into a namespace: "+s.name,
				func() result { return by(spawn(&syscall.SysProcAttr{Cloneflags: s.flag})) })
		}
		add("clone3/"+s.name, "fork into a namespace by clone3: "+s.name, func() result {
			args := [11]uint64{0: uint64(s.flag), 4: uint64(unix.SIGCHLD)}
			pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), 88, 0)
			if errno == 0 && pid == 0 {
				unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
			return errnoResult(errno)
		})
		for _, of := range []string{"1", "self"} {
			add("enter/"+of+"/"+s.name, "enter the "+s.name+" namespace of process "+of, func() result {
				fd, err := unix.Open("/proc/"+of+"/ns/"+s.name, unix.O_RDONLY, 0)
				if err == nil {
					unix.Unshare(unix.CLONE_FS)
					err = unix.Setns(fd, int(s.flag))
				}
				return by(err)
			})
		}
	}
	for _, name := range []string{"user", "pid"} {
		add("parent/"+name, "reach the "+name+" namespace above its own", func() result {
			fd, err := unix.Open("/proc/self/ns/"+name, unix.O_RDONLY, 0)
			if err == nil {
				const parent = 0xb702 // NS_GET_PARENT
				_, err = unix.IoctlRetInt(fd, parent)
			}
			return by(err)
		})
	}
	return all
}

// spawn starts this program once more, to end at once.
func spawn(attr *syscall.SysProcAttr) error {
	pid, err := syscall.ForkExec(os.Args[0], []string{os.Args[0], "euid"}, &syscall.ProcAttr{Files: []uintptr{0, 2, 2},
		Sys: attr})
	if err == nil {
		syscall.Wait4(pid, nil, 0, nil)
	}
	return err
}
