package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// ways are paths by which the same file might be reached past what is shown.
var ways = []struct{ name, prefix string }{
	{"path", ""}, {"self-root", "/proc/self/root"}, {"init-root", "/proc/1/root"},
	{"init-cwd", "/proc/1/cwd/../../../../.."},
	{"above", "../../../../../../../.."}, {"stdin-root", "/proc/self/fd/0/../../.."},
}

// onFiles tries to read and change the files of others.
func onFiles(w *world.World) (all []attack) {
	add := func(name, what string, run func() result) {
		all = append(all, attack{world.Attack{Name: "files/" + name, What: what}, func(*world.World) result { return run() }})
	}
	for _, path := range w.Private {
		add("read"+path, "read "+path, func() result { return reads(path) })
	}
	for i, path := range w.Secrets {
		for _, way := range ways {
			add(fmt.Sprintf("read-secret/%d/%s", i, way.name), "read "+path+" by "+way.name,
				func() result { return reads(way.prefix + path) })
		}
		add(fmt.Sprintf("link/%d", i), "read "+path+" by a link in its folder", func() result {
			name := fmt.Sprint("link-", i)
			if err := os.Symlink(path, name); err != nil {
				return lost("%v", err)
			}
			return reads(name)
		})
		add(fmt.Sprintf("o-path/%d", i), "open "+path+" as a path and then again", func() result {
			fd, err := unix.Open(path, unix.O_PATH, 0)
			if err != nil {
				return lost("%v", err)
			}
			return reads(fmt.Sprint("/proc/self/fd/", fd))
		})
		for _, c := range changes {
			add(fmt.Sprintf("%s/%d", c.name, i), c.what+" "+path, func() result {
				if _, err := os.Lstat(path); err != nil { // its folder may be there, and the intruder's own
					return lost("%v", err)
				}
				return by(c.do(path))
			})
		}
	}
	add("handle", "open a file by its handle", func() result { return opensHandle(w) })
	add("name-to-handle", "learn handles of the node's files", func() result {
		_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, w.Data, 0)
		return by(err)
	})
	add("watch", "watch what happens in the node's folder (inotify)", func() result {
		fd, err := unix.InotifyInit1(0)
		if err == nil {
			_, err = unix.InotifyAddWatch(fd, w.Data, unix.IN_ALL_EVENTS)
		}
		return by(err)
	})
	add("fanotify", "watch all files", func() result {
		_, err := unix.FanotifyInit(unix.FAN_REPORT_FID, 0)
		return by(err)
	})
	add("lock", "lock the node's database", func() result {
		f, err := os.OpenFile(filepath.Join(w.Data, "skep.db"), os.O_RDWR, 0)
		if err == nil {
			err = unix.FcntlFlock(f.Fd(), unix.F_GETLK, &unix.Flock_t{Type: unix.F_WRLCK})
			f.Close()
		}
		return by(err)
	})
	add("working-folders", "see working folders of other attempts", func() result {
		for _, dir := range []string{"/task/..", "..", "../..", "/proc/self/cwd/../.."} {
			if found, _ := filepath.Glob(filepath.Join(dir, "*/work/private")); len(found) > 0 {
				return won("%v", found)
			}
		}
		return lost("none is there")
	})
	add("exposed-write", "write in a folder that is exposed read-only", func() result {
		return makes(filepath.Join(w.ReadOnly, "made-"+w.Nonce))
	})
	add("exposed-chmod", "change modes in a folder that is exposed read-only", func() result {
		return by(os.Chmod(filepath.Join(w.ReadOnly, "plain"), 0o644))
	})
	add("exposed-open", "open for writing what is exposed read-only", func() result {
		return opens(filepath.Join(w.ReadOnly, "plain"), os.O_WRONLY)
	})
	add("exposed-link", "link what is exposed read-only into a writable folder", func() result {
		to := filepath.Join(w.Writable, "link-"+w.Nonce)
		defer os.Remove(to)
		return by(os.Link(filepath.Join(w.ReadOnly, "plain"), to))
	})
	add("exposed-above", "leave an exposed folder upwards", func() result {
		return reads(filepath.Join(w.Writable, "..", "home", "secret"))
	})
	add("exposed-symlink", "read the node's files by a link in a writable folder", func() result {
		name := filepath.Join(w.Writable, "symlink-"+w.Nonce)
		if err := os.Symlink(w.Secrets[0], name); err != nil {
			return lost("%v", err)
		}
		defer os.Remove(name)
		return reads(name)
	})
	return all
}

