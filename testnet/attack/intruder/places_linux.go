package main

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// onPlaces tries to make files where tasks must not.
func onPlaces(w *world.World) (all []attack) {
	name := "skep-attack-" + w.Nonce
	for _, dir := range w.Places {
		path := filepath.Join(dir, name)
		for _, m := range []struct {
			name, what string
			do         func() error
		}{
			{"file", "make a file in ", func() error { return os.WriteFile(path, nil, 0o600) }},
			{"folder", "make a folder in ", func() error { return os.Mkdir(path, 0o700) }},
			{"link", "make a link in ", func() error { return os.Symlink("/", path) }},
			{"fifo", "make a pipe in ", func() error { return unix.Mkfifo(path, 0o600) }},
			{"tmpfile", "make a file without a name in ", func() error { return opened(dir, os.O_WRONLY|unix.O_TMPFILE) }},
		} {
			all = append(all, attack{world.Attack{Name: "places/" + m.name + dir, What: m.what + dir},
				func(*world.World) result {
					err := m.do()
					os.Remove(path)
					return by(err)
				}})
		}
	}
	for _, path := range []string{"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname",
		"/proc/sys/kernel/modprobe",
		"/proc/sys/kernel/randomize_va_space", "/proc/sys/vm/drop_caches", "/proc/sys/fs/binfmt_misc/register",
		"/proc/sys/net/ipv4/ip_forward",
		"/proc/sys/user/max_user_namespaces", "/proc/irq/default_smp_affinity", "/sys/kernel/uevent_helper",
		"/sys/power/state",
		"/sys/kernel/mm/transparent_hugepage/enabled", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/cgroup.procs",
		"/sys/fs/cgroup/release_agent",
		"/sys/fs/cgroup/memory/release_agent", "/sys/devices/system/cpu/online", "/sys/devices/system/cpu/cpu1/online",
		"/proc/1/oom_score_adj", "/proc/1/comm", "/etc/passwd", "/etc/ld.so.preload", "/etc/resolv.conf", "/dev/shm/../mem"} {
		all = append(all, attack{world.Attack{Name: "places/open" + path, What: "open " + path + " for writing"},
			func(*world.World) result { return opens(path, os.O_WRONLY) }})
	}
	for _, path := range []string{"/etc/shadow", "/etc/gshadow", "/etc/machine-id", "/etc/sudoers", "/etc/ssl/private",
		"/root", "/home", "/boot", "/mnt", "/media",
		"/srv", "/var/lib", "/var/log", "/run/user", "/run/systemd", "/proc/kcore", "/proc/kmsg", "/proc/1/environ",
		"/proc/1/maps", "/proc/1/auxv",
		"/proc/1/fd/3", "/proc/1/fd/4", "/proc/1/map_files", "/proc/1/task/1/mem", "/sys/kernel/debug",
		"/sys/kernel/security", "/sys/fs/cgroup",
		"/sys/class/net", "/sys/firmware", "/sys/class/dmi/id/product_uuid", "/etc/ssh/ssh_host_ed25519_key",
		"/etc/ssh/ssh_host_rsa_key", "/run/skep"} {
		all = append(all, attack{world.Attack{Name: "places/read" + path, What: "read " + path},
			func(*world.World) result { return reads(path) }})
	}
	return all
}
