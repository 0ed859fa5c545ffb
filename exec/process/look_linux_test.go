package process

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"skep/exec/sandbox"
)

// stranger is a box that does not let itself be looked into: it fails, or hangs for as long as its channel is open.
type stranger struct {
	hangs chan struct{}
	asked chan struct{}
}

func (s *stranger) Signal(syscall.Signal) error { return nil }
func (s *stranger) Exited() <-chan struct{}     { return nil }
func (s *stranger) Empty() <-chan struct{}      { return nil }
func (s *stranger) End() sandbox.End            { return sandbox.End{} }
func (s *stranger) Close()                      {}

func (s *stranger) Look() (proc, shm *os.File, ipc [3]*os.File, err error) {
	select {
	case s.asked <- struct{}{}:
	default:
	}
	if s.hangs != nil {
		<-s.hangs
	}
	return nil, nil, ipc, errors.New("too many open files")
}

// A task that keeps the node from looking ends: its bound of memory could not be kept.
func TestBoxThatCannotBeLookedInto(t *testing.T) {
	w := watched{Process: &Process{spec: Spec{Memory: 1 << 30}}}
	w.view.of = &stranger{}
	for range blind {
		if w.asked.Load() != 0 {
			t.Fatal("it is ended at the first failure")
		}
		w.lookIntoBox(0, 0)
		w.judge()
	}
	if w.asked.Load() != 1+int32(MemoryExceeded) || !strings.Contains(w.said, "too many open files") {
		t.Errorf("asked %d, said %q", w.asked.Load(), w.said)
	}
}

// A box that takes long to look into does not hide what the others hold.
func TestBoxThatTakesLongToLookInto(t *testing.T) {
	r := newRunner(t)
	if !r.sandbox.Boxes() {
		t.Skip("no boxes here")
	}
	slow := &stranger{hangs: make(chan struct{}), asked: make(chan struct{}, 1)}
	defer close(slow.hangs)
	p := &Process{spec: Spec{Memory: 1 << 30, Dir: "elsewhere"}}
	r.watch.add(p, slow)
	<-slow.asked
	s := spec(t, r, "exec ./role")
	role(t, r, &s, "memfd")
	s.Memory = hog * 6 / 10
	if res := wait(t, start(t, r, s)); res.Cause != MemoryExceeded {
		t.Errorf("%v: %s", res.Cause, res.Error)
	}
	done := make(chan struct{})
	go func() {
		r.CPU()
		r.Unlinked(p)
		r.Written(p)
		r.watch.remove(p)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("who asks what the task has used, or ends it, waits for the look")
	}
}

// One that takes too long ends: until then its bound of memory is not kept.
func TestBoxThatTakesTooLongToLookInto(t *testing.T) {
	var w watcher
	w.init(true)
	p, hangs := &Process{spec: Spec{Memory: 1 << 30}}, make(chan struct{})
	w.tasks[p] = &watched{Process: p}
	w.tasks[p].view.of = &stranger{hangs: hangs}
	w.look()
	for range slow {
		if p.asked.Load() != 0 {
			t.Fatal("it is ended too soon")
		}
		w.look()
	}
	if p.asked.Load() != 1+int32(MemoryExceeded) || !strings.Contains(p.said, "15s") {
		t.Errorf("asked %d, said %q", p.asked.Load(), p.said)
	}
	close(hangs)
	w.looking.Wait()
}

// Of a box with more open files or mappings than can be looked at nobody knows what it holds.
func TestDescriptorsBeyondWhatIsLookedAt(t *testing.T) {
	for _, n := range []nameless{{descriptors: 2, mappings: 1 << 20}, {descriptors: 1 << 20, mappings: 2}} {
		n.seen, n.guessed = map[uint64]int64{}, map[uint64]int64{}
		n.opened("/proc/self/fd")
		n.mapped("/proc/self")
		if n.descriptors >= 0 && n.mappings >= 0 {
			t.Errorf("%d and %d are left", n.descriptors, n.mappings)
		}
	}
	w := watched{Process: &Process{spec: Spec{Memory: 1 << 30}}}
	w.nameless.over = "has too many"
	w.judge()
	if w.asked.Load() != 1+int32(MemoryExceeded) || w.said != "has too many" {
		t.Errorf("asked %d, said %q", w.asked.Load(), w.said)
	}
}
