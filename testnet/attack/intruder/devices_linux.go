package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// onDevices tries devices and terminals.
func onDevices() (all []attack) {
	add := func(name, what string, run func(*world.World) result) {
		all = append(all, attack{world.Attack{Name: "devices/" + name, What: what}, run})
	}
	for _, name := range []string{"mem", "kmem", "port", "kmsg", "sda", "vda", "nvme0n1", "xvda", "loop0", "loop-control",
		"mapper/control", "fuse", "kvm", "net/tun",
		"tty0", "tty1", "ttyS0", "console", "input/event0", "vhost-net", "vhost-vsock", "vsock", "uinput", "hwrng", "rtc0",
		"watchdog", "dri/card0", "snd/seq", "ptmx/../mem",
		"userfaultfd", "btrfs-control", "autofs", "cpu_dma_latency", "mcelog", "cuse", "ppp", "vfio/vfio", "uhid", "rfkill",
		"hpet", "nvram", "snapshot", "udmabuf"} {
		add("open/"+name, "open /dev/"+name, func(*world.World) result {
			if fd, err := unix.Open("/dev/"+name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0); err != nil {
				return lost("%v", err)
			} else {
				unix.Close(fd)
			}
			return won("it is open")
		})
	}
	for where, dir := range map[string]func(*world.World) string{"work": func(*world.World) string { return "." },
		"tmp": func(*world.World) string { return "/tmp" }, "shm": func(*world.World) string { return "/dev/shm" },
		"exposed": func(w *world.World) string { return w.Writable }} {
		for kind, mode := range map[string]uint32{"char": unix.S_IFCHR, "block": unix.S_IFBLK} {
			add("make/"+where+"/"+kind, "make a "+kind+" device in "+where, func(w *world.World) result {
				path := filepath.Join(dir(w), "device-"+w.Nonce+kind)
				defer os.Remove(path)
				return by(unix.Mknod(path, mode|0o600, int(unix.Mkdev(1, 5)))) // /dev/zero, or a memory disk
			})
		}
	}
	add("terminal/write", "write to a terminal of the node's user", func(w *world.World) result {
		if w.Terminal == "" {
			return untried("there is no terminal")
		}
		f, err := os.OpenFile(w.Terminal, os.O_WRONLY|syscall.O_NOCTTY, 0)
		if err != nil {
			return lost("%v", err)
		}
		defer f.Close()
		_, err = fmt.Fprint(f, w.Nonce)
		return by(err)
	})
	add("terminal/list", "see terminals of others", func(*world.World) result {
		found, _ := filepath.Glob("/dev/pts/[0-9]*")
		if len(found) > 0 {
			return won("%v", found)
		}
		return lost("there are none")
	})
	add("terminal/own-controlling", "open the terminal that the node was started from", func(*world.World) result {
		return opens("/dev/tty", os.O_RDWR)
	})
	for fd := range 3 {
		add(fmt.Sprintf("terminal/push/%d", fd), "push input to a terminal (TIOCSTI)", func(*world.World) result {
			return by(ioctlPush(fd))
		})
	}
	add("terminal/push/named", "push input to a terminal by its name (TIOCSTI)", func(w *world.World) result {
		if w.Terminal == "" {
			return untried("there is no terminal")
		}
		f, err := os.OpenFile(w.Terminal, os.O_RDWR|syscall.O_NOCTTY, 0)
		if err != nil {
			return lost("%v", err)
		}
		defer f.Close()
		err = ioctlPush(int(f.Fd()))
		if errors.Is(err, unix.EIO) || errors.Is(err, unix.EPERM) {
			return lost("%v", err) // the kernel has no TIOCSTI (dev.tty.legacy_tiocsti)
		}
		return by(err)
	})
	return all
}

func ioctlPush(fd int) error {
	b := []byte{' '}
	return ioctl(fd, unix.TIOCSTI, &b[0])
}
