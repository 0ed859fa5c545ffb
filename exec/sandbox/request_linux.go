//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
)

// request is built in one piece: the fixed part, then the texts that it names.
type request struct {
	head  zygote.Request
	texts []byte
}

const headSize = int(unsafe.Sizeof(zygote.Request{}))

func newRequest(op zygote.Op) *request {
	q := &request{texts: make([]byte, 1, 2048)} // the first text is the empty one
	q.head.Op = op
	return q
}

// text adds one, and returns where it is.
func (q *request) text(s string) zygote.Text {
	if s == "" {
		return zygote.Text(headSize)
	}
	at := headSize + len(q.texts)
	q.texts = append(append(q.texts, s...), 0)
	return zygote.Text(at)
}

// words adds several, one behind the other.
func (q *request) words(words []string) (first zygote.Text, n uint32) {
	first = zygote.Text(headSize + len(q.texts))
	for _, w := range words {
		q.texts = append(append(q.texts, w...), 0)
	}
	return first, uint32(len(words))
}

// command adds what to run.
func (q *request) command(c *Command) {
	h := &q.head.Command
	h.Path, h.Dir = q.text(c.Path), q.text(c.Dir)
	h.Argv, h.Argc = q.words(c.Argv)
	h.Env, h.Envc = q.words(c.Env)
	h.UID, h.GID, h.Nice = c.UID, c.GID, int32(c.Nice)
	if c.Terminal != nil {
		h.Window = [4]uint16{c.Terminal.Rows, c.Terminal.Cols}
		q.head.Flags |= zygote.FlagTerminal
	}
	if h.OOM == 0 {
		h.OOM = q.text("")
	}
	for _, cpu := range c.CPUs {
		h.Affinity[cpu/64] |= 1 << (cpu % 64)
		h.AffinityLength = uint32(unsafe.Sizeof(h.Affinity))
	}
	for i, l := range c.Limits {
		h.Limits[i] = zygote.Limit{What: uint32(l.What) + 1, Cur: l.Cur, Max: l.Max}
	}
}

// secrets adds what files a box gets, and returns one without a name that has all their contents; nil = it gets none.
func (q *request) secrets(all []Secret) (*os.File, error) {
	if len(all) == 0 {
		return nil, nil
	}
	if len(all) > zygote.MaxSecrets {
		return nil, fmt.Errorf("%d secrets: want at most %d", len(all), zygote.MaxSecrets)
	}
	fd, err := unix.MemfdCreate("secrets", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("keep secrets in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "secrets")
	var paths []string
	for i, s := range all {
		if s.Name == "" || strings.ContainsAny(s.Name, "/\x00") || s.Name[0] == '.' {
			f.Close()
			return nil, fmt.Errorf("secret %.80q: want the name of a file", s.Name)
		}
		paths = append(paths, zygote.Secrets+"/"+s.Name)
		q.head.SecretSizes[i] = uint32(len(s.Value))
		if _, err := f.Write(s.Value); err != nil {
			f.Close()
			return nil, fmt.Errorf("keep secrets in memory: %w", err)
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, fmt.Errorf("keep secrets in memory: %w", err)
	}
	q.head.SecretPaths, q.head.SecretCount = q.words(paths)
	q.head.Flags |= zygote.FlagSecrets
	return f, nil
}

// errLong is why a command with too many or too long words is refused.
var errLong = fmt.Errorf("the command and its variables have more than %d bytes or %d words",
	zygote.MaxRequest-headSize, zygote.MaxStrings)

// bytes is the request as it is sent.
func (q *request) bytes(id uint64) ([]byte, error) {
	q.head.ID, q.head.Length = id, uint32(headSize+len(q.texts))
	if int(q.head.Length) > zygote.MaxRequest || q.head.Command.Argc+q.head.Command.Envc > zygote.MaxStrings {
		return nil, errLong
	}
	head := unsafe.Slice((*byte)(unsafe.Pointer(&q.head)), headSize)
	return append(append(make([]byte, 0, q.head.Length), head...), q.texts...), nil
}

// check reports what would end a text too early.
func (c *Command) check() error {
	for _, words := range [...][]string{{c.Path, c.Dir}, c.Argv, c.Env} {
		for _, w := range words {
			if strings.IndexByte(w, 0) >= 0 {
				return errors.New("a word of the command has a zero byte")
			}
		}
	}
	for _, cpu := range c.CPUs {
		if cpu < 0 || cpu >= zygote.MaxCPUs {
			return fmt.Errorf("processor %d: want 0 to %d", cpu, zygote.MaxCPUs-1)
		}
	}
	return nil
}

// shmOptions bound the shared memory of a box.
func shmOptions(memory int64) string {
	if memory <= 0 {
		return "mode=1777,size=50%,nr_inodes=65536"
	}
	return fmt.Sprintf("mode=1777,size=%d,nr_inodes=65536", memory)
}

// address writes a socket address as the kernel wants it, and returns its family and length.
func address(to *[28]byte, at netip.AddrPort) (family, length uint32) {
	port := [2]byte{byte(at.Port() >> 8), byte(at.Port())}
	if at.Addr().Is4() {
		a := (*unix.RawSockaddrInet4)(unsafe.Pointer(to))
		a.Family, a.Addr = unix.AF_INET, at.Addr().As4()
		copy(to[2:], port[:])
		return unix.AF_INET, unix.SizeofSockaddrInet4
	}
	a := (*unix.RawSockaddrInet6)(unsafe.Pointer(to))
	a.Family, a.Addr = unix.AF_INET6, at.Addr().As16()
	copy(to[2:], port[:])
	return unix.AF_INET6, unix.SizeofSockaddrInet6
}
