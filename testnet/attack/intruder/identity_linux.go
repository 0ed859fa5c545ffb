package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// onIdentity tries to become somebody else.
func onIdentity(w *world.World) (all []attack) {
	add := func(name, what string, run func() result) {
		all = append(all, attack{world.Attack{Name: "identity/" + name, What: what}, func(*world.World) result {
			runtime.LockOSThread()
			return run()
		}})
	}
	call := func(nr, a, b, c uintptr) func() result {
		return func() result { return by(number(nr, a, b, c, 0)) }
	}
	add("root", "be root", func() result {
		if os.Getuid() == 0 || os.Geteuid() == 0 {
			return won("it is")
		}
		return lost("it is %d", os.Getuid())
	})
	other := uintptr(w.UID)
	if w.UID == os.Getuid() {
		other = 65533
	}
	for name, id := range map[string]uintptr{"root": 0, "other": other} {
		if int(id) == os.Getuid() && id == 0 {
			continue
		}
		add("setuid/"+name, "become user "+fmt.Sprint(id), call(unix.SYS_SETUID, id, 0, 0))
		add("setgid/"+name, "take group "+fmt.Sprint(id), call(unix.SYS_SETGID, id, 0, 0))
		add("setresuid/"+name, "become user "+fmt.Sprint(id)+" by setresuid", call(unix.SYS_SETRESUID, id, id, id))
		add("setreuid/"+name, "become user "+fmt.Sprint(id)+" by setreuid", call(unix.SYS_SETREUID, id, id, 0))
	}
	add("groups", "take further groups", func() result {
		groups := []uint32{1}
		return by(unix.Setgroups([]int{int(groups[0])}))
	})
	add("groups/drop", "drop its groups", func() result { return by(unix.Setgroups(nil)) })
	add("groups/has", "be in a group of the node's", func() result {
		groups, err := os.Getgroups()
		for _, g := range groups {
			if g != os.Getgid() && g != 65534 {
				return won("%v", groups)
			}
		}
		return lost("it has %v, %v", groups, err)
	})
	add("capabilities", "have capabilities", func() result {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return untried("%v", err)
		}
		for line := range strings.Lines(string(b)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
			if (name == "CapEff" || name == "CapPrm" || name == "CapAmb") && strings.Trim(value, "0") != "" {
				return won("%s %s", name, value)
			}
		}
		return lost("there are none")
	})
	add("capset", "raise capabilities", func() result {
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		data := [2]unix.CapUserData{{Effective: 1 << unix.CAP_SYS_ADMIN, Permitted: 1 << unix.CAP_SYS_ADMIN}}
		return by(unix.Capset(&head, &data[0]))
	})
	add("no-new-privs", "drop what keeps set-user-ID programs from working", func() result {
		if now, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); now == 0 && err == nil {
			return won("it was not set")
		}
		return by(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0))
	})
	add("seccomp", "have no filter of system calls", func() result {
		if mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); mode == 0 && err == nil {
			return won("there is none")
		}
		return lost("it has one")
	})
	add("securebits", "keep capabilities over a change of user",
		func() result { return by(unix.Prctl(unix.PR_SET_SECUREBITS, 1, 0, 0, 0)) })
	add("setuid-program/planted", "gain by a set-user-ID program in an exposed folder", func() result {
		return gains(filepath.Join(w.ReadOnly, "setuid"), "euid")
	})
	for _, path := range []string{"/usr/bin/su", "/usr/bin/sudo", "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/newgrp",
		"/usr/bin/chsh", "/usr/bin/newuidmap",
		"/usr/bin/pkexec", "/usr/bin/crontab", "/usr/bin/at", "/bin/ping", "/usr/bin/fusermount3"} {
		add("setuid-program"+path, "gain by "+path, func() result { return effective(path) })
	}
	add("file-capability", "give a program of its own capabilities", func() result {
		if err := os.WriteFile("capable", []byte("x"), 0o700); err != nil {
			return untried("%v", err)
		}
		data := []byte{1, 0, 0, 2, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0} // version 2, effective, CAP_SYS_ADMIN
		return by(unix.Setxattr("capable", "security.capability", data, 0))
	})
	add("chown", "give a file away", func() result {
		if err := os.WriteFile("given", nil, 0o600); err != nil {
			return untried("%v", err)
		}
		return by(os.Chown("given", int(other), int(other)))
	})
	for _, m := range []string{"uid_map", "gid_map", "projid_map"} {
		add("map/"+m, "map users of its own ("+m+")", func() result {
			return by(os.WriteFile("/proc/self/"+m, []byte("0 0 1"), 0))
		})
	}
	return all
}

