package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const hog = 100 << 20

// leaderEnded is a process whose main thread ends, and which is THEN another one.
const leaderEnded = "leader ended"

// Tasks that hold memory where no process of theirs shows it.
func init() {
	fill := func(f *os.File) {
		for range hog >> 20 {
			if _, err := f.Write(make([]byte, 1<<20)); err != nil {
				panic(err)
			}
		}
		time.Sleep(time.Minute)
		runtime.KeepAlive(f) // or the collector closes it
	}
	roles["memfd"] = func() {
		fd, err := unix.MemfdCreate("hidden", 0)
		if err != nil {
			panic(err)
		}
		fill(os.NewFile(uintptr(fd), "hidden"))
	}
	roles["memfd undumpable"] = func() {
		unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
		roles["memfd"]()
	}
	if os.Getenv("PROCESS_TEST_ROLE") == leaderEnded {
		runtime.LockOSThread() // main has the first thread from here on
	}
	roles[leaderEnded] = func() {
		go roles[os.Getenv("THEN")]()
		unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
	}
	roles["private"] = func() {
		b := make([]byte, hog)
		for i := 0; i < len(b); i += os.Getpagesize() {
			b[i] = 1
		}
		time.Sleep(time.Minute)
		runtime.KeepAlive(b)
	}
	roles["shm"] = func() {
		f, err := os.Create("/dev/shm/hidden")
		if err != nil {
			panic(err)
		}
		fill(f)
	}
	roles["segment"] = func() {
		id, err := unix.SysvShmGet(unix.IPC_PRIVATE, hog, unix.IPC_CREAT|0o600)
		if err != nil {
			panic(err)
		}
		b, err := unix.SysvShmAttach(id, 0, 0)
		if err != nil {
			panic(err)
		}
		for i := 0; i < len(b); i += os.Getpagesize() {
			b[i] = 1
		}
		if err := unix.SysvShmDetach(b); err != nil {
			panic(err)
		}
		time.Sleep(time.Minute)
	}
	call := func(what, a, b, c, d uintptr) uintptr {
		r, _, errno := unix.Syscall6(what, a, b, c, d, 0, 0)
		if errno != 0 {
			panic(errno)
		}
		return r
	}
	roles["semaphores"] = func() {
		const most = 32_000 // of a set
		for range hog / 64 / most {
			call(unix.SYS_SEMGET, unix.IPC_PRIVATE, most, 0o600, 0)
		}
		time.Sleep(time.Minute)
	}
	roles["messages"] = func() {
		message := make([]byte, 8+8192)
		message[0] = 1 // its kind
		for range hog / 16384 {
			id := call(unix.SYS_MSGGET, unix.IPC_PRIVATE, 0o600, 0, 0)
			for range 2 {
				call(unix.SYS_MSGSND, id, uintptr(unsafe.Pointer(&message[0])), 8192, 0)
			}
		}
		time.Sleep(time.Minute)
	}
	touch := func(fd, flags int) []byte {
		b, err := unix.Mmap(fd, 0, hog, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|flags)
		if err != nil {
			panic(err)
		}
		for i := 0; i < len(b); i += os.Getpagesize() {
			b[i] = 1
		}
		return b
	}
	roles["untouched"] = func() { // what is shared stays when it is let go of
		unix.Madvise(touch(-1, unix.MAP_ANON), unix.MADV_DONTNEED)
		time.Sleep(time.Minute)
	}
	roles["memfd mapped"] = func() {
		fd, err := unix.MemfdCreate("hidden", 0)
		if err == nil {
			err = unix.Ftruncate(fd, hog)
		}
		if err != nil {
			panic(err)
		}
		b := touch(fd, 0)
		unix.Close(fd)
		unix.Madvise(b, unix.MADV_DONTNEED)
		time.Sleep(time.Minute)
	}
	roles["memfd behind others"] = func() {
		unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 10_000, Max: 10_000})
		for range 5000 {
			if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
				panic(err)
			}
		}
		roles["memfd"]()
	}
	roles["page tables"] = func() {
		const each = 2 << 20 // a page of the tables is for so much
		b, err := unix.Mmap(-1, 0, hog/4096*each, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err != nil {
			panic(err)
		}
		unix.Madvise(b, unix.MADV_NOHUGEPAGE)
		sum := byte(0)
		for i := 0; i < len(b); i += each {
			sum += b[i]
		}
		time.Sleep(time.Minute + time.Duration(sum))
	}
	roles["away"] = func() { // in a session of its own, and nobody's child
		if os.Getenv("AWAY") == "" {
			c := exec.Command("./role")
			c.Env = append(os.Environ(), "AWAY=1")
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := c.Start(); err != nil {
				panic(err)
			}
			time.Sleep(time.Minute)
		}
		roles["private"]()
	}
}

