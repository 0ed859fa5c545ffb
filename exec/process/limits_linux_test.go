package process

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Tasks that hold 100 MiB: of their own, or of a file that several may map.
func init() {
	hold := func(fd, flags int) {
		b, err := unix.Mmap(fd, 0, 100<<20, unix.PROT_READ|unix.PROT_WRITE, flags)
		if err != nil {
			panic(err)
		}
		for i := 0; i < len(b); i += os.Getpagesize() {
			b[i] = 1
		}
		os.WriteFile("ready", nil, 0o644)
		time.Sleep(time.Minute)
	}
	roles["memory"] = func() { hold(-1, unix.MAP_ANON|unix.MAP_PRIVATE) }
	roles["shared memory"] = func() {
		f, err := os.OpenFile("mapped", os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			err = f.Truncate(100 << 20)
		}
		if err != nil {
			panic(err)
		}
		hold(int(f.Fd()), unix.MAP_SHARED)
	}
}

func TestLimitsAreSetBeforeTheTaskRuns(t *testing.T) { both(t, testLimitsAreSetBeforeTheTaskRuns) }

func testLimitsAreSetBeforeTheTaskRuns(t *testing.T, r *Runner) {
	s := spec(t, r, `ulimit -n; ulimit -c; ulimit -t`)
	s.MaxOpen, s.Timeout = 77, time.Hour
	res, out := run(t, r, s)
	lines := strings.Fields(out)
	if res.Code() != 0 || len(lines) != 3 || lines[0] != "77" || lines[1] != "0" || lines[2] == "unlimited" {
		t.Errorf("code %d, limits %q", res.Code(), lines)
	}
}

// What the kernel counts for a user, and priorities, are bounded whatever the node's own limits are.
func TestLimitsOfWhatAUserShares(t *testing.T) { both(t, testLimitsOfWhatAUserShares) }

func testLimitsOfWhatAUserShares(t *testing.T, r *Runner) {
	_, out := run(t, r, spec(t, r, `cat /proc/self/limits`))
	for name, most := range map[string]int64{"core file size": 1, "nice priority": 0, "realtime priority": 0,
		"locked memory": 8 << 20,
		"msgqueue size": 800 << 10, "pending signals": 4096, "open files": 65_536} {
		_, line, _ := strings.Cut(out, "Max "+name+" ")
		f := strings.Fields(line)
		if len(f) < 2 {
			t.Fatalf("%q has no %s", out, name)
		}
		for _, word := range f[:2] {
			if n, err := strconv.ParseInt(word, 10, 64); err != nil || n > most {
				t.Errorf("%s: %s, want at most %d", name, word, most)
			}
		}
	}
}

func TestFileSizeLimit(t *testing.T) { both(t, testFileSizeLimit) }

func testFileSizeLimit(t *testing.T, r *Runner) {
	s := spec(t, r, `exec head -c 2000000 /dev/zero >big`)
	s.MaxFile = 1_000_000
	if res, _ := run(t, r, s); res.Code() != 128+25 {
		t.Errorf("code %d, want that of SIGXFSZ", res.Code())
	}
	s = spec(t, r, `head -c 2000000 /dev/zero`) // output is no file of the task
	s.MaxFile = 1_000_000
	if res, out := run(t, r, s); res.Code() != 0 || len(out) != 2_000_000 {
		t.Errorf("code %d, kept %d", res.Code(), len(out))
	}
}

// A task may make its pipe larger and leave all of its output in there.
func init() {
	roles["wide pipe"] = func() {
		unix.FcntlInt(1, unix.F_SETPIPE_SZ, 1<<20)
		os.Stdout.Write(make([]byte, 1<<20))
	}
}

func TestOutputLeftInThePipeIsKept(t *testing.T) {
	r := newRunner(t)
	for range 10 {
		s := spec(t, r, "exec ./role")
		role(t, r, &s, "wide pipe")
		if res, out := run(t, r, s); res.Code() != 0 || len(out) != 1<<20 {
			t.Fatalf("code %d, kept %d", res.Code(), len(out))
		}
	}
}

func TestMemoryBoundCountsTheWholeGroup(t *testing.T) { inTurn(t, testMemoryBoundCountsTheWholeGroup) }

func testMemoryBoundCountsTheWholeGroup(t *testing.T, r *Runner) {
	hog := func(kind, script string) Result {
		s := spec(t, r, script)
		role(t, r, &s, kind)
		s.Memory = 170 << 20
		return wait(t, start(t, r, s))
	}
	const some = `while [ ! -e ready ]; do sleep 0.02; done; sleep 0.5; kill $(jobs -p); exit 7`
	res := hog("memory", `./role & ./role & wait`)
	if res.Cause != MemoryExceeded || res.Code() != 137 || !strings.Contains(res.Error, "memory") || res.MaxRSS < 170<<20 {
		t.Errorf("%v, code %d, %q, max %d MiB", res.Cause, res.Code(), res.Error, res.MaxRSS>>20)
	}
	res = hog("memory", `./role & `+some)
	if res.Code() != 7 || res.MaxRSS < 100<<20 {
		t.Errorf("within its bound: code %d, %q, max %d MiB", res.Code(), res.Error, res.MaxRSS>>20)
	}
	res = hog("shared memory", `./role & ./role & `+some)
	if res.Code() != 7 {
		t.Errorf("shared: code %d, %q, max %d MiB", res.Code(), res.Error, res.MaxRSS>>20)
	}
}

func TestShareIsAPartOfACore(t *testing.T) {
	r := newRunner(t)
	spin := func(share float64) *Process {
		s := spec(t, r, `while :; do :; done`)
		s.Share, s.Timeout = share, 1500*time.Millisecond
		return start(t, r, s)
	}
	half, all := spin(0.5), spin(1)
	res, full := wait(t, half), wait(t, all)
	// Against the clock: never more than half. Against a task that may run all the time: not much
	// less than half either, also where both have to share the machine with others.
	if share := res.CPU.Seconds() / res.Wall.Seconds(); share > 0.65 {
		t.Errorf("%v of CPU in %v: a share of %.2f, want 0.5", res.CPU, res.Wall, share)
	}
	if res.CPU < full.CPU/5 {
		t.Errorf("%v of CPU while another had %v", res.CPU, full.CPU)
	}
	if res.Cause != TimedOut || res.Signal != int(unix.SIGTERM) {
		t.Errorf("%v, signal %d: a task that is paused must take SIGTERM", res.Cause, res.Signal)
	}
}

func TestManyAtOnceLeaveNothing(t *testing.T) {
	r := newRunner(t)
	run(t, r, spec(t, r, `true`)) // opens what is opened once
	count := func(dir string) int {
		names, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	fds, started := count("/proc/self/fd"), sync.WaitGroup{}
	for range 200 {
		s := spec(t, r, "echo x; exit 3")
		s.Timeout = time.Minute
		started.Go(func() {
			p, err := r.Start(s)
			if err != nil {
				t.Error(err)
			} else if res := p.Wait(); res.Code() != 3 {
				t.Errorf("code %d: %s", res.Code(), res.Error)
			}
		})
	}
	started.Wait()
	r.Close()
	if now := count("/proc/self/fd"); now > fds {
		t.Errorf("%d open files, %d before", now, fds)
	}
	var status unix.WaitStatus
	if pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil); err != unix.ECHILD {
		t.Errorf("a child was left: %d, %v", pid, err)
	}
}
