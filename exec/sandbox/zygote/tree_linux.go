//go:build amd64 || arm64

package zygote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// plainDevices are those that every program may use.
var plainDevices = [...]string{"null", "zero", "full", "random", "urandom", "tty"}

// makeTree makes the files that all boxes see, and makes them the root of this process. A box mounts its own /proc,
// /dev/shm and /dev/pts into it, and its folders on Work and Temp. Nothing that the machine mounts later comes into it:
// that would be writable, and its devices would work.
func (s *Setup) makeTree() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts from the machine: %w", err)
	}
	if err := unix.Mount("tmpfs", s.Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV,
		"mode=0755,size=64m,nr_inodes=32768"); err != nil {
		return fmt.Errorf("mount the tree: %w", err)
	}
	if err := os.Chdir(s.Root); err != nil {
		return fmt.Errorf("mount the tree: %w", err)
	}
	for _, m := range s.Tree {
		if err := m.bind(); err != nil {
			return fmt.Errorf("show %s to tasks: %w", m.Source, err)
		}
	}
	for _, path := range s.Hide {
		if err := cover(path); err != nil {
			return fmt.Errorf("hide %s from tasks: %w", path, err)
		}
	}
	if err := mask(s.Mask); err != nil {
		return err
	}
	for _, l := range s.Links {
		if err := link(l); err != nil {
			return fmt.Errorf("link %s: %w", l.Path, err)
		}
	}
	if err := s.copyEtc(); err != nil {
		return fmt.Errorf("copy /etc for tasks: %w", err)
	}
	if err := s.makeOwn(); err != nil {
		return err
	}
	return enter()
}

// makeOwn makes the places of what each box has for itself.
func (s *Setup) makeOwn() error {
	work := Mount{Source: s.Work, Target: Attempts, Writable: true}
	if err := work.bind(); err != nil {
		return fmt.Errorf("show %s to boxes: %w", s.Work, err)
	}
	for _, l := range [...]Link{{Temp[1:], "/tmp"}, {".." + Temp, "/var/tmp"}, {"/proc/self/fd", "/dev/fd"},
		{"/proc/self/fd/0", "/dev/stdin"}, {"/proc/self/fd/1", "/dev/stdout"}, {"/proc/self/fd/2", "/dev/stderr"},
		{"pts/ptmx", "/dev/ptmx"}} {
		if err := link(l); err != nil {
			return fmt.Errorf("link %s: %w", l.Path, err)
		}
	}
	for _, dir := range [...]string{"proc", Work[1:], Temp[1:], Secrets[1:], "dev/pts", "run", "old"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for _, name := range plainDevices {
		d := Mount{Source: "/dev/" + name, Target: "/dev/" + name, Writable: true, Devices: true}
		if err := d.bind(); err != nil {
			return fmt.Errorf("show /dev/%s to tasks: %w", name, err)
		}
	}
	if s.Withhold {
		if err := os.WriteFile(Withheld[1:], nil, 0); err != nil {
			return err
		}
	}
	// The kernel lets a box mount a /proc of its own only where its parent sees a whole one.
	if err := unix.Mount("proc", "proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

// enter makes the current folder the root, without a way back.
func enter() error {
	if err := unix.PivotRoot(".", "old"); err != nil {
		return fmt.Errorf("enter the tree: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("enter the tree: %w", err)
	}
	if err := unix.Unmount("/old", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the machine's tree: %w", err)
	}
	if err := os.Remove("/old"); err != nil {
		return fmt.Errorf("leave the machine's tree: %w", err)
	}
	return protect("/", unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, 0)
}

// bind shows a file or folder, with all that is mounted in it, in the tree that is made in the current folder.
func (m *Mount) bind() error {
	info, err := os.Stat(m.Source)
	if err != nil {
		return err
	}
	at := strings.TrimPrefix(filepath.Clean(m.Target), "/")
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if info.IsDir() {
		err = os.Mkdir(at, 0o755)
	} else {
		err = os.WriteFile(at, nil, 0o644)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := unix.Mount(m.Source, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	set := uint64(unix.MOUNT_ATTR_NOSUID)
	if !m.Writable {
		set |= unix.MOUNT_ATTR_RDONLY
	}
	if !m.Devices {
		set |= unix.MOUNT_ATTR_NODEV
	}
	return protect(at, set, unix.AT_RECURSIVE)
}

// cover puts an empty folder over one of the tree, that nobody can look into or change.
func cover(path string) error {
	const flags = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	return unix.Mount("tmpfs", strings.TrimPrefix(filepath.Clean(path), "/"), "tmpfs", flags, "mode=0000,size=4k")
}

// mask puts an empty file over sockets of the tree, which a read-only mount keeps nobody from. One that is gone is left
// out.
func mask(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	const empty = "masked"
	if err := os.WriteFile(empty, nil, 0); err != nil {
		return err
	}
	for _, path := range paths {
		at := strings.TrimPrefix(filepath.Clean(path), "/")
		if info, err := os.Lstat(at); err != nil || info.Mode()&os.ModeSocket == 0 {
			continue
		}
		if err := unix.Mount(empty, at, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("cover the socket %s: %w", path, err)
		}
		if err := protect(at, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, 0); err != nil {
			return fmt.Errorf("cover the socket %s: %w", path, err)
		}
	}
	return os.Remove(empty)
}

func protect(at string, set uint64, flags uint) error {
	return unix.MountSetattr(unix.AT_FDCWD, at, flags, &unix.MountAttr{Attr_set: set})
}

func link(l Link) error {
	at := strings.TrimPrefix(filepath.Clean(l.Path), "/")
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.Symlink(l.Target, at)
}