// The bound of memory counts all of a box, wherever it is.
func TestMemoryCannotBeHidden(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	if !r.sandbox.Boxes() {
		t.Skip("no boxes here")
	}
	for _, kind := range []string{"memfd", "memfd mapped", "memfd behind others", "memfd undumpable", "untouched",
		"page tables", "shm", "segment",
		"semaphores", "messages", "away"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := spec(t, r, "exec ./role")
			role(t, r, &s, kind)
			s.Memory = hog * 6 / 10
			if kind == "shm" { // whose own bound would come first
				s.Memory = 0
			}
			p := start(t, r, s)
			if kind == "shm" {
				eventually(t, "its memory is seen", func() bool { return p.peak.Load() >= hog })
				p.Cancel()
				wait(t, p)
				return
			}
			if res := wait(t, p); res.Cause != MemoryExceeded || res.MaxRSS < s.Memory {
				t.Errorf("%v, %d MiB, %q", res.Cause, res.MaxRSS>>20, output(t, s, Stderr))
			}
		})
	}
}

// Nor is it hidden by the end of the main thread, whose place in /proc is that of the process.
func TestMemoryOfAProcessWithoutItsMainThread(t *testing.T) {
	both(t, testMemoryOfAProcessWithoutItsMainThread)
}

func testMemoryOfAProcessWithoutItsMainThread(t *testing.T, r *Runner) {
	kinds := []string{"private", "memfd", "untouched"}
	if !r.sandbox.Boxes() {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		s := spec(t, r, "exec ./role")
		role(t, r, &s, leaderEnded)
		s.Env, s.Memory = append(s.Env, "THEN="+kind), hog*6/10
		if res := wait(t, start(t, r, s)); res.Cause != MemoryExceeded || res.MaxRSS < s.Memory {
			t.Errorf("%s: %v, %d MiB, %q", kind, res.Cause, res.MaxRSS>>20, output(t, s, Stderr))
		}
	}
}

// The memory of a process is found behind the groups of its user.
func TestMemoryOfAUserOfManyGroups(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("groups are root's to give")
	}
	c := exec.Command("sleep", "1000")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{}}
	for i := range uint32(20_000) {
		c.SysProcAttr.Credential.Groups = append(c.SysProcAttr.Credential.Groups, 100_000+i)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if s := readStatus("/proc", c.Process.Pid); !s.has || s.all == 0 || s.threads != 1 {
		t.Errorf("%+v", s)
	}
}

// What was swapped out counts, and so does what the kernel has of an empty message, or of a semaphore for a thread.
func TestSystemVObjects(t *testing.T) {
	list := func(text string) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), "list"))
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	if n := segments(list("key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n" +
		"0 0 600 9000000 1 1 0 0 0 0 0 1 1 1 4096 8192\n0 1 600 9000000 1 1 0 0 0 0 0 1 1 1 100 0\n")); n != 4096+8192+100 {
		t.Errorf("segments have %d", n)
	}
	if n := semaphores(list("key semid perms nsems uid gid cuid cgid otime ctime\n0 0 600 1000 0 0 0 0 0 1\n"),
		5); n != 256+74_000 {
		t.Errorf("semaphores have %d", n)
	}
	if n := messages(list("key msqid perms cbytes qnum lspid lrpid uid gid cuid cgid stime rtime ctime\n" +
		"0 0 600 10 16000 1 1 0 0 0 0 0 0 1\n")); n != 256+10+16_000*64 {
		t.Errorf("messages have %d", n)
	}
}

// What a task within its bound holds in several places is not counted twice.
func TestMemoryIsCountedOnce(t *testing.T) {
	r := newRunner(t)
	if !r.sandbox.Boxes() {
		t.Skip("no boxes here")
	}
	s := spec(t, r,
		`head -c 60000000 /dev/zero >/dev/shm/f; (tail -c +1 /dev/shm/f >/dev/null; sleep 1) & sleep 1; wait; exit 7`)
	s.Memory = 100 << 20
	if res := wait(t, start(t, r, s)); res.Code() != 7 {
		t.Errorf("code %d: %s", res.Code(), res.Error)
	}
}

// Processes are bounded by the kernel, for each task by itself.
func TestProcessesAreBounded(t *testing.T) {
	r := newRunner(t)
	if !r.sandbox.Boxes() {
		t.Skip("no boxes here")
	}
	const script = `i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done 2>/dev/null; echo $i`
	beside := spec(t, r, `i=0; while [ $i -lt 20 ]; do sleep 3 & i=$((i+1)); done; echo $i`)
	beside.MaxProcs = 40
	other := start(t, r, beside)
	s := spec(t, r, script)
	s.MaxProcs = 30
	res, out := run(t, r, s)
	if res.Code() == 0 || out == "60\n" {
		t.Errorf("60 processes ran where 30 may: code %d, %q", res.Code(), out)
	}
	eventually(t, "the task beside it makes its own 20", func() bool {
		return output(t, beside, Stdout) == "20\n" || output(t, beside, Stderr) != ""
	})
	other.Cancel()
	if wait(t, other); output(t, beside, Stderr) != "" {
		t.Errorf("the task beside it could not: %q", output(t, beside, Stderr))
	}
}
