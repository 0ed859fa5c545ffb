//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
	"skep/grid"
)

// open opens a sandbox, and skips the test where there are no boxes.
func open(t testing.TB, change func(*Options)) *Sandbox {
	t.Helper()
	dir := t.TempDir()
	o := Options{Level: grid.IsolationBasic, Work: filepath.Join(dir, "work"), Dir: filepath.Join(dir, "box"),
		Hidden: []string{dir}}
	if change != nil {
		change(&o)
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if !s.Boxes() && o.Level > grid.IsolationNone {
		t.Skip("no boxes here: ", Explain(s.Findings()))
	}
	return s
}

var folders atomic.Int64

// shell is a box with a shell script in it, and what that prints.
type shell struct {
	*Box
	t   testing.TB
	out *os.File
}

// begin starts a script in a box.
func begin(t testing.TB, s *Sandbox, script string, change func(*Spec)) *shell {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	name := fmt.Sprint("a", folders.Add(1))
	id, err := s.probeFolder(name)
	if err != nil {
		t.Fatal(err)
	}
	spec := &Spec{Folder: name, Command: Command{Path: "/bin/sh", Dir: "/task/work", Argv: []string{"sh", "-c", script},
		Env: []string{"PATH=/usr/bin:/bin"}, Files: [3]int{int(null.Fd()), int(w.Fd()), int(w.Fd())}, UID: id, GID: id}}
	if change != nil {
		change(spec)
	}
	b, err := s.Start(spec)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(); r.Close() })
	return &shell{b, t, r}
}

// end waits for the box to be empty, and returns what it printed and how it ended.
func (r *shell) end() (string, End) {
	r.t.Helper()
	r.out.SetReadDeadline(time.Now().Add(30 * time.Second))
	out, err := io.ReadAll(r.out)
	if err != nil {
		r.t.Fatal(err)
	}
	select {
	case <-r.Empty():
	case <-time.After(30 * time.Second):
		r.t.Fatal("the box does not end")
	}
	return string(out), r.End()
}

// line reads what the script says first.
func (r *shell) line() string {
	r.t.Helper()
	var line []byte
	for b := make([]byte, 1); ; {
		r.out.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := r.out.Read(b); err != nil {
			r.t.Fatal(err)
		}
		if b[0] == '\n' {
			return string(line)
		}
		line = append(line, b[0])
	}
}

func TestBoxSeesWhatIsListed(t *testing.T) {
	s := open(t, nil)
	out, end := begin(t, s, `pwd; ls / | tr '\n' ' '; echo; ls /proc | grep -c '^[0-9]'; ls /dev | tr '\n' ' '; echo; echo x >/tmp/f
		cat /var/tmp/f; [ -e /etc/passwd ] && echo users; [ -e /etc/shadow ] || echo no shadow; exit 3`, nil).end()
	want := "/task/work\n"
	for dir := range strings.FieldsSeq("bin dev etc lib lib64 nix gnu opt proc run sbin sys task tmp usr var") {
		if _, err := os.Lstat("/" + dir); err == nil || dir == "task" {
			continue
		}
		want = strings.ReplaceAll(want, dir+" ", "")
	}
	if !strings.HasPrefix(out, want) || !strings.HasSuffix(out, "x\nusers\nno shadow\n") || end.Status.ExitStatus() != 3 {
		t.Errorf("exit %d, %q", end.Status.ExitStatus(), out)
	}
	for _, foreign := range []string{"home", "root", "boot", "mnt"} {
		if strings.Contains(out, foreign+" ") {
			t.Errorf("it sees /%s:\n%s", foreign, out)
		}
	}
}

// Signals reach all processes of a box, stopping and continuing too.
func TestSignals(t *testing.T) {
	s := open(t, nil)
	b := begin(t, s, `trap 'echo asked; exit 9' TERM; (trap '' TERM; echo ready; exec sleep 1000) & wait; wait`, nil)
	b.line()
	if err := errors.Join(b.Stop(), b.Signal(syscall.SIGTERM), b.Continue()); err != nil {
		t.Fatal(err)
	}
	<-b.Exited()
	if b.End().Broken || b.End().Status.ExitStatus() != 9 {
		t.Errorf("%+v", b.End())
	}
	select {
	case <-b.Empty():
		t.Fatal("the child is gone though it ignores SIGTERM")
	default:
	}
	b.Signal(syscall.SIGKILL)
	if out, end := b.end(); out != "asked\n" || end.Status.ExitStatus() != 9 {
		t.Errorf("%q, %+v", out, end)
	}
}

