//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
	"skep/grid"
)

// hurry shortens the times that others are waited for.
func hurry(t *testing.T) {
	ask, start := askTime, startTime
	askTime, startTime = 200*time.Millisecond, time.Second
	t.Cleanup(func() { askTime, startTime = ask, start })
}

// A stub that neither answers nor receives holds nobody up.
func TestStubThatDoesNotAnswer(t *testing.T) {
	hurry(t)
	ours, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	defer ours.close()
	b := &Box{control: ours}
	if _, _, _, err := b.Look(); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("%v", err)
	}
	for begun := time.Now(); b.Signal(unix.SIGCONT) == nil; {
		if time.Since(begun) > time.Minute {
			t.Fatal("there is always room for a signal")
		}
	}
}

// What a stub has told counts though it ended before it read all that it was asked, as when its task ends by the first
// of two signals.
func TestStubThatEndsWithoutReading(t *testing.T) {
	ours, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.close()
	if _, err := theirs.WriteString("its end"); err != nil {
		t.Fatal(err)
	}
	if err := ours.send([]byte("a signal"), nil); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	b := make([]byte, 100)
	if n, _, err := ours.receive(b, nil); err != nil || string(b[:n]) != "its end" {
		t.Errorf("%q, %v", b[:max(n, 0)], err)
	}
	if _, _, err := ours.receive(b, nil); err != io.EOF {
		t.Errorf("then %v", err)
	}
}

// A program whose exec takes without end, as on a file system that hangs, fails alone. Without boxes one process forks
// all commands, and another takes its place.
func TestProgramThatCannotBeReached(t *testing.T) {
	for _, level := range []grid.Isolation{grid.IsolationBasic, grid.IsolationNone} {
		s := open(t, func(o *Options) { o.Level = level })
		if err := os.MkdirAll(s.opts.Work, 0o700); err != nil {
			t.Fatal(err)
		}
		here := func(p *Spec) { p.Command.Dir = "/" }
		begin(t, s, "true", here).end()
		hurry(t)
		before := s.forker
		b := &Box{s: s, forker: s.forker, started: make(chan error, 1), exited: make(chan struct{}),
			empty: make(chan struct{})}
		q := newRequest(0) // which nobody carries out
		ours, theirs, err := socketpair()
		if err != nil {
			t.Fatal(err)
		}
		if s.Boxes() {
			b.control = ours
		} else {
			ours.close()
			theirs.Close()
			theirs = nil
		}
		if err := b.begin(q, nil, theirs); err != errLate {
			t.Errorf("%v: %v", level, err)
		}
		b.Close()
		if out, _ := begin(t, s, "echo on", here).end(); out != "on\n" || !s.Boxes() && s.forker == before {
			t.Errorf("%v: the next prints %q", level, out)
		}
	}
}

// Without boxes a program that was given up before it began does not run when it begins after all: nobody would watch
// it.
func TestProgramThatBeginsTooLate(t *testing.T) {
	s := open(t, func(o *Options) { o.Level = grid.IsolationNone })
	if err := os.MkdirAll(s.opts.Work, 0o700); err != nil {
		t.Fatal(err)
	}
	defer func(d time.Duration) { startTime = d }(startTime)
	startTime = 100 * time.Millisecond
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	slow := -s.forker.cmd.Process.Pid                     // with what it has forked
	if err := unix.Kill(slow, unix.SIGSTOP); err != nil { // as if it hung in an exec
		t.Fatal(err)
	}
	_, err = s.Start(&Spec{Command: Command{Path: "/bin/sh", Dir: "/", Argv: []string{"sh", "-c", "exec sleep 1000"},
		Env:   []string{"PATH=/usr/bin:/bin"},
		Files: [3]int{int(null.Fd()), int(theirs.Fd()), int(theirs.Fd())}}})
	theirs.Close()
	if err != errLate {
		t.Fatal(err)
	}
	if err := unix.Kill(slow, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	out.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := out.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("it runs: %v", err)
	}
}

// A file system that hangs, as of a server that is gone, keeps a new zygote from being set up. Tasks go on in boxes of
// the former, and the node can end.
func TestZygoteThatHangs(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	dir := t.TempDir()
	server, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { server.Close() })
	if err := unix.Mount("hangs", dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0",
		server.Fd())); err != nil {
		t.Skip("no file system that hangs: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	warned := make(chan error, 1)
	s := open(t, func(o *Options) { o.Warn = func(_ string, err error) { warned <- err } })
	defer func(d time.Duration) { setUpTime = d }(setUpTime)
	setUpTime = 300 * time.Millisecond
	s.tree.mounts = append(slices.Clip(s.tree.mounts), zygote.Mount{Source: dir + "/lost", Target: "/lost"})
	s.etc.stamps[1].size++
	s.etc.looked = time.Now().Add(-time.Hour)
	if out, _ := begin(t, s, "echo on", nil).end(); out != "on\n" {
		t.Errorf("the next prints %q", out)
	}
	if err := <-warned; err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("%v", err)
	}
}

// A zygote that uses the processor is waited for beyond the deadline, not for ever; one that does not has hung.
func TestWaitGoesOnWhileTheProcessRuns(t *testing.T) {
	late := fmt.Errorf("read: %w", os.ErrDeadlineExceeded)
	for name, c := range map[string]struct {
		used    []time.Duration // at the beginning, and after each wait
		answers int             // the wait that is answered; 0 = none is
		waits   int
		want    error
	}{
		"answer":     {[]time.Duration{0, 1}, 1, 1, nil},
		"hangs":      {[]time.Duration{0, 0}, 2, 1, late},
		"busy":       {[]time.Duration{0, 1, 2, 3}, 3, 3, nil},
		"hangs then": {[]time.Duration{0, 1, 1}, 3, 2, late},
		"gone":       {[]time.Duration{0, 1, 0}, 3, 2, late},
		"for ever":   {[]time.Duration{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, 0, patience + 1, late},
	} {
		looks, waits := 0, 0
		err := whileBusy(func() error {
			if waits++; waits == c.answers {
				return nil
			}
			return late
		}, func() time.Duration { looks++; return c.used[looks-1] })
		if err != c.want || waits != c.waits {
			t.Errorf("%s: %v after %d waits, want %v after %d", name, err, waits, c.want, c.waits)
		}
	}
	before := processorTime(os.Getpid())
	for processorTime(os.Getpid()) == before {
	}
	if none := processorTime(1 << 23); before <= 0 || none != 0 {
		t.Errorf("this process has used %v, none %v; want some, and nothing", before, none)
	}
}

// A zygote of which nothing is heard any more does not keep the node from ending.
func TestForkerThatDoesNotEnd(t *testing.T) {
	defer func(d time.Duration) { setUpTime = d }(setUpTime)
	setUpTime = time.Millisecond
	ours, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	defer ours.close()
	closeForkers([]*forker{nil, {socket: ours, dead: make(chan struct{})}, {socket: ours, dead: make(chan struct{})}})
}
