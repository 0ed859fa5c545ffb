//go:build amd64 || arm64

package zygote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	entries, err := os.ReadDir(filepath.Join(c.from, name))
	if err != nil {
		return nil // not for everybody, or gone
	}
	for _, d := range entries {
		if c.files--; c.files < 0 {
			return nil
		}
		if hidden(d.Name()) || c.exposed(filepath.Join(c.from, name, d.Name())) {
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
	from, to := filepath.Join(c.from, name), filepath.Join(c.to, name)
	if d.Type()&fs.ModeSymlink != 0 {
		if target, err := os.Readlink(from); err == nil && c.stays(name, target) {
			return os.Symlink(target, to)
		}
		real, err := filepath.EvalSymlinks(from)
		if err != nil || hidden(filepath.Base(real)) || !public(real) {
			return nil
		}
		from = real
	}
	info, err := os.Stat(from)
	if err != nil {
		return nil
	}
	switch mode := info.Mode(); {
	case mode.IsDir() && d.IsDir() && mode.Perm()&0o005 == 0o005:
		// it is there if something in it is exposed
		if err := os.Mkdir(to, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return c.folder(name)
	case mode.IsRegular() && mode.Perm()&0o004 != 0 && info.Size() <= etcFile && info.Size() <= c.bytes:
		c.bytes -= info.Size()
		return c.file(from, to, mode.Perm())
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

func (c *etc) file(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return nil
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, etcFile))
	if err != nil || holdsKey(from, content) || holdsKey(to, content) {
		return nil
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444|mode&0o111)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	if e := out.Close(); err == nil {
		err = e
	}
	return err
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