// A further command runs in the same box: it sees the same processes and files.
func TestFurtherCommand(t *testing.T) {
	s := open(t, nil)
	b := begin(t, s, `echo mine >f; echo ready; exec sleep 1000`, nil)
	b.line()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, _ := os.Open(os.DevNull)
	defer null.Close()
	id := commandID(t, s)
	const script = `cat f; until grep -q sleep /proc/2/cmdline; do :; done; cat /proc/2/cmdline | tr '\0' ' '; exit 5`
	c, err := b.Run(&Command{Path: "/bin/sh", Dir: "/task/work", Argv: []string{"sh", "-c", script},
		Env: []string{"PATH=/usr/bin:/bin"}, Files: [3]int{int(null.Fd()), int(w.Fd()), int(w.Fd())}, UID: id, GID: id})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(r)
	<-c.Done()
	if string(out) != "mine\nsleep 1000 " || c.End().Status.ExitStatus() != 5 {
		t.Errorf("%q, %+v", out, c.End())
	}
	_, err = b.Run(&Command{Path: "/bin/missing", Dir: "/", Argv: []string{"x"}, Files: [3]int{0, 1, 2}, UID: id, GID: id})
	if failed := (*StartError)(nil); !errors.As(err, &failed) || !failed.Exec() || failed.Err != syscall.ENOENT {
		t.Errorf("a program that is not there: %v", err)
	}
	b.Signal(syscall.SIGKILL)
	b.end()
	if _, err := b.Run(&Command{Path: "/bin/true", Dir: "/", Argv: []string{"true"}}); err == nil {
		t.Error("a command ran in a box that is gone")
	}
}

// What keeps the box's own command from abstract sockets of the machine keeps a further one from them.
func TestFurtherCommandIsFiltered(t *testing.T) {
	s := open(t, func(o *Options) { o.Landlock = -1 })
	const script = `grep -E '^(Seccomp|NoNewPrivs|CapEff)' /proc/self/status | tr '\n' ' '`
	b := begin(t, s, script+`; echo; exec sleep 1000`, nil)
	want := b.line()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := b.Run(&Command{Path: "/bin/sh", Dir: "/task/work", Argv: []string{"sh", "-c", script},
		Env: []string{"PATH=/usr/bin:/bin"}, Files: [3]int{int(w.Fd()), int(w.Fd()), int(w.Fd())},
		UID: commandID(t, s), GID: commandID(t, s)})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(r)
	if <-c.Done(); string(got) != want || !strings.Contains(want, "Seccomp_filters:\t2") {
		t.Errorf("%q: want what the box's own has, %q", got, want)
	}
}

// commandID is the user that a box's command runs as.
func commandID(t *testing.T, s *Sandbox) uint32 {
	if s.ids == nil {
		return 0
	}
	for id, state := range s.ids.state {
		if state == idUsed {
			return id
		}
	}
	t.Fatal("no user is taken")
	return 0
}

// A listening socket in the network of a box is not one of the machine.
func TestListenInTheBox(t *testing.T) {
	s := open(t, nil)
	b := begin(t, s, `echo ready; exec sleep 1000`, func(x *Spec) { x.Network = grid.NetworkNone })
	b.line()
	l, err := b.Listen(netip.MustParseAddrPort("127.0.0.1:4711"), 8)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Addr().String() != "127.0.0.1:4711" {
		t.Errorf("listens at %v", l.Addr())
	}
	if _, err := b.Listen(netip.MustParseAddrPort("127.0.0.1:4711"), 8); err == nil {
		t.Error("listens twice at one address")
	}
	if _, err := b.Listen(netip.MustParseAddrPort("[::1]:4712"), 8); err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
		t.Error(err)
	}
}

