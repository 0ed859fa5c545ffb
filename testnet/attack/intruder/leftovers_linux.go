package main

import (
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// onLeftovers leaves things behind, for the harness to look for, and looks for what others left.
func onLeftovers(w *world.World) (all []attack) {
	add := func(name, what string, run func(mark string) result) {
		all = append(all, attack{world.Attack{Name: "leftovers/" + name, What: what}, func(*world.World) result {
			return run("skep-left-" + w.Nonce + "-" + strings.ReplaceAll(name, "/", "-"))
		}})
	}
	lingers := func(attr *syscall.SysProcAttr, command func(mark string) *exec.Cmd) func(string) result {
		return func(mark string) result {
			cmd := command(mark)
			cmd.SysProcAttr = attr
			return left(cmd.Start(), world.Check{Kind: world.Running, What: mark})
		}
	}
	self := func(mark string) *exec.Cmd { return exec.Command(os.Args[0], "linger", mark) }
	add("process/child", "leave a process", lingers(nil, self))
	add("process/group", "leave a process in a group of its own", lingers(&syscall.SysProcAttr{Setpgid: true}, self))
	add("process/session", "leave a process in a session of its own", lingers(&syscall.SysProcAttr{Setsid: true}, self))
	add("process/clean", "leave a process with an empty environment", lingers(&syscall.SysProcAttr{Setsid: true},
		func(mark string) *exec.Cmd {
			cmd := self(mark)
			cmd.Env = []string{}
			return cmd
		}))
	add("process/twice", "leave a process by forking twice", lingers(&syscall.SysProcAttr{Setsid: true},
		func(mark string) *exec.Cmd {
			return exec.Command("/bin/sh", "-c", `"$0" linger "$1" & exit`, os.Args[0], mark)
		}))
	add("process/stopped", "leave a stopped process", func(mark string) result {
		cmd := self(mark)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err := cmd.Start()
		if err == nil {
			err = cmd.Process.Signal(syscall.SIGSTOP)
		}
		return left(err, world.Check{Kind: world.Running, What: mark})
	})
	for name, dir := range map[string]string{"tmp": "/tmp", "var-tmp": "/var/tmp", "shm": "/dev/shm", "run": "/run",
		"lock": "/run/lock", "mqueue": "/dev/mqueue"} {
		add("file/"+name, "leave a file in "+dir, func(mark string) result {
			path := filepath.Join(dir, mark)
			return left(os.WriteFile(path, []byte("x"), 0o666), world.Check{Kind: world.File, What: path})
		})
		add("setuid/"+name, "leave a set-user-ID program in "+dir, func(mark string) result {
			path := filepath.Join(dir, mark)
			err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)
			if err == nil {
				err = os.Chmod(path, 0o755|os.ModeSetuid)
			}
			return left(err, world.Check{Kind: world.File, What: path})
		})
	}
	add("ipc/shm", "leave shared memory (System V)", func(mark string) result {
		key := keyOf(mark)
		_, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o666)
		return left(err, world.Check{Kind: world.Shared, What: fmt.Sprint(key)})
	})
	add("ipc/sem", "leave semaphores", func(mark string) result {
		key := keyOf(mark)
		return left(number(unix.SYS_SEMGET, uintptr(key), 1, unix.IPC_CREAT|0o666, 0),
			world.Check{Kind: world.Sets, What: fmt.Sprint(key)})
	})
	add("ipc/msg", "leave a queue of messages (System V)", func(mark string) result {
		key := keyOf(mark)
		return left(number(unix.SYS_MSGGET, uintptr(key), unix.IPC_CREAT|0o666, 0, 0),
			world.Check{Kind: world.Queue, What: fmt.Sprint(key)})
	})
	add("ipc/mqueue", "leave a queue of messages (POSIX)", func(mark string) result {
		name := append([]byte(mark), 0)
		err := number(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&name[0])), unix.O_CREAT|unix.O_RDWR, 0o666, 0)
		return left(err, world.Check{Kind: world.POSIX, What: mark})
	})
	add("socket", "leave a process that listens at an abstract socket", func(mark string) result {
		l, err := net.Listen("unix", "@"+mark)
		if err == nil {
			f, _ := l.(*net.UnixListener).File()
			cmd := self(mark)
			cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{f}, &syscall.SysProcAttr{Setsid: true}
			err = cmd.Start()
		}
		return left(err, world.Check{Kind: world.Socket, What: mark}, world.Check{Kind: world.Running, What: mark})
	})
	add("mount", "leave a mount", func(mark string) result { return left(mounts("skep", ".", "tmpfs", 0)) })
	add("cgroup", "leave a control group", func(mark string) result {
		path := "/sys/fs/cgroup/" + mark
		return left(os.Mkdir(path, 0o755), world.Check{Kind: world.File, What: path})
	})
	for i, name := range []string{"shm", "sem", "msg"} {
		key := w.Keys[i]
		add("others/"+name, "reach what others keep in System V "+name, func(string) result {
			calls := [...]func() error{func() error { _, err := unix.SysvShmGet(key, 0, 0); return err },
				func() error { return number(unix.SYS_SEMGET, uintptr(key), 0, 0, 0) },
				func() error { return number(unix.SYS_MSGGET, uintptr(key), 0, 0, 0) }}
			return by(calls[i]())
		})
	}
	for _, list := range []string{"shm", "sem", "msg"} {
		add("others/list-"+list, "list what others keep in System V "+list, func(string) result {
			b, err := os.ReadFile("/proc/sysvipc/" + list)
			if err != nil {
				return lost("%v", err)
			}
			for _, key := range w.Keys {
				if key != 0 && strings.Contains(string(b), fmt.Sprint(key)) {
					return won("its key is there")
				}
			}
			return lost("those that were planted are not in it")
		})
	}
	add("others/shm-read", "read shared memory of others", func(string) result {
		id, err := unix.SysvShmGet(w.Keys[0], 0, 0)
		if err != nil {
			return lost("%v", err)
		}
		b, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
		if err != nil {
			return lost("%v", err)
		}
		return won("%s", world.FindSecret(b[:min(len(b), 4096)]))
	})
	add("others/mqueue", "read a queue of messages of others (POSIX)", func(string) result {
		name := append([]byte("skep-attack-"+w.Nonce), 0)
		return by(number(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&name[0])), unix.O_RDONLY|unix.O_NONBLOCK, 0, 0))
	})
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "/run"} {
		add("others/files"+dir, "read files that others left in "+dir,
			func(string) result { return reads(dir + "/skep-attack-" + w.Nonce) })
	}
	return all
}

// keyOf is a System V key for a name.
func keyOf(mark string) int {
	h := fnv.New32a()
	h.Write([]byte(mark))
	return int(h.Sum32()&0x7fffffff | 1)
}
