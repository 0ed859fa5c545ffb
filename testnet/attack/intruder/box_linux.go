package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// onBox tries what keeps the box: the stub, what was inherited, and who removes its folder.
func onBox(w *world.World) (all []attack) {
	add := func(a world.Attack, run func() result) {
		a.Name = "box/" + a.Name
		all = append(all, attack{a, func(*world.World) result { return run() }})
	}
	add(world.Attack{Name: "descriptors", What: "use a descriptor that it inherited"}, func() result {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return lost("%v", err)
		}
		for _, d := range entries {
			to, err := os.Readlink("/proc/self/fd/" + d.Name())
			own := strings.HasPrefix(to, "anon_inode:") || strings.HasPrefix(to, "/proc/") || strings.HasPrefix(to, "pipe:")
			if err == nil && !own && d.Name() > "2" {
				return won("%s: %s", d.Name(), to)
			}
		}
		return lost("there are no others than its own %d", len(entries))
	})
	add(world.Attack{Name: "standard-streams", What: "reach files of the node by its standard streams"}, func() result {
		for fd := range 3 {
			if to, err := os.Readlink(fmt.Sprint("/proc/self/fd/", fd)); err == nil && strings.HasPrefix(to, w.Data) {
				return won("%d: %s", fd, to)
			}
		}
		return lost("they are pipes and /dev/null")
	})
	add(world.Attack{Name: "environment", What: "find secrets of the node in its environment"}, func() result {
		for _, v := range os.Environ() {
			if strings.HasPrefix(v, "SKEP_NODE_CANARY=") || strings.HasPrefix(v, "SSH_AUTH_SOCK=") {
				return won("%s", v)
			}
		}
		return lost("there are none")
	})
	add(world.Attack{Name: "see", What: "see processes that are not its own"}, func() result {
		found, _ := filepath.Glob("/proc/[0-9]*")
		if len(found) > 60 { // its own are those that it left behind before
			return won("%d processes", len(found))
		}
		return lost("%d processes are its own", len(found))
	})
	add(world.Attack{Name: "watch-inits", What: "see mounts of the machine"}, func() result {
		b, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			return lost("%v", err)
		}
		if strings.Contains(string(b), " "+w.Data) && !strings.Contains(string(b), " /task/work ") {
			return won("the node's data folder is in its mounts")
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 5 && f[4] == "/" && !strings.Contains(f[5], "ro") {
				return won("its root is writable: %s", f[5])
			}
		}
		return lost("they are those of its box")
	})
	for _, s := range []struct {
		name string
		sig  syscall.Signal
	}{{"kill", unix.SIGKILL}, {"term", unix.SIGTERM}, {"stop", unix.SIGSTOP}, {"segv", unix.SIGSEGV},
		{"hup", unix.SIGHUP}} {
		add(world.Attack{Name: "stub/" + s.name, What: "end process 1 of its box by signal " + s.name, Boxed: true},
			func() result {
				if !inBox(w) {
					return untried("there is no box")
				}
				err := unix.Kill(1, s.sig)
				time.Sleep(20 * time.Millisecond)
				if b, e := os.ReadFile("/proc/1/stat"); e == nil && strings.Contains(string(b), ") T ") {
					return won("it stands")
				}
				return lost("it goes on: %v", err)
			})
	}
	add(world.Attack{Name: "stub/limit", What: "take from process 1 of its box what it needs to answer the node",
		Boxed: true}, func() result {
		if !inBox(w) {
			return untried("there is no box")
		}
		l := unix.Rlimit{Cur: 64, Max: 64}
		return by(unix.Prlimit(1, unix.RLIMIT_NOFILE, &l, nil))
	})
	add(world.Attack{Name: "everybody", What: "signal all processes but itself", Alone: true, Boxed: true}, func() result {
		if !inBox(w) {
			return untried("there is no box")
		}
		unix.Kill(-1, unix.SIGKILL)
		time.Sleep(time.Second)
		return lost("others go on")
	})
	add(world.Attack{Name: "group", What: "signal its process group", Alone: true, Boxed: true}, func() result {
		if !inBox(w) {
			return untried("there is no box")
		}
		return lost("it ended itself: %v", unix.Kill(0, unix.SIGTERM))
	})
	add(world.Attack{Name: "remove/links", What: "have its folder's removal follow links", Alone: true}, func() result {
		for i, path := range append([]string{w.Data, filepath.Dir(w.Secrets[0])}, w.Secrets...) {
			dir := fmt.Sprintf("trap-%d", i)
			os.Symlink(path, dir)
			os.Mkdir(dir+"-in", 0o700)
			os.Symlink(path, dir+"-in/link")
			os.Chmod(dir+"-in", 0)
		}
		os.Chmod(".", 0)
		return lost("links to %d places stay behind", len(w.Secrets)+2)
	})
	add(world.Attack{Name: "remove/race", What: "exchange folders for links while they are removed", Alone: true},
		func() result {
			for i := range 200 {
				os.MkdirAll(fmt.Sprintf("race-%d/a/b", i), 0o700)
				os.Symlink(filepath.Dir(w.Secrets[0]), fmt.Sprintf("race-%d/c", i))
			}
			// A child that ignores SIGTERM goes on until the box is emptied.
			return left(startRacer(w.Nonce), world.Check{Kind: world.Running, What: "racer-" + w.Nonce})
		})
	add(world.Attack{Name: "remove/deep", What: "leave folders that are too deep to be removed", Alone: true},
		func() result {
			depth := 0
			for ; depth < 4000; depth++ {
				if os.Mkdir("d", 0o700) != nil || os.Chdir("d") != nil {
					break
				}
			}
			return lost("%d folders stay behind", depth)
		})
	add(world.Attack{Name: "remove/odd", What: "leave names and files that cannot be removed", Alone: true},
		func() result {
			for i := range 256 {
				if i != '/' && i != 0 {
					os.WriteFile("odd"+string([]byte{byte(i)}), nil, 0)
				}
			}
			os.Mkdir("closed", 0)
			unix.Mkfifo("pipe", 0)
			os.WriteFile("locked", nil, 0o400)
			setFlags("locked", 0x30) // immutable and append only
			os.WriteFile(strings.Repeat("n", 255), nil, 0)
			os.Chmod("/task", 0)
			return lost("%d files stay behind", 260)
		})
	add(world.Attack{Name: "remove/modes", What: "leave folders of all modes, and names under which others may be moved",
		Alone: true}, func() result {
		for mode := range os.FileMode(0o1000) {
			dir := fmt.Sprintf("mode-%04o", mode)
			os.MkdirAll(dir+"/below", 0o700)
			os.Chmod(dir, mode)
		}
		for i := range 64 {
			os.MkdirAll(fmt.Sprintf("/task/moved-up-%d/x", i), 0o700)
		}
		return lost("%d folders stay behind", 512)
	})
	add(world.Attack{Name: "outputs/folder", What: "put a link to a folder with a secret in place of its work folder",
		Alone: true,
		Boxed: true}, func() result {
		if err := os.Rename("/task/work", "/task/work-moved"); err != nil {
			return lost("%v", err)
		}
		return by(os.Symlink(filepath.Dir(w.Secrets[0]), "/task/work"))
	})
	add(world.Attack{Name: "outputs/folder-mode", What: "change the mode of the folder that its work folder is in",
		Alone: true,
		Boxed: true}, func() result {
		return by(os.Chmod("/task", 0o700))
	})
	add(world.Attack{Name: "outputs/link", What: "have a link to a secret brought back as an output", Alone: true},
		func() result {
			os.Remove("output.txt")
			return lost("planted: %v", os.Symlink(w.Secrets[0], "output.txt"))
		})
	return all
}

func startRacer(nonce string) error {
	const script = `trap '' TERM; i=0; while [ $i -lt 100000 ]; do mv race-1 x; ln -s / race-1; rm race-1; mv x race-1; i=$((i+1)); done`
	pid, err := syscall.ForkExec("/bin/sh", []string{"racer-" + nonce, "-c", script},
		&syscall.ProcAttr{Files: []uintptr{0, 2, 2}, Sys: &syscall.SysProcAttr{Setsid: true}})
	_ = pid
	return err
}

// setFlags sets attributes of a file, as chattr does.
func setFlags(path string, flags int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
}