// What can be seen of a box from outside: its processes and its shared memory.
func TestLookIntoTheBox(t *testing.T) {
	s := open(t, nil)
	b := begin(t, s, `head -c 1000000 /dev/zero >/dev/shm/f; echo ready; sleep 1000; :`, nil)
	b.line()
	proc, shm, ipc, err := b.Look()
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	defer shm.Close()
	for _, f := range ipc {
		defer f.Close()
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) { // until the shell has become sleep
		cmd, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d/2/cmdline", proc.Fd()))
		if err == nil && strings.Contains(string(cmd), "1000") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("process 2 is %q, %v", cmd, err)
		}
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(shm.Fd()), &fs); err != nil || (fs.Blocks-fs.Bfree)*uint64(fs.Bsize) < 1_000_000 {
		t.Errorf("%d blocks are used: %v", fs.Blocks-fs.Bfree, err)
	}
}

// When the zygote dies its boxes are lost with all that is in them, and the next box is made by another.
func TestZygoteDies(t *testing.T) {
	s := open(t, nil)
	b := begin(t, s, `echo ready; exec sleep 1000`, nil)
	b.line()
	s.forker.cmd.Process.Kill()
	if _, end := b.end(); !end.Broken {
		t.Errorf("%+v", end)
	}
	<-s.forker.dead
	s.retryAt = time.Time{}
	if out, _ := begin(t, s, `echo again`, nil).end(); out != "again\n" {
		t.Errorf("%q", out)
	}
}

// When what forks the boxes dies, alone, it is as when the zygote does, and with no boxes a command dies with it.
func TestForkerDies(t *testing.T) {
	for _, level := range []grid.Isolation{grid.IsolationBasic, grid.IsolationNone} {
		s := open(t, func(o *Options) { o.Level = level })
		if err := os.MkdirAll(s.opts.Work, 0o711); err != nil {
			t.Fatal(err)
		}
		b := begin(t, s, `echo ready; exec sleep 1000`, func(spec *Spec) {
			if !s.Boxes() {
				spec.Command.Dir = "/"
			}
		})
		b.line()
		zygote := s.forker.cmd.Process.Pid
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", zygote, zygote))
		if err != nil {
			t.Skip("this kernel does not tell the children of a process: ", err)
		}
		forker, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatalf("children of the zygote %q: want one", text)
		}
		if err := unix.Kill(forker, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, end := b.end(); !end.Broken { // its output has ended, too
			t.Errorf("%v: %+v", level, end)
		}
		<-s.forker.dead
	}
}

// Signals that stop a node, sent to all its processes, leave its boxes alone.
func TestZygoteOutlivesSignals(t *testing.T) {
	s := open(t, nil)
	b := begin(t, s, `echo ready; read x; sleep 0.3; echo still here`, nil)
	b.line()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(-s.forker.cmd.Process.Pid, sig); err != nil { // and what it forked
			t.Fatal(err)
		}
	}
	if out, end := b.end(); out != "still here\n" || end.Broken {
		t.Errorf("%q, %+v", out, end)
	}
}

// When /etc changes, boxes that begin from then on see it, and those that run are not disturbed.
func TestEtcChanges(t *testing.T) {
	s := open(t, nil)
	before := s.forker
	b := begin(t, s, `echo ready; read x; exec sleep 1000`, nil)
	b.line()
	s.etc.stamps[1].size++ // as if it had been another file
	s.etc.looked = time.Now().Add(-time.Hour)
	if out, _ := begin(t, s, `echo after`, nil).end(); out != "after\n" || s.forker == before {
		t.Errorf("%q, another zygote: %v", out, s.forker != before)
	}
	b.Signal(syscall.SIGKILL)
	if _, end := b.end(); end.Broken {
		t.Error("the box that ran is lost")
	}
	select {
	case <-before.dead:
	case <-time.After(30 * time.Second):
		t.Error("the former zygote stays though it has no box")
	}
}