// changes are made to files with a secret, which the harness looks at afterwards. What they change is changed back.
var changes = []struct {
	name, what string
	do         func(path string) error
}{
	{"write", "open for writing", func(path string) error { return opened(path, os.O_WRONLY) }},
	{"append", "open for appending", func(path string) error { return opened(path, os.O_WRONLY|os.O_APPEND) }},
	{"truncate", "truncate", func(path string) error {
		return unix.Truncate(path, int64(len(world.SecretPrefix)+world.SecretLength))
	}},
	{"chmod", "change the mode of", func(path string) error { return os.Chmod(path, 0o600) }},
	{"chmod-folder", "change the mode of the folder of", func(path string) error {
		info, err := os.Stat(filepath.Dir(path))
		if err != nil {
			return err
		}
		return os.Chmod(filepath.Dir(path), info.Mode())
	}},
	{"chown", "change the owner of", func(path string) error { return os.Chown(path, os.Getuid(), -1) }},
	{"rename", "rename", func(path string) error {
		if err := os.Rename(path, path+".moved"); err != nil {
			return err
		}
		return os.Rename(path+".moved", path)
	}},
	{"link-in", "link into its folder", func(path string) error {
		defer os.Remove("linked")
		return os.Link(path, "linked")
	}},
	{"link-beside", "link beside itself", func(path string) error {
		if err := os.Link(path, path+".linked"); err != nil {
			return err
		}
		return os.Remove(path + ".linked")
	}},
	{"times", "set the times of", func(path string) error {
		return unix.Utimes(path,
			[]unix.Timeval{{Sec: 1}, {Sec: 1}})
	}},
	{"xattr", "set an attribute of", func(path string) error {
		return unix.Setxattr(path, "user.attack", []byte("x"),
			0)
	}},
	{"make-beside", "make a file beside", func(path string) error {
		if err := os.WriteFile(path+".made", nil, 0o600); err != nil {
			return err
		}
		return os.Remove(path + ".made")
	}},
	{"exchange", "exchange with a file of its own", func(path string) error {
		if err := os.WriteFile("own", nil, 0o600); err != nil {
			return err
		}
		if err := unix.Renameat2(unix.AT_FDCWD, "own", unix.AT_FDCWD, path, unix.RENAME_EXCHANGE); err != nil {
			return err
		}
		return unix.Renameat2(unix.AT_FDCWD, "own", unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
	}},
}

func opened(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0)
	if err == nil {
		f.Close()
	}
	return err
}

// reads is a success if a file can be read, or a folder listed.
func reads(path string) result {
	if strings.HasPrefix(path, "../") && !strings.HasPrefix(path, "../../..") {
		return untried("not a path")
	}
	f, err := os.Open(path)
	if err != nil {
		return lost("%v", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return lists(f, path)
	}
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return lost("%v", err)
	}
	if secret := world.FindSecret(b); secret != "" {
		return won("%s", secret)
	}
	if len(b) == 0 {
		return lost("it is empty")
	}
	return won("%d bytes of %s", len(b), path)
}

// exposed are the first names below the root of what is exposed: these folders are there, with nothing else in them.
var exposed []string

// lists is a success if a folder has names that do not lead to what is exposed.
func lists(f *os.File, path string) result {
	names, err := f.Readdirnames(100)
	if err != nil {
		return lost("%v", err)
	}
	others := slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(exposed,
			func(e string) bool { return strings.HasPrefix(e+"/", filepath.Join(path, name)+"/") })
	})
	if len(others) == 0 {
		return lost("it is empty")
	}
	return won("%d names in %s, as %s", len(others), path, others[0])
}

// makes is a success if a file can be made, which is removed again.
func makes(path string) result {
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		return lost("%v", err)
	}
	os.Remove(path)
	return won("%s was there", path)
}
