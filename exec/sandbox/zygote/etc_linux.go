//go:build amd64 || arm64

package zygote

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of the copy of /etc: what is larger is left out.
const (
	etcFile  = 4 << 20
	etcBytes = 48 << 20
	etcFiles = 20_000
)

// private are names, anywhere in /etc, that no task sees whoever may read them.
var private = []string{"shadow", "shadow-", "gshadow", "gshadow-", "sudoers", "machine-id"}

// etc copies /etc into the tree: what everybody may read, without keys and passwords. What only the node's user or its
// groups may read is not in it, for a task has that user's rights; what is exposed in it is there already.
type etc struct {
	from, to string
	shows    func(path string) bool // whether the tree has what is at a path of the machine
	exposed  func(path string) bool // whether it is shown by itself
	files    int                    // that may still come
	bytes    int64
	buffer   []byte // for the content of a file
}

func (s *Setup) copyEtc() error {
	c := etc{from: "/etc", to: "etc", shows: s.shows, exposed: s.exposes, files: etcFiles, bytes: etcBytes}
	if err := os.MkdirAll(c.to, 0o755); err != nil {
		return err
	}
	return errors.Join(c.folder("."), c.haveHosts())
}

// haveHosts makes an empty hosts file where the machine has none: boxes get their own in its place.
func (c *etc) haveHosts() error {
	f, err := os.OpenFile(filepath.Join(c.to, "hosts"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = f.Close()
	}
	return err
}

// shows reports whether the tree has what is at a path of the machine in the same place.
func (s *Setup) shows(path string) bool {
	return slices.ContainsFunc(s.Tree, func(m Mount) bool { return m.Source == m.Target && within(path, m.Target) }) ||
		slices.ContainsFunc(s.Links, func(l Link) bool { return within(path, l.Path) })
}

// exposes reports whether a path of the machine is one that the tree has a mount for.
func (s *Setup) exposes(path string) bool {
	return slices.ContainsFunc(s.Tree, func(m Mount) bool { return m.Target == path })
}

// within reports whether path is dir or beneath it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// folder copies what is in a folder.
func (c *etc) folder(name string) error {
	from := filepath.Join(c.from, name)
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil // not for everybody, or gone
	}
	for _, d := range entries {
		if c.files--; c.files < 0 {
			return nil
		}
		if hidden(d.Name()) || c.exposed(from+"/"+d.Name()) {
			continue
		}
		if err := c.entry(filepath.Join(name, d.Name()), d); err != nil {
			return fmt.Errorf("%s: %w", d.Name(), err)
		}
	}
	return nil
}

// keyNames are how names of files with keys end.
var keyNames = []string{".key", "_key", ".keytab", ".p12", ".pfx"}

func hidden(name string) bool {
	return slices.Contains(private, name) ||
		slices.ContainsFunc(keyNames, func(end string) bool { return strings.HasSuffix(name, end) })
}

// certNames are how names of files end that may have a key beside a certificate.
var certNames = []string{".pem", ".crt", ".cer", ".cert"}

// holdsKey reports whether a file that may have a key has one.
func holdsKey(name string, content []byte) bool {
	return slices.ContainsFunc(certNames, func(end string) bool { return strings.HasSuffix(name, end) }) &&
		bytes.Contains(content, []byte("PRIVATE KEY"))
}

// entry copies one entry, if everybody may read it.
func (c *etc) entry(name string, d fs.DirEntry) error {
	from, to := c.from+"/"+name, c.to+"/"+name
	if d.Type()&fs.ModeSymlink != 0 {
		if target, err := os.Readlink(from); err == nil && c.stays(name, target) {
			return unix.Symlink(target, to)
		}
		real, err := filepath.EvalSymlinks(from)
		if err != nil || hidden(filepath.Base(real)) || !public(real) {
			return nil
		}
		from = real
	}
	var info unix.Stat_t
	if err := unix.Stat(from, &info); err != nil {
		return nil
	}
	switch kind := info.Mode & unix.S_IFMT; {
	case kind == unix.S_IFDIR && d.IsDir() && info.Mode&0o005 == 0o005:
		// it is there if something in it is exposed
		if err := unix.Mkdir(to, 0o755); err != nil && err != unix.EEXIST {
			return err
		}
		return c.folder(name)
	case kind == unix.S_IFREG && info.Mode&0o004 != 0 && info.Size <= etcFile && info.Size <= c.bytes:
		c.bytes -= info.Size
		return c.file(from, to, info.Mode&0o777)
	}
	return nil
}

// stays reports whether a link leads to what tasks see, and so can stay a link. Another is followed: resolv.conf often
// is one to a folder of the machine's resolver.
func (c *etc) stays(name, target string) bool {
	if !filepath.IsAbs(target) {
		target = filepath.Join("/etc", filepath.Dir(name), target)
	}
	return within(target, "/etc") || within(target, "/proc") || target == os.DevNull || c.shows(target)
}

// file copies a file without the poller of package os: there are hundreds, at each start of a node.
func (c *etc) file(from, to string, mode uint32) error {
	content, err := c.read(from)
	if err != nil || holdsKey(from, content) || holdsKey(to, content) {
		return nil
	}
	out, err := unix.Open(to, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o444|mode&0o111)
	if err != nil {
		return err
	}
	for len(content) > 0 && err == nil {
		var n int
		n, err = unix.Write(out, content)
		content = content[max(n, 0):]
	}
	if e := unix.Close(out); err == nil {
		err = e
	}
	return err
}

// read returns what is in a file, at most etcFile of it, until the next call.
func (c *etc) read(name string) ([]byte, error) {
	in, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(in)
	if c.buffer == nil {
		c.buffer = make([]byte, 64<<10)
	}
	for used := 0; ; {
		n, err := unix.Read(in, c.buffer[used:])
		if err != nil {
			return nil, err
		}
		if used += n; n == 0 || used == etcFile {
			return c.buffer[:used], nil
		}
		if used == len(c.buffer) {
			c.buffer = append(c.buffer, make([]byte, min(len(c.buffer), etcFile-used))...)
		}
	}
}

// public reports whether everybody may pass through all folders to a file, whose path has no links.
func public(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
