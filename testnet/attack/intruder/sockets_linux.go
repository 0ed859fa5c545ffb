package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// onSockets tries to talk to others.
func onSockets(w *world.World) (all []attack) {
	add := func(a world.Attack, run func() result) {
		a.Name = "sockets/" + a.Name
		all = append(all, attack{a, func(*world.World) result { return run() }})
	}
	add(world.Attack{Name: "path", What: "talk to a Unix socket of the node's user"},
		func() result { return asks("unix", w.Socket) })
	for _, way := range ways[1:] {
		add(world.Attack{Name: "path/" + way.name, What: "talk to a Unix socket by " + way.name}, func() result {
			return asks("unix", way.prefix+w.Socket)
		})
	}
	add(world.Attack{Name: "path/link", What: "talk to a Unix socket by a link"}, func() result {
		if err := os.Symlink(w.Socket, "socket"); err != nil {
			return lost("%v", err)
		}
		return asks("unix", "socket")
	})
	add(world.Attack{Name: "abstract", What: "talk to a Unix socket without a path"},
		func() result { return asks("unix", "@"+w.Abstract) })
	for name, kind := range map[string]int{"datagram": unix.SOCK_DGRAM, "packets": unix.SOCK_SEQPACKET} {
		add(world.Attack{Name: "abstract/" + name, What: "reach an abstract Unix socket of another kind by " + name},
			func() result {
				fd, err := unix.Socket(unix.AF_UNIX, kind, 0)
				if err == nil {
					err = unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + w.Abstract})
				}
				if err == unix.EPROTOTYPE {
					return won("it is there, and of another kind")
				}
				return by(err)
			})
	}
	add(world.Attack{Name: "abstract/pair-send", What: "send to an abstract Unix socket from one that was made as a pair"},
		func() result {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			if err == nil {
				err = unix.Sendto(fds[0], []byte("x"), 0, &unix.SockaddrUnix{Name: "@" + w.Abstract})
			}
			if err == unix.EPROTOTYPE {
				return won("it is there, and of another kind")
			}
			return by(err)
		})
	for _, path := range w.Sockets {
		add(world.Attack{Name: "well-known" + path, What: "connect to " + path}, func() result {
			c, err := net.DialTimeout("unix", path, time.Second)
			if err == nil {
				c.Close()
			}
			return by(err)
		})
	}
	add(world.Attack{Name: "no-network/loopback", What: "reach the machine's loopback without a network", NoNetwork: true},
		func() result {
			return asks("tcp", w.Service)
		})
	for prefix, none := range map[string]bool{"": false, "no-network/": true} {
		add(world.Attack{Name: prefix + "exposed", What: "talk to a Unix socket in a folder that is exposed read-only",
			NoNetwork: none}, func() result {
			return asks("unix", filepath.Join(w.ReadOnly, "socket"))
		})
	}
	add(world.Attack{Name: "no-network/abstract", What: "reach an abstract Unix socket without a network",
		NoNetwork: true}, func() result {
		return asks("unix", "@"+w.Abstract)
	})
	add(world.Attack{Name: "no-network/interfaces", What: "have a network interface without a network", NoNetwork: true},
		func() result {
			links, err := net.Interfaces()
			if err != nil {
				return lost("%v", err)
			}
			for _, l := range links {
				if l.Flags&net.FlagLoopback == 0 && l.Flags&net.FlagUp != 0 {
					return won("%s", l.Name)
				}
			}
			return lost("there is none")
		})
	for name, s := range map[string][3]int{"vsock": {unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		"alg": {unix.AF_ALG, unix.SOCK_SEQPACKET, 0}, "raw": {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
		"packet": {unix.AF_PACKET, unix.SOCK_RAW, 0}, "audit": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT}} {
		add(world.Attack{Name: "family/" + name, What: "make a socket of family " + name}, func() result {
			fd, err := unix.Socket(s[0], s[1], s[2])
			if name == "audit" && err == nil { // that it can be made is nothing; that it can be read is
				err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1})
			}
			return by(err)
		})
	}
	add(world.Attack{Name: "family/vsock-wide", What: "make a socket to the hypervisor by a number that is too wide"},
		func() result {
			_, _, errno := unix.RawSyscall(unix.SYS_SOCKET, 1<<32|unix.AF_VSOCK, unix.SOCK_STREAM, 0)
			return errnoResult(errno)
		})
	add(world.Attack{Name: "routes", What: "change the machine's addresses"}, func() result {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err != nil {
			return lost("%v", err)
		}
		r, err := unix.NewIfreq("lo")
		if err == nil {
			err = unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, r)
		}
		if err == nil {
			err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r) // as they are
		}
		return by(err)
	})
	return all
}

// asks is a success if somebody takes the connection.
func asks(network, address string) result {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return lost("%v", err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(2 * time.Second))
	b, _ := io.ReadAll(io.LimitReader(c, 4096))
	if secret := world.FindSecret(b); secret != "" {
		return won("%s", secret)
	}
	return won("connected, and read %q", fmt.Sprintf("%.40s", b))
}
