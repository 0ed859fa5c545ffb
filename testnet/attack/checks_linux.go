package attack

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skep/testnet/attack/world"
)

// goneTime is how long what an attempt left may take to be gone. Without boxes most of it stays; the node looks for
// processes every two seconds.
const (
	goneTime        = 6 * time.Second
	goneTimeUnboxed = 3 * time.Second
	removeTime      = 30 * time.Second // of folders, one after the other; some have thousands of files
)

// awaitGone waits until nothing is there that attempts tried to leave, and returns what is there in spite of that, by
// its attack.
func awaitGone(outcomes []world.Outcome, most time.Duration) map[string]string {
	for end := time.Now().Add(most); ; time.Sleep(200 * time.Millisecond) {
		there := map[string]string{}
		for i := range outcomes {
			for _, c := range outcomes[i].Checks {
				if found(c) {
					there[outcomes[i].Attack] = fmt.Sprintf("%s %s is there", c.Kind, c.What)
				}
			}
		}
		if len(there) == 0 || time.Now().After(end) {
			return there
		}
	}
}

// found reports whether a thing is there, on this machine.
func found(c world.Check) bool {
	key, _ := strconv.Atoi(c.What)
	switch c.Kind {
	case world.File:
		_, err := os.Lstat(c.What)
		return err == nil
	case world.Setuid:
		info, err := os.Lstat(c.What)
		return err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0
	case world.Running:
		return len(processesWith(c.What)) > 0
	case world.Shared:
		_, err := unix.SysvShmGet(key, 0, 0)
		return err == nil
	case world.Sets:
		_, _, errno := unix.Syscall(unix.SYS_SEMGET, uintptr(key), 0, 0)
		return errno == 0
	case world.Queue:
		_, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(key), 0, 0)
		return errno == 0
	case world.POSIX:
		err := openQueue(c.What, unix.O_RDONLY)
		return err == nil || err == unix.EACCES
	case world.Socket:
		conn, err := net.Dial("unix", "@"+c.What)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	return false
}

// stamp is what must not change of a file or folder.
type stamp struct {
	mode fs.FileMode
	uid  uint32
	sum  [32]byte // of a file; zero of the database, which the node writes
}

func stampOf(path string) (s stamp, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return s, err
	}
	s.mode = info.Mode()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.uid = st.Uid
	}
	switch filepath.Base(path) {
	case "identity", "secret", "token", "planted", "id_ed25519", "private", "plain":
		b, err := os.ReadFile(path)
		s.sum = sha256.Sum256(b)
		return s, err
	}
	return s, nil
}

// breaches looks from outside what has come of the node, the sibling and all that was planted. The siblings end with
// it.
func (s *scene) breaches() (bad []string) {
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	say(!s.node.alive(), "the node has died: %s", s.node.log.String())
	for path, was := range s.before {
		if path == "" || strings.HasSuffix(path, "skep.db") || strings.HasSuffix(path, "skep.log") {
			continue
		}
		is, err := stampOf(path)
		say(err != nil, "%s: %v", path, err)
		say(err == nil && is != was, "%s has changed: mode %v and was %v, owner %d and was %d, same content %t", path,
			is.mode, was.mode,
			is.uid, was.uid, is.sum == was.sum)
	}
	out := s.sibling.release()
	say(out != wellEnded, "another task did not end well: %q", out)
	out = s.bystander.release()
	say(out != wellEnded, "a process of the node's user did not end well: %q", out)
	if s.terminal != nil {
		got := s.terminal.printed()
		say(got != "", "a terminal shows %q", got)
	}
	var folders []string
	for end := time.Now().Add(removeTime); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if folders = s.node.attempts(); len(folders) == 0 {
			break
		}
	}
	say(len(folders) > 0, "folders of attempts that are over are there: %v", folders)
	streams, _ := filepath.Glob(filepath.Join(s.world.Data, "work", "*.std*"))
	for _, path := range streams {
		info, err := os.Stat(path)
		say(err == nil && info.Size() > 2*boundOutput, "%s holds %d bytes", path, sizeOf(info))
	}
	mounts := mountsOf(s.base)
	say(mounts != "", "the machine sees mounts of the node: %s", mounts)
	for _, kind := range []string{"program-" + s.world.Nonce, "device-" + s.world.Nonce} {
		made, _ := filepath.Glob(filepath.Join(s.world.Writable, kind+"*"))
		for _, path := range made {
			info, err := os.Lstat(path)
			say(err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid|os.ModeDevice) != 0, "%s is there: %v", path, info.Mode())
		}
	}
	return bad
}

func sizeOf(info fs.FileInfo) int64 {
	if info == nil {
		return 0
	}
	return info.Size()
}

// mountsOf are the mounts of a folder, or in it, that this process sees.
func mountsOf(dir string) (all string) {
	b, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, dir) {
			all += line
		}
	}
	return all
}

// remove takes away what attempts left where there are no boxes.
func remove(c world.Check) {
	key, _ := strconv.Atoi(c.What)
	switch c.Kind {
	case world.File, world.Setuid:
		os.Remove(c.What)
	case world.Running:
		for _, pid := range processesWith(c.What) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	case world.Shared:
		if id, err := unix.SysvShmGet(key, 0, 0); err == nil {
			unix.SysvShmCtl(id, unix.IPC_RMID, nil)
		}
	case world.Sets:
		if id, _, errno := unix.Syscall(unix.SYS_SEMGET, uintptr(key), 0, 0); errno == 0 {
			unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID)
		}
	case world.Queue:
		if id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(key), 0, 0); errno == 0 {
			unix.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0)
		}
	case world.POSIX:
		unlinkQueue(c.What)
	}
}
