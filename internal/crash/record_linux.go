//go:build amd64 || arm64

package crash

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Record runs a script of Main in a process of its own, with dir, an empty folder, and returns what it did to dir.
func Record(script, dir string) (*Journal, error) { return record(script, dir, math.MaxInt) }

// Kill is Record of a process that is killed at its n-th call, which is not carried out. It returns the lines that
// the process had written to its stdout by then; dir is as it left it.
func Kill(script, dir string, n int) (acked []string, err error) {
	j, err := record(script, dir, n)
	if err != nil {
		return nil, err
	}
	return j.acked(j.Len()), nil
}

func record(script, dir string, most int) (*Journal, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	mine, its := os.NewFile(uintptr(pair[0]), "recorder"), os.NewFile(uintptr(pair[1]), "recorded")
	defer mine.Close()
	var complaints bytes.Buffer
	cmd := exec.Command("/proc/self/exe")
	// a signal would repeat a call
	cmd.Env = append(os.Environ(), scriptVariable+"="+script, folderVariable+"="+dir, "GODEBUG=asyncpreemptoff=1")
	cmd.Stderr, cmd.ExtraFiles = &complaints, []*os.File{its}
	err = cmd.Start()
	its.Close()
	if err != nil {
		return nil, err
	}
	r := &recorder{j: &Journal{folders: []bool{true}}, dir: dir, pid: cmd.Process.Pid, most: most,
		live: &tree{folders: []bool{true}, names: map[int]map[string]int{}, files: map[int]*content{}}}
	err = r.listen(mine)
	cut := len(r.j.ops) > most
	if err != nil || cut {
		cmd.Process.Kill()
	}
	if cut {
		r.j.ops = r.j.ops[:most]
		cmd.Wait()
	} else if ended := cmd.Wait(); err == nil && ended != nil || errors.Is(err, ErrCannot) {
		return nil, fmt.Errorf("%w: %w: %s", errors.Join(err), ended, strings.TrimSpace(complaints.String()))
	}
	if err != nil {
		return nil, err
	}
	killed := manners(nil)[0]
	return r.j, r.j.at(r.j.Len(), killed).differs(dir)
}

// recorder records the calls of one process.
type recorder struct {
	j    *Journal
	dir  string
	pid  int
	most int   // calls that are carried out
	live *tree // as it is now
}

// notice and answer are seccomp_notif and seccomp_notif_resp.
type notice struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type answer struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// listen records calls until the process has ended.
func (r *recorder) listen(from *os.File) error {
	room := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(from.Fd()), make([]byte, 1), room, 0)
	if err != nil || n == 0 {
		return ErrCannot
	}
	messages, err := unix.ParseSocketControlMessage(room[:n])
	if err != nil {
		return err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	defer unix.Close(fds[0])
	for {
		wait := []unix.PollFd{{Fd: int32(fds[0]), Events: unix.POLLIN}}
		if _, err := unix.Poll(wait, -1); err == unix.EINTR {
			continue
		} else if err != nil {
			return err
		}
		if wait[0].Revents&unix.POLLIN == 0 {
			return nil // nobody is left who could call
		}
		var c notice
		if err := control(fds[0], unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&c)); err == unix.ENOENT ||
			err == unix.EINTR {
			continue
		} else if err != nil {
			return fmt.Errorf("hear of a call: %w", err)
		}
		if err := r.note(&c); err != nil || len(r.j.ops) > r.most {
			return err
		}
		a := answer{id: c.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if err := control(fds[0], unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)); err != nil && err != unix.ENOENT {
			return fmt.Errorf("let a call go on: %w", err)
		}
	}
}

func control(fd int, what uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), what, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// read copies memory of the process.
func (r *recorder) read(at uint64, n int) ([]byte, error) {
	b := make([]byte, n)
	for got := 0; got < n; {
		local := unix.Iovec{Base: &b[got]}
		local.SetLen(n - got)
		m, err := unix.ProcessVMReadv(r.pid, []unix.Iovec{local},
			[]unix.RemoteIovec{{Base: uintptr(at) + uintptr(got), Len: n - got}}, 0)
		if err != nil || m == 0 {
			return nil, fmt.Errorf("%w: read its memory: %w", ErrCannot, err)
		}
		got += m
	}
	return b, nil
}

// text copies a string of the process, whose end is a zero.
func (r *recorder) text(at uint64) (string, error) {
	var all []byte
	for {
		b, err := r.read(at, page-int(at%page)) // the next page may not be there
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(all, b[:i]...)), nil
		}
		all, at = append(all, b...), at+uint64(len(b))
	}
}
