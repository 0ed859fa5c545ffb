package attack

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"skep/node/api/client"

	"golang.org/x/sys/unix"
)

// plantObjects makes what is no file: System V objects, a queue of messages, a terminal. What the machine has not is
// left out.
func (s *scene) plantObjects() error {
	w := &s.world
	first, err := strconv.ParseUint(w.Nonce[:6], 16, 32)
	if err != nil {
		return err
	}
	for i := range w.Keys {
		w.Keys[i] = int(first)<<4 | i + 1
	}
	if id, err := unix.SysvShmGet(w.Keys[0], 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o666); err == nil {
		s.keys[0] = id
		if b, err := unix.SysvShmAttach(id, 0, 0); err == nil {
			copy(b, s.secret)
			unix.SysvShmDetach(b)
		}
	}
	id, _, _ := unix.Syscall(unix.SYS_SEMGET, uintptr(w.Keys[1]), 1, unix.IPC_CREAT|0o666)
	s.keys[1] = int(id)
	id, _, _ = unix.Syscall(unix.SYS_MSGGET, uintptr(w.Keys[2]), unix.IPC_CREAT|0o666, 0)
	s.keys[2] = int(id)
	openQueue("skep-attack-"+w.Nonce, unix.O_CREAT|unix.O_RDWR)
	if s.terminal, err = newTerminal(); err == nil {
		w.Terminal = s.terminal.name
	}
	return nil
}

// removeObjects removes them.
func (s *scene) removeObjects() {
	if s.keys[0] > 0 {
		unix.SysvShmCtl(s.keys[0], unix.IPC_RMID, nil)
	}
	if s.keys[1] > 0 {
		unix.Syscall(unix.SYS_SEMCTL, uintptr(s.keys[1]), 0, unix.IPC_RMID)
	}
	if s.keys[2] > 0 {
		unix.Syscall(unix.SYS_MSGCTL, uintptr(s.keys[2]), unix.IPC_RMID, 0)
	}
	unlinkQueue("skep-attack-" + s.world.Nonce)
}

// openQueue opens a POSIX queue of messages.
func openQueue(name string, flags int) error {
	b := append([]byte(name), 0)
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&b[0])), uintptr(flags), 0o666, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

func unlinkQueue(name string) {
	b := append([]byte(name), 0)
	unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(&b[0])), 0, 0)
}

// terminal is a pseudo terminal as that of a user who is logged in.
type terminal struct {
	name          string
	master, slave *os.File

	mu  sync.Mutex
	got bytes.Buffer
}

func newTerminal() (*terminal, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	unlock := 0
	err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, unlock)
	n, err2 := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err = errors.Join(err, err2); err != nil {
		master.Close()
		return nil, err
	}
	t := &terminal{name: fmt.Sprint("/dev/pts/", n), master: master}
	if t.slave, err = os.OpenFile(t.name, os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		master.Close()
		return nil, err
	}
	unix.SetNonblock(int(master.Fd()), true)
	return t, nil
}

// printed is what appeared on it.
func (t *terminal) printed() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for b, end := make([]byte, 4096), time.Now().Add(100*time.Millisecond); time.Now().Before(end); {
		n, err := unix.Read(int(t.master.Fd()), b)
		if n > 0 {
			t.got.Write(b[:n])
		}
		if err != nil || n == 0 {
			break
		}
	}
	return strings.TrimSpace(t.got.String())
}

func (t *terminal) close() {
	t.slave.Close()
	t.master.Close()
}

// plantSockets makes sockets that tell the secret to whoever connects.
func (s *scene) plantSockets() error {
	w := &s.world
	w.Abstract = "skep-attack-" + w.Nonce
	w.Socket = filepath.Join(s.base, "home", "socket")
	for _, at := range [][2]string{{"unix", w.Socket}, {"unix", "@" + w.Abstract}, {"tcp", "127.0.0.1:0"},
		{"unix", filepath.Join(w.ReadOnly, "socket")}} {
		l, err := net.Listen(at[0], at[1])
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, l)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.SetDeadline(time.Now().Add(5 * time.Second))
				c.Write([]byte(s.secret))
				c.Close()
			}
		}()
	}
	w.Service = s.listeners[2].Addr().String()
	os.Chmod(filepath.Join(w.ReadOnly, "socket"), 0o666)
	user := fmt.Sprint(os.Getuid())
	w.Sockets = []string{"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock",
		"/run/podman/podman.sock", "/run/dbus/system_bus_socket",
		"/run/systemd/private", "/run/systemd/notify", "/run/systemd/journal/dev-log", "/dev/log",
		"/run/user/" + user + "/bus", "/tmp/tmux-" + user + "/default",
		"/tmp/.X11-unix/X0", "/run/snapd.socket", "/run/acpid.socket", "/run/nscd/socket",
		"/var/run/postgresql/.s.PGSQL.5432", "/run/mysqld/mysqld.sock",
		"/nix/var/nix/daemon-socket/socket", "/var/guix/daemon-socket/socket",
		filepath.Join(w.Data, client.SocketName)}
	if agent := os.Getenv("SSH_AUTH_SOCK"); agent != "" {
		w.Sockets = append(w.Sockets, agent)
	}
	return nil
}
