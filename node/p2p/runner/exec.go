package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/exec/session"
	"skep/grid"
	"skep/node/p2p/wire"
)

// ExecProtocol is the protocol of streams that run a command beside a task.
const ExecProtocol = "/skep/exec/1"

// ExecRequest is the size of the request on such a stream: the attempt. The answer is a status; after StatusOK comes a
// session of package session.
const ExecRequest = wire.AttemptSize

// Bounds of the commands that run beside tasks at the same time: of one task, of those that one node asks for, and of
// all. Each has five descriptors, as many goroutines, and buffers of 100 KiB; what it holds else is its task's.
const (
	ExecsPerTask = sandbox.Seconds
	ExecsPerPeer = 16
	ExecsPerNode = 32
)

// Errors of OpenExec.
var (
	ErrNotRunning = errors.New("it does not run there: it has not begun, or has just ended")
	ErrExecBusy   = fmt.Errorf("it has as many further commands as it may: at most %d of a task, %d for one node, and %d "+
		"at a node", ExecsPerTask, ExecsPerPeer, ExecsPerNode)
)

// OpenExec opens a session, as package session has it, with the node that runs an attempt, to run a command beside it.
// The command ends when the connection does.
func (r *Runner) OpenExec(ctx context.Context, worker grid.NodeID, id grid.AttemptID) (io.ReadWriteCloser, error) {
	if worker != r.cfg.Self {
		return r.openRemoteExec(ctx, worker, id)
	}
	p, leave, err := r.admitExec(id, r.cfg.Self)
	if err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	serve := func() {
		defer leave()
		defer theirs.Close()
		r.serveExec(theirs, p)
	}
	if !r.work.Go(serve) {
		leave()
		return nil, context.Canceled
	}
	return ours, nil
}

// openRemoteExec is OpenExec at another node.
func (r *Runner) openRemoteExec(ctx context.Context, worker grid.NodeID, id grid.AttemptID) (io.ReadWriteCloser,
	error) {
	st, err := r.cfg.Peers.Open(ctx, worker, ExecProtocol)
	if err != nil {
		return nil, err
	}
	st.SetDeadline(time.Now().Add(requestDeadline))
	if _, err := st.Write(wire.AppendAttempt(make([]byte, 0, ExecRequest), id)); err != nil {
		st.Reset()
		return nil, err
	}
	switch s := readStatus(st); {
	case s.err != nil: // also from one of an older version, of which the first read learns that
		st.Reset()
		return nil, fmt.Errorf("it gave no answer, as a node of an older version does not: %w", s.err)
	case s.status == wire.StatusBusy:
		st.Close()
		return nil, ErrExecBusy
	case s.status != wire.StatusOK:
		st.Close()
		return nil, ErrNotRunning
	}
	st.SetDeadline(time.Time{})
	return remoteExec{st}, nil
}

// remoteExec is a session with another node.
type remoteExec struct{ network.Stream }

// Close resets the stream: in order it has ended before.
func (e remoteExec) Close() error { return e.Reset() }

// ServeExec runs a command beside a task that runs here. Only the job's origin may ask.
// The stream needs its seat only until the command is admitted.
func (r *Runner) ServeExec(n grid.NodeID, st network.Stream, b []byte, w io.Writer, freeSeat func() bool) {
	id := wire.AttemptIn(b)
	if n != id.Task.Job.Origin {
		r.cfg.Drop("request")
		st.Reset()
		return
	}
	p, leave, err := r.admitExec(id, n)
	switch {
	case errors.Is(err, ErrExecBusy):
		r.cfg.Drop("busy")
		w.Write([]byte{wire.StatusBusy})
		return
	case err != nil:
		w.Write([]byte{wire.StatusNone})
		return
	}
	defer leave()
	if !freeSeat() {
		return
	}
	if _, err := w.Write([]byte{wire.StatusOK}); err != nil {
		st.Reset()
		return
	}
	st.SetWriteDeadline(time.Time{}) // a command may print faster than its client reads
	if r.serveExec(st, p) != nil {
		st.Reset()
	}
}

// execConn is a connection of a session.
type execConn interface {
	session.Conn
	io.Closer
	SetReadDeadline(time.Time) error
}

// serveExec runs the command of a session beside a task.
func (r *Runner) serveExec(conn execConn, p *process.Process) error {
	stop := context.AfterFunc(r.ctx, func() { conn.Close() })
	defer stop()
	conn.SetReadDeadline(time.Now().Add(requestDeadline))
	started := func() { conn.SetReadDeadline(time.Time{}) }
	err := session.Serve(conn, started, func(q *session.Request) (session.Command, error) {
		f, err := r.processes.Exec(p, process.Command{Argv: q.Argv, Env: q.Env, Terminal: q.Terminal})
		var no *process.ExecError
		switch {
		case errors.As(err, &no) && no.Cause == process.NotFound:
			return nil, &session.StartError{Code: grid.ExitNotFound, Err: err}
		case errors.As(err, &no):
			return nil, &session.StartError{Code: grid.ExitCannotExecute, Err: err}
		case err != nil:
			return nil, err
		}
		return f, nil
	})
	if err != nil {
		r.cfg.Log.Debug("command beside a task", "error", err)
	}
	return err
}

// admitExec returns the process of an attempt that runs here, and counts one more command beside it until leave is
// called.
func (r *Runner) admitExec(id grid.AttemptID, from grid.NodeID) (p *process.Process, leave func(), err error) {
	a := r.lookup(id)
	if a == nil {
		return nil, nil, ErrNotRunning
	}
	select { // one that begins this moment is waited for
	case <-a.processKnown:
	case <-time.After(startPoll):
	}
	p, ok := r.processOf(a).(*process.Process)
	if !ok || r.hasEnded(a) { // or it is no process of this machine
		return nil, nil, ErrNotRunning
	}
	if !r.execs.add(id, from) {
		return nil, nil, ErrExecBusy
	}
	return p, func() { r.execs.remove(id, from) }, nil
}

func (r *Runner) hasEnded(a *attempt) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return a.ended || a.dropped
}

// execs counts the commands beside tasks: by task, by who asked, and all.
type execs struct {
	mu     sync.Mutex
	all    int
	byTask map[grid.AttemptID]int
	byPeer map[grid.NodeID]int
}

// add counts one more; false: a bound is reached.
func (x *execs) add(id grid.AttemptID, from grid.NodeID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all >= ExecsPerNode || x.byTask[id] >= ExecsPerTask || x.byPeer[from] >= ExecsPerPeer {
		return false
	}
	if x.all == 0 {
		x.byTask, x.byPeer = make(map[grid.AttemptID]int), make(map[grid.NodeID]int)
	}
	x.all++
	x.byTask[id]++
	x.byPeer[from]++
	return true
}

func (x *execs) remove(id grid.AttemptID, from grid.NodeID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all--
	if x.byTask[id]--; x.byTask[id] == 0 {
		delete(x.byTask, id)
	}
	if x.byPeer[from]--; x.byPeer[from] == 0 {
		delete(x.byPeer, from)
	}
}
