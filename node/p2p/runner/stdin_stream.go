package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/wire"
)

// StdinProtocol is the protocol of streams that bring an attempt its standard input.
const StdinProtocol = "/skep/stdin/1"

// StdinRequest is the size of the request on such a stream: the attempt. The answer is a status when the task runs; the
// asker then sends the input and closes its side. At the end comes a second status: StatusOK if all of it was written
// to the task, StatusNone if the task reads no more. A stream that breaks off stops the task.
const StdinRequest = wire.AttemptSize

// startPoll is how long a stream waits for the start of its attempt, before its sender is told to try again.
const startPoll = 100 * time.Millisecond

// ErrStdinUnknown reports that a node has no running process of an attempt, or no seat for the stream: nothing was
// read, and it may be tried again.
var ErrStdinUnknown = errors.New("the attempt does not run there now")

// SendStdin sends an attempt its standard input, here or at the node that runs it, and waits for its start before it
// reads any. all reports that the whole input was written to the task, otherwise the task reads no more. With any error
// but ErrStdinUnknown the input is broken off and the task is stopped. It may return while it still reads from in.
func (r *Runner) SendStdin(ctx context.Context, worker grid.NodeID, id grid.AttemptID, in io.Reader) (all bool,
	err error) {
	if worker != r.cfg.Self {
		return r.sendRemoteStdin(ctx, worker, id, in)
	}
	a := r.stdinOf(id, r.cfg.Self)
	if a == nil {
		return false, ErrStdinUnknown
	}
	select {
	case <-a.processKnown:
	case <-ctx.Done(): // nothing was read: another may bring it
		return false, ctx.Err()
	}
	if r.processOf(a) == nil {
		return false, ErrStdinUnknown
	}
	if err := a.stdin.take(); err != nil {
		return false, err
	}
	done := make(chan error, 1)
	go func() { done <- a.stdin.feed(in) }() // it may read until in is closed
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
		a.stdin.breakOff(brokenOff(err))
	}
	return sentAll(err)
}

// sentAll is what SendStdin returns for the end of a copy.
func sentAll(err error) (bool, error) {
	switch {
	case errors.Is(err, io.EOF):
		return true, nil
	case errors.Is(err, errReaderGone):
		return false, nil
	}
	return false, err
}

// brokenOff is the error of a task whose input broke off.
func brokenOff(err error) error {
	const text = "its standard input broke off before its end, so it was stopped: "
	switch {
	case errors.Is(err, network.ErrReset), errors.Is(err, context.Canceled):
		return errors.New(text + "who sent it is gone")
	}
	return fmt.Errorf(text+"%w", err)
}

// feed brings the input to the attempt that runs. It returns an error of copyStdin.
func (s *stdinStream) feed(in io.Reader) error {
	err := s.copyStdin(in)
	if !errors.Is(err, io.EOF) && !errors.Is(err, errReaderGone) {
		s.breakOff(brokenOff(err))
	}
	return err
}

// stdinOf returns an attempt here whose standard input a node may send: its job's origin alone, where its submitter is.
func (r *Runner) stdinOf(id grid.AttemptID, from grid.NodeID) *attempt {
	if id.Task.Job.Origin != from {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.m[id]
	if a == nil || a.spec == nil || a.spec.Stdin != grid.StdinStream {
		return nil
	}
	return a
}

// StdinPerPeer is the number of streams that bring tasks of one origin their input at the same time. A task beyond it
// waits for one to end.
const StdinPerPeer = 96

// ServeStdin takes the standard input of an attempt that is here. The stream holds no more of it than its window and
// one piece: what the task does not read is not taken from the peer. It needs its seat only until the attempt is known
// to run: then it is one of StdinPerPeer, and no other peer's stream takes its place.
func (r *Runner) ServeStdin(n grid.NodeID, st network.Stream, b []byte, w io.Writer, freeSeat func() bool) {
	id := wire.AttemptIn(b)
	if id.Task.Job.Origin != n {
		r.cfg.Drop("request")
		st.Reset()
		return
	}
	a := r.stdinOf(id, n)
	if a == nil {
		w.Write([]byte{wire.StatusNone})
		return
	}
	select { // without holding a seat for long: others may run, and wait for one
	case <-a.processKnown:
	case <-time.After(startPoll):
		w.Write([]byte{wire.StatusNone})
		return
	case <-r.ctx.Done():
		st.Reset()
		return
	}
	p := r.processOf(a)
	if p == nil {
		w.Write([]byte{wire.StatusNone})
		return
	}
	if !r.feeds.add(n) {
		a.stdin.postpone()
		r.cfg.Drop("busy")
		w.Write([]byte{wire.StatusBusy})
		return
	}
	defer r.feeds.remove(n)
	if a.stdin.take() != nil {
		w.Write([]byte{wire.StatusTaken})
		return
	}
	if !freeSeat() {
		a.stdin.release()
		return
	}
	if _, err := w.Write([]byte{wire.StatusOK}); err != nil { // it was not sent, so the origin has read nothing
		a.stdin.release()
		st.Reset()
		return
	}
	in := &interruptible{st: st}
	r.work.Go(func() {
		p.Wait()
		in.stop()
	})
	switch err := a.stdin.feed(in); {
	case errors.Is(err, io.EOF):
		w.Write([]byte{wire.StatusOK})
	case errors.Is(err, errReaderGone):
		w.Write([]byte{wire.StatusNone})
	default:
		r.cfg.Log.Debug("standard input broke off", "task", id.Task, "error", err)
		st.Reset()
	}
}

// feeds counts the streams that bring tasks their input, by who sends them.
type feeds struct {
	mu sync.Mutex
	m  map[grid.NodeID]int
}

// add counts one more; false: the peer has StdinPerPeer.
func (f *feeds) add(n grid.NodeID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.m[n] >= StdinPerPeer {
		return false
	}
	if f.m == nil {
		f.m = make(map[grid.NodeID]int)
	}
	f.m[n]++
	return true
}

func (f *feeds) remove(n grid.NodeID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.m[n]--; f.m[n] == 0 {
		delete(f.m, n)
	}
}

// interruptible is a stream whose reading can be ended.
type interruptible struct {
	st   network.Stream
	over atomic.Bool
}

// stop ends reading: the task has ended, and nobody takes any more.
func (in *interruptible) stop() {
	in.over.Store(true)
	in.st.SetReadDeadline(time.Unix(1, 0))
}

// Read reads what has arrived. After stop the error is errReaderGone.
func (in *interruptible) Read(b []byte) (int, error) {
	n, err := in.st.Read(b)
	if err != nil && !errors.Is(err, io.EOF) && in.over.Load() {
		err = errReaderGone
	}
	return n, err
}
