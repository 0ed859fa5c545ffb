//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probeName is the zeroth argument by which the binary knows that it is a probe.
const probeName = "skep-probe"

// attempt is what a probe is told about what it should not reach.
type attempt struct {
	Node     int      // process ID of the node
	PIDs     string   // its PID namespace
	Hidden   []known  // its data folder
	Foreign  []string // other places that are not a task's
	Sockets  []string // of the machine, last one of the node's
	Abstract string   // likewise, without a path
	Key      int      // of a shared memory segment to make
	File     string   // name of a file to leave behind
	Procs    uint64   // bound of processes
	Alone    bool     // there is to be no network
}

// init makes a process that was started as a probe one. The attacks are told on stdout, a line each that did what it
// should not.
func init() {
	if len(os.Args) == 2 && os.Args[0] == probeName {
		var a attempt
		if err := json.Unmarshal([]byte(os.Args[1]), &a); err != nil {
			syscall.Exit(1)
		}
		fmt.Println("begun")
		io.Copy(io.Discard, os.Stdin) // until it was looked at
		for _, p := range [...]struct {
			property Property
			try      func() tries
		}{{Processes, a.processes}, {Files, a.files}, {Leftovers, a.leave}, {Users, a.users}, {Bounds, a.bounds},
			{Kernel, a.network}} {
			for _, what := range p.try() {
				fmt.Printf("%d %s\n", p.property, what)
			}
		}
		fmt.Println("done")
		syscall.Exit(0) // the race detector would wait for a second
	}
}

// tries collects what worked.
type tries []string

func (t *tries) worked(yes bool, format string, args ...any) {
	if yes {
		*t = append(*t, fmt.Sprintf(format, args...))
	}
}

func (a *attempt) processes() (t tries) {
	pids, _ := os.Readlink("/proc/self/ns/pid")
	t.worked(pids == "" || pids == a.PIDs, "it is in the PID namespace of the node")
	entries, err := os.ReadDir("/proc")
	t.worked(err != nil, "/proc cannot be read, so who is seen is not known")
	seen := 0
	for _, d := range entries {
		if _, err := strconv.Atoi(d.Name()); err == nil {
			seen++
		}
	}
	t.worked(seen > 4, "it sees %d processes in /proc", seen)
	if _, err := os.Stat("/proc/" + strconv.Itoa(a.Node)); err != nil { // else it is one of its own by the same number
		err := unix.Kill(a.Node, 0)
		t.worked(err != unix.ESRCH, "it can signal process %d, the node: %v", a.Node, err)
	}
	for _, pid := range []int{1, a.Node} {
		err := syscall.PtraceAttach(pid)
		t.worked(err == nil, "it can trace process %d", pid)
		var b [8]byte
		local := []unix.Iovec{{Base: &b[0], Len: 8}}
		_, err = unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&b)), Len: 8}}, 0)
		t.worked(err == nil, "it can read the memory of process %d", pid)
		_, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		t.worked(err == nil && pid == 1, "it can read the environment of process %d", pid)
	}
	return t
}