// gains runs a program that prints its effective IDs.
func gains(path string, args ...string) result {
	out, err := exec.Command(path, args...).Output()
	if err != nil {
		return lost("%v", err)
	}
	var uid, gid int
	if n, _ := fmt.Sscan(string(bytes.TrimSpace(out)), &uid, &gid); n != 2 {
		return untried("it said %.80q", out)
	}
	if uid != os.Getuid() || gid != os.Getgid() {
		return won("user %d, group %d", uid, gid)
	}
	return lost("it runs as %d and %d", uid, gid)
}

// effective starts a program, stopped before its first instruction matters, and looks as whom it runs.
func effective(path string) result {
	info, err := os.Stat(path)
	if err != nil {
		return lost("%v", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&(os.ModeSetuid|os.ModeSetgid) == 0 {
		return untried("it is not set-user-ID")
	}
	r, wr, err := os.Pipe()
	if err != nil {
		return untried("%v", err)
	}
	defer r.Close()
	defer wr.Close()
	cmd := exec.Command(path)
	cmd.Stdin = r // nothing comes
	if err := cmd.Start(); err != nil {
		return lost("%v", err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		return untried("%v", err)
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) > 2 && f[0] == "Uid:" && f[2] != fmt.Sprint(os.Getuid()) {
			return won("it runs as user %s", f[2])
		}
		if len(f) > 2 && f[0] == "Gid:" && f[2] != fmt.Sprint(os.Getgid()) {
			return won("it runs as group %s", f[2])
		}
	}
	return lost("it runs as its own user, not as %d", st.Uid)
}

// onPriority tries to be served before others, or to escape its limits.
func onPriority() (all []attack) {
	add := func(name, what string, run func() error) {
		all = append(all, attack{world.Attack{Name: "priority/" + name, What: what},
			func(*world.World) result { return by(run()) }})
	}
	for name, what := range map[string]int{"processes": unix.RLIMIT_NPROC, "file-size": unix.RLIMIT_FSIZE,
		"core": unix.RLIMIT_CORE} {
		add("limit/"+name, "raise its limit: "+name, func() error {
			var l unix.Rlimit
			if err := unix.Prlimit(0, what, nil, &l); err != nil {
				return err
			}
			l.Max = unix.RLIM_INFINITY
			return unix.Prlimit(0, what, &l, nil)
		})
	}
	add("oom", "have the kernel end others first",
		func() error { return os.WriteFile("/proc/self/oom_score_adj", []byte("-500"), 0) })
	add("oom/least", "lower its oom_score_adj below the node's", func() error {
		return os.WriteFile("/proc/self/oom_score_adj", []byte("0"), 0)
	})
	add("nice", "run before others", func() error { return unix.Setpriority(unix.PRIO_PROCESS, 0, -5) })
	add("realtime", "run in real time",
		func() error { return unix.SchedSetAttr(0, &unix.SchedAttr{Size: 56, Policy: 1, Priority: 50}, 0) })
	add("deadline", "run with a deadline", func() error {
		return unix.SchedSetAttr(0, &unix.SchedAttr{Size: 56, Policy: 6, Runtime: 1e7, Deadline: 1e8, Period: 1e8}, 0)
	})
	add("io-realtime", "read and write before others", func() error { return number(unix.SYS_IOPRIO_SET, 1, 0, 1<<13, 0) })
	return all
}
