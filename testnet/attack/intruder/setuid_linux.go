package main

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// onSetuid tries every way to leave a program in an exposed folder that gives its caller the rights of the task's user.
func onSetuid(w *world.World) (all []attack) {
	const program, plain = 0o755, unix.O_CREAT | unix.O_WRONLY | unix.O_EXCL
	var kept [][]byte // as long as the kernel may read them
	at := func(path string) uintptr {
		p := append([]byte(path), 0)
		kept = append(kept, p)
		return uintptr(unsafe.Pointer(&p[0]))
	}
	for bitName, bits := range map[string]uint32{"user": unix.S_ISUID, "group": unix.S_ISGID,
		"both": unix.S_ISUID | unix.S_ISGID} {
		mode := uintptr(program | bits)
		existing := func(change func(path string, fd int) error) func(string) error {
			return func(path string) error {
				f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, program)
				if err == nil {
					err = change(path, int(f.Fd()))
					f.Close()
				}
				return err
			}
		}
		how := openAt{mode: uint64(mode), flags: plain}
		for name, do := range map[string]func(path string) error{
			"chmod":     existing(func(path string, _ int) error { return os.Chmod(path, program|fileMode(bits)) }),
			"chmod-raw": existing(func(path string, _ int) error { return rawChmod(at(path), mode) }),
			"fchmod":    existing(func(_ string, fd int) error { return number(unix.SYS_FCHMOD, uintptr(fd), mode, 0, 0) }),
			"fchmodat": existing(func(path string, _ int) error {
				return number(unix.SYS_FCHMODAT, ^uintptr(99), at(path), mode, 0)
			}),
			"fchmodat2": existing(func(path string, _ int) error { return number(452, ^uintptr(99), at(path), mode, 0) }),
			"chmod-fd": existing(func(_ string, fd int) error {
				return number(unix.SYS_FCHMODAT, ^uintptr(99), at(fmt.Sprint("/proc/self/fd/", fd)), mode, 0)
			}),
			"openat":  func(path string) error { return number(unix.SYS_OPENAT, ^uintptr(99), at(path), plain, mode) },
			"open":    func(path string) error { return rawOpen(at(path), plain, mode) },
			"creat":   func(path string) error { return rawCreat(at(path), mode) },
			"openat2": func(path string) error { return number(437, ^uintptr(99), at(path), uintptr(unsafe.Pointer(&how)), 24) },
			"mknod":   func(path string) error { return rawMknod(at(path), unix.S_IFREG|mode) },
			"mknodat": func(path string) error { return number(unix.SYS_MKNODAT, ^uintptr(99), at(path), unix.S_IFREG|mode, 0) },
			"tmpfile": func(path string) error {
				fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, ^uintptr(99), at(filepath.Dir(path)),
					unix.O_TMPFILE|unix.O_WRONLY, mode, 0, 0)
				if errno != 0 {
					return errno
				}
				return unix.Linkat(unix.AT_FDCWD, fmt.Sprint("/proc/self/fd/", fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
			},
			"rename": func(path string) error { // made elsewhere
				if err := os.WriteFile("program", []byte("x"), program); err != nil {
					return err
				}
				if err := os.Chmod("program", program|fileMode(bits)); err != nil {
					return err
				}
				return os.Rename("program", path)
			},
			"other-bits": existing(func(path string, _ int) error { return rawChmod(at(path), mode|1<<32|1<<16) }),
		} {
			all = append(all, attack{world.Attack{Name: "setuid/" + name + "/" + bitName,
				What: "leave a set-" + bitName + "-ID program in an exposed folder by " + name}, func(*world.World) result {
				path := filepath.Join(w.Writable, "program-"+w.Nonce+name+bitName)
				unix.Umask(0)
				return left(do(path), world.Check{Kind: world.Setuid, What: path})
			}})
		}
	}
	return all
}

// openAt is a struct open_how.
type openAt struct{ flags, mode, resolve uint64 }

func fileMode(bits uint32) (m os.FileMode) {
	if bits&unix.S_ISUID != 0 {
		m |= os.ModeSetuid
	}
	if bits&unix.S_ISGID != 0 {
		m |= os.ModeSetgid
	}
	return m
}