// A zygote that could not be replaced when /etc changed is replaced later, and the operator is told.
func TestEtcIsTriedAgain(t *testing.T) {
	warned := 0
	s := open(t, func(o *Options) { o.Warn = func(string, error) { warned++ } })
	before, mounts := s.forker, s.tree.mounts
	s.tree.mounts = append(mounts[:len(mounts):len(mounts)], zygote.Mount{Source: "/is/missing", Target: "/is/missing"})
	s.etc.stamps[1].size++
	s.etc.looked = time.Now().Add(-time.Hour)
	for range 2 { // the second try is not due yet
		if out, _ := begin(t, s, `echo old`, nil).end(); out != "old\n" || s.forker != before || warned != 1 {
			t.Errorf("%q, another zygote: %v, %d warnings", out, s.forker != before, warned)
		}
	}
	s.tree.mounts, s.retryAt = mounts, time.Time{}
	if out, _ := begin(t, s, `echo new`, nil).end(); out != "new\n" || s.forker == before {
		t.Errorf("%q, another zygote: %v", out, s.forker != before)
	}
}

// A box that takes back its entry may be the last of a retired zygote.
func TestLastBoxThatLeavesEndsARetiredZygote(t *testing.T) {
	s := open(t, nil)
	f, b := s.forker, &Box{}
	if err := f.enter(b, false); err != nil {
		t.Fatal(err)
	}
	f.retire()
	f.leave(b)
	select {
	case <-f.dead:
	case <-time.After(30 * time.Second):
		t.Error("it stays")
	}
}

// Nobody else's system calls are open to a task: not by another architecture, not by guessing.
func TestFilterHoldsForTasks(t *testing.T) {
	s := open(t, nil)
	out, _ := begin(t, s, `unshare -U true 2>&1 | head -1; mount -t tmpfs x /tmp 2>&1 | head -1; exit 0`, nil).end()
	if strings.Count(out, "not permitted") < 1 || strings.Contains(out, "succe") {
		t.Errorf("%q", out)
	}
}

// A command that is too long is refused, and says so; nothing is half-started.
func TestCommandIsBounded(t *testing.T) {
	s := open(t, nil)
	s.forker.mu.Lock()
	before := map[uint64]bool{} // that of the probe may not be quite gone
	for id := range s.forker.boxes {
		before[id] = true
	}
	s.forker.mu.Unlock()
	long := strings.Repeat("x", 200_000)
	_, err := s.Start(&Spec{Folder: "none", Command: Command{Path: "/bin/true", Dir: "/", Argv: []string{"true", long},
		Files: [3]int{0, 1, 2}}})
	if !errors.Is(err, errLong) {
		t.Errorf("%v", err)
	}
	_, err = s.Start(&Spec{Folder: "none", Command: Command{Path: "/bin/true", Dir: "/", Argv: []string{"a\x00b"},
		Files: [3]int{0, 1, 2}}})
	if err == nil {
		t.Error("a zero byte in a word was taken")
	}
	s.forker.mu.Lock()
	defer s.forker.mu.Unlock()
	for id := range s.forker.boxes {
		if !before[id] {
			t.Errorf("box %d is left", id)
		}
	}
}

// A box that cannot be made says at which step.
func TestBoxThatCannotBeMade(t *testing.T) {
	s := open(t, nil)
	_, err := s.Start(&Spec{Folder: "missing", Command: Command{Path: "/bin/true", Dir: "/", Argv: []string{"true"},
		Files: [3]int{0, 1, 2}}})
	var failed *StartError
	if !errors.As(err, &failed) || failed.Err != syscall.ENOENT || failed.Exec() ||
		!strings.Contains(err.Error(), "folder") {
		t.Errorf("%v", err)
	}
}

func TestLevels(t *testing.T) {
	for _, version := range []int{-1, 2, 4, 6} {
		s := open(t, func(o *Options) { o.Landlock = version })
		if s.Level() < grid.IsolationBasic {
			t.Errorf("Landlock %d: %v", version, Explain(s.Findings()))
		}
	}
	s := open(t, func(o *Options) { o.Level = grid.IsolationNone })
	if s.Boxes() || s.Level() != grid.IsolationNone {
		t.Errorf("boxes that nobody asked for: %v", s.Level())
	}
}

