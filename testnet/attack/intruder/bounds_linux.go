package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// holdTime is for how long an attack holds more than it may: more than once between two looks of the node.
const holdTime = 4 * time.Second

// holdFiles is likewise for files. The node spends at most a tenth of its time on measuring them, so where there are
// many, or the machine is busy, it looks less often.
func holdFiles(w *world.World) time.Duration {
	if !inBox(w) {
		return holdTime
	}
	return 5 * holdTime
}

// onBounds tries to use more than it may, and to go on. Each is an attempt of its own, as it is ended if it fails.
func onBounds(w *world.World) (all []attack) {
	add := func(name, what string, run func() result) {
		all = append(all, attack{world.Attack{Name: "bounds/" + name, What: what, Alone: true},
			func(*world.World) result { return run() }})
	}
	size := int(3 * w.Bounds.Memory)
	for name, fill := range memoryFills {
		add("memory/"+name, "hold three times the memory that it may: "+name,
			func() result { return holds(fill(size), size, holdTime) })
		// no process has it
		all[len(all)-1].Strict = slices.Contains([]string{"pipes", "sockets", "memfd-unseen", "memfd-page"}, name)
	}
	for name, attr := range map[string]*syscall.SysProcAttr{"child": {}, "session": {Setsid: true},
		"group": {Setpgid: true}} {
		add("memory/"+name, "hold memory in another process: "+name, func() result {
			return inChild(attr, "bounds/memory/private")
		})
	}
	add("memory/many", "hold memory in many small processes", func() result {
		var some []*exec.Cmd
		for range 12 {
			cmd := exec.Command("/proc/self/exe", "linger", "many")
			cmd.Env = append(os.Environ(), fmt.Sprint("ATTACK_FILL=", size/12))
			if err := cmd.Start(); err != nil {
				return lost("%v", err)
			}
			some = append(some, cmd)
		}
		time.Sleep(holdTime)
		for _, cmd := range some {
			if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
				return lost("%v", err)
			}
			cmd.Process.Kill()
		}
		return won("%d bytes for %v", size, holdTime)
	})
	add("processes/forks", "have more processes than it may", func() result { return multiplies(w, nil) })
	add("processes/sessions", "have more processes than it may, in sessions of their own", func() result {
		return multiplies(w, &syscall.SysProcAttr{Setsid: true})
	})
	add("processes/threads", "have more threads than it may", func() result { return threads(w) })
	add("files/many", "have more files than it may", func() result { return manyFiles(w, "f") })
	add("files/folders", "have more folders than it may", func() result { return manyFiles(w, "d") })
	add("files/links", "have more links than it may", func() result { return manyFiles(w, "l") })
	add("disk/one", "have a file larger than it may", func() result {
		signal.Ignore(syscall.SIGXFSZ)
		return holds(fillPath("fill", int(2*w.Bounds.Disk)), int(2*w.Bounds.Disk), holdFiles(w))
	})
	add("disk/many", "have files that are together larger than they may be", func() result {
		for i := range 16 {
			if err := fillPath(fmt.Sprint("fill-", i), int(w.Bounds.Disk/8)); err != nil {
				return lost("%v", err)
			}
		}
		return holds(nil, int(2*w.Bounds.Disk), holdFiles(w))
	})
	add("disk/tmp", "fill the disk from /tmp", func() result {
		for i := range 16 {
			if err := fillPath(fmt.Sprint("/tmp/fill-", i), int(w.Bounds.Disk/8)); err != nil {
				return lost("%v", err)
			}
		}
		defer func() {
			for i := range 16 {
				os.Remove(fmt.Sprint("/tmp/fill-", i))
			}
		}()
		return holds(nil, int(2*w.Bounds.Disk), holdFiles(w))
	})
	add("disk/unlinked", "fill the disk with files without a name", func() result {
		for i := range 16 {
			f, err := os.Create(fmt.Sprint("fill-", i))
			if err == nil {
				os.Remove(f.Name())
				err = fillFile(f, int(w.Bounds.Disk/8))
			}
			if err != nil {
				return lost("%v", err)
			}
		}
		return holds(nil, int(2*w.Bounds.Disk), holdFiles(w))
	})
	add("disk/sparse", "make a file of a terabyte", func() result {
		signal.Ignore(syscall.SIGXFSZ)
		f, err := os.Create("sparse")
		if err != nil {
			return lost("%v", err)
		}
		return by(f.Truncate(1 << 40))
	})
	add("disk/fallocate", "reserve more disk than it may", func() result {
		signal.Ignore(syscall.SIGXFSZ)
		f, err := os.Create("reserved")
		if err != nil {
			return lost("%v", err)
		}
		return holds(unix.Fallocate(int(f.Fd()), 0, 0, 2*w.Bounds.Disk), int(2*w.Bounds.Disk), holdFiles(w))
	})
	add("core", "leave a core file", func() result {
		l := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		if err := unix.Setrlimit(unix.RLIMIT_CORE, &l); err != nil {
			return lost("%v", err)
		}
		return won("it may have core files")
	})
	add("output", "print more than is kept", func() result {
		line := []byte(strings.Repeat("x", 1023) + "\n")
		for range 32 * w.Bounds.Output >> 10 {
			if _, err := os.Stderr.Write(line); err != nil {
				return lost("%v", err)
			}
		}
		return lost("the harness looks at what was kept")
	})
	return all
}

func holds(err error, size int, d time.Duration) result {
	if err != nil {
		return lost("%v", err)
	}
	time.Sleep(d)
	return won("%d bytes for %v", size, d)
}

// inChild runs an attack in a process of its own, and leaves when that is under way.
func inChild(attr *syscall.SysProcAttr, name string) result {
	cmd := exec.Command("/proc/self/exe", "one", name)
	cmd.Args[0], cmd.SysProcAttr = os.Args[0], attr
	out, err := cmd.Output()
	if err != nil {
		return lost("%v", err)
	}
	if !strings.Contains(string(out), `"State":"succeeded"`) {
		return lost("%.200s", out)
	}
	return won("%.200s", out)
}