func (a *attempt) files() (t tries) {
	for _, h := range a.Hidden {
		t.worked(h.isHere(), "it sees %s", h.Path)
		t.worked(os.Chmod(h.Path, 0o700) == nil, "it can change the mode of %s", h.Path)
	}
	for _, path := range a.Foreign {
		_, err := os.Lstat(path)
		t.worked(err == nil, "it sees %s", path)
	}
	for _, dir := range []string{"/", "/usr", "/etc", "/opt", "/dev", "/proc", "/sys", "/run", "/task"} {
		name := filepath.Join(dir, a.File)
		err := os.WriteFile(name, nil, 0o600)
		t.worked(err == nil, "it can make files in %s", dir)
		os.Remove(name)
	}
	for _, dir := range []string{"/task", "/task/work", "/task/tmp"} { // the node goes there by these names
		t.worked(os.Rename(dir, dir+"-moved") == nil, "it can rename %s", dir)
	}
	t.worked(os.Chmod("/task", 0o755) == nil, "it can change the mode of /task")
	if ttys, _ := filepath.Glob("/dev/pts/[0-9]*"); len(ttys) > 0 {
		t.worked(true, "it sees the terminal %s", ttys[0])
	}
	for _, at := range append(a.Sockets, "@"+a.Abstract) {
		c, err := net.Dial("unix", at)
		t.worked(err == nil, "it can connect to the Unix socket %s", at)
		if err == nil {
			c.Close()
		}
	}
	for _, kind := range []int{unix.SOCK_DGRAM, unix.SOCK_RAW} { // of a pair, that need not be connected to send
		if fds, err := unix.Socketpair(unix.AF_UNIX, kind, 0); err == nil {
			err := unix.Sendto(fds[0], []byte("x"), 0, &unix.SockaddrUnix{Name: "@" + a.Abstract})
			t.worked(err == nil || err == unix.EPROTOTYPE, "it can send to the Unix socket @%s from a pair", a.Abstract)
			unix.Close(fds[0])
			unix.Close(fds[1])
		}
	}
	for _, family := range []int{unix.AF_VSOCK, unix.AF_ALG, unix.AF_PACKET} {
		fd, err := unix.Socket(family, unix.SOCK_SEQPACKET, 0)
		t.worked(err != unix.EAFNOSUPPORT, "it can ask for sockets of family %d: %v", family, err)
		unix.Close(fd)
	}
	t.worked(unix.Mount("/", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") == nil, "it can mount")
	return t
}

// leave leaves a process, files and shared memory behind. The node looks for them when the box is empty.
func (a *attempt) leave() (t tries) {
	os.StartProcess("/bin/sh", []string{"sh", "-c", "trap '' TERM HUP; while :; do sleep 100; done"},
		&os.ProcAttr{Files: []*os.File{nil, os.Stdout, nil}, Sys: &syscall.SysProcAttr{Setsid: true}})
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		err := os.WriteFile(filepath.Join(dir, a.File), []byte("x"), 0o666)
		t.worked(err != nil, "it cannot make files in %s, which is to be its own: %v", dir, err)
	}
	unix.SysvShmGet(a.Key, 4096, unix.IPC_CREAT|0o666)
	return t
}

func (a *attempt) users() (t tries) {
	if os.Getuid() == 0 {
		t.worked(true, "it is root")
	} else {
		t.worked(unix.Setuid(0) == nil, "it can become root")
		t.worked(unix.Setgid(0) == nil, "it can take the group of root")
	}
	t.worked(unix.Unshare(unix.CLONE_NEWUSER) == nil, "it can make a user namespace")
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		switch name {
		case "NoNewPrivs":
			t.worked(value != "1", "set-user-ID programs give it the rights of others")
		case "CapPrm", "CapEff", "CapAmb":
			t.worked(strings.Trim(value, "0") != "", "it has capabilities: %s %s", name, value)
		case "Seccomp":
			t.worked(value != "2", "no filter of system calls holds for it")
		}
	}
	return t
}

func (a *attempt) bounds() (t tries) {
	var l unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NPROC, &l)
	t.worked(err != nil || l.Max > a.Procs, "it can have %d processes", l.Max)
	adj, _ := os.ReadFile("/proc/self/oom_score_adj")
	t.worked(strings.TrimSpace(string(adj)) != "1000", "the kernel may kill the node in place of it when memory is short")
	return t
}

func (a *attempt) network() (t tries) {
	if !a.Alone {
		return nil
	}
	links, err := net.Interfaces()
	t.worked(err != nil, "its network cannot be looked at: %v", err)
	for _, l := range links {
		t.worked(l.Flags&net.FlagLoopback == 0 && l.Flags&net.FlagUp != 0, "it has the network interface %s", l.Name)
	}
	return t
}