// A kernel that is too old for boxes says so, and what helps.
func TestOldKernel(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	hidden := [...]unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_MOUNT_SETATTR, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(hidden)), Filter: &hidden[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program))); errno != 0 {
		t.Skip("cannot filter system calls: ", errno)
	}
	dir := t.TempDir()
	s, err := Open(Options{Level: grid.IsolationBasic, Work: filepath.Join(dir, "work"), Dir: filepath.Join(dir, "box")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if said := Explain(s.Findings()); s.Boxes() || s.Level() != grid.IsolationNone || !strings.Contains(said, "5.12") {
		t.Errorf("boxes %v, level %v: %s", s.Boxes(), s.Level(), said)
	}
}

// Without Landlock a task with the network of the machine cannot make Unix sockets, by which it could reach abstract
// ones; one with a network of its own can.
func TestUnixSocketsWithoutLandlock(t *testing.T) {
	s := open(t, func(o *Options) { o.Landlock = -1 })
	const script = `perl -e 'use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0) ? print "made" : print "not made"'`
	if out, _ := begin(t, s, script, nil).end(); out != "not made" {
		t.Errorf("with the machine's network: %q", out)
	}
	if out, _ := begin(t, s, script, func(x *Spec) { x.Network = grid.NetworkNone }).end(); out != "made" {
		t.Errorf("with its own: %q", out)
	}
}

// In a writable folder of the machine a set-user-ID program would give whoever runs it outside the rights of the node's
// user. The shell's chmod and the others' calls are forbidden only where there is such a folder.
func TestNoSetUserIDFilesInExposedFolders(t *testing.T) {
	dir, err := os.MkdirTemp("/dev", "exposed-") // boxes have a /tmp of their own
	if err != nil {
		dir, err = os.MkdirTemp(os.Getenv("HOME"), "exposed-")
	}
	if err != nil {
		t.Skip("no folder to expose: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	const script = `cd "$0"; touch program; chmod 4755 program; chmod 2755 program; chmod u+s program; chmod 755 program && install -m 4755 /bin/sh copy
		mkdir -m 700 folder && chmod 1777 folder && stat -c '%n %a' program folder; [ -u copy ] || [ -g copy ] && echo setuid; exit 0`
	for _, shared := range []bool{true, false} {
		s := open(t, func(o *Options) {
			if shared {
				o.Expose = []Expose{{Path: dir, Writable: true}}
			}
		})
		place := dir
		if !shared {
			place = "/task/work"
		}
		out, end := begin(t, s, script, func(p *Spec) { p.Command.Argv = []string{"sh", "-c", script, place} }).end()
		if !strings.Contains(out, "program 755\nfolder 1777\n") || strings.HasSuffix(out, "setuid\n") == shared ||
			end.Status.ExitStatus() != 0 {
			t.Errorf("in %s: %q", place, out)
		}
	}
}

// A task that could lower its score would have the kernel end the node in place of it when memory is short.
func TestScoreStays(t *testing.T) {
	out, _ := begin(t, open(t, nil), `echo 0 >/proc/self/oom_score_adj; cat /proc/self/oom_score_adj
		cd /task/work; exec 3<>file; echo x >/proc/self/fd/3; echo y >>/dev/fd/3; cat file`, nil).end()
	if !strings.HasSuffix(out, "1000\nx\ny\n") {
		t.Errorf("%q", out)
	}
}

// Without boxes too a task goes first when memory is short, and the process that forks all of them stays as it is.
func TestScoreWithoutBoxes(t *testing.T) {
	s := open(t, func(o *Options) { o.Level = grid.IsolationNone })
	if err := os.MkdirAll(s.opts.Work, 0o700); err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("/proc/%d/oom_score_adj", s.forker.cmd.Process.Pid)
	before, _ := os.ReadFile(file)
	out, _ := begin(t, s, `cat /proc/self/oom_score_adj`, func(p *Spec) { p.Command.Dir = "/" }).end()
	if out != "1000\n" {
		t.Errorf("%q", out)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the zygote has %q, %v: want %q", after, err, before)
	}
}

// The stub of a box has the task's user where the node is not root. With a limit of open files it could not be asked
// any more what its box holds, and no bound of memory would be kept.
func TestLimitsOfTheStubStay(t *testing.T) {
	out, _ := begin(t, open(t, nil), `prlimit --pid 1 --nofile=3:3 2>&1; ulimit -n 32 && ulimit -n`, nil).end()
	if strings.Count(out, "not permitted") != 1 || !strings.HasSuffix(out, "\n32\n") {
		t.Errorf("%q", out)
	}
}
