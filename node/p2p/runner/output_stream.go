package runner

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/exec/process"
	"skep/grid"
	"skep/node/p2p/wire"
)

// OutputProtocol is the protocol of output streams.
const OutputProtocol = "/skep/output/1"

// OutputRequest is the size of the request on an output stream: the attempt (origin, nonce, index, epoch, number),
// stream, follow, and offset. The answer is a status and the bytes; the stream is reset if the request cannot be
// answered.
const OutputRequest = wire.AttemptSize + 1 + 1 + 8

// errNotRunning reports that a node has no process of an attempt, so it has printed nothing there.
var errNotRunning = errors.New("it does not run there")

// NoOutput reports whether an error of OpenOutput means that there is nothing to read: an output file is created with
// its first byte.
func NoOutput(err error) bool {
	return errors.Is(err, errNotRunning) || errors.Is(err, fs.ErrNotExist)
}

// OpenOutput opens the output of an attempt from an offset on, here or at the node that runs it. With follow it waits
// for the attempt to start, and for more until it ends.
func (r *Runner) OpenOutput(ctx context.Context, worker grid.NodeID, id grid.AttemptID, s process.Stream, offset int64,
	follow bool) (io.ReadCloser, error) {
	if worker == r.cfg.Self {
		return r.tail(ctx, id, s, offset, follow)
	}
	return r.remoteOutput(ctx, worker, id, s, offset, follow)
}

// tail returns the output of an attempt here; with follow it waits for it to start.
func (r *Runner) tail(ctx context.Context, id grid.AttemptID, s process.Stream, offset int64, follow bool) (
	io.ReadCloser, error) {
	a := r.lookup(id)
	if a == nil {
		return r.stopped.open(id, s, offset)
	}
	if follow {
		select {
		case <-a.processKnown:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p := r.processOf(a)
	switch {
	case p == nil:
		return nil, errNotRunning
	case follow:
		return p.Tail(ctx, s, offset)
	}
	file, err := os.Open(process.Output(a.dir, s))
	if err == nil {
		_, err = file.Seek(offset, io.SeekStart)
	}
	return file, err
}

// remoteOutput opens an output stream to the node that runs an attempt.
func (r *Runner) remoteOutput(ctx context.Context, n grid.NodeID, id grid.AttemptID, s process.Stream, offset int64,
	follow bool) (io.ReadCloser, error) {
	st, err := r.cfg.Peers.Open(ctx, n, OutputProtocol)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	request := append(wire.AppendAttempt(make([]byte, 0, OutputRequest), id), byte(s), 0)
	if follow {
		request[len(request)-1] = 1
	}
	request = binary.BigEndian.AppendUint64(request, uint64(offset))
	st.SetWriteDeadline(time.Now().Add(requestDeadline))
	if !follow {
		st.SetReadDeadline(time.Now().Add(requestDeadline))
	}
	var status [1]byte
	if _, err = st.Write(request); err == nil {
		_, err = io.ReadFull(st, status[:]) // with follow it arrives when the task starts
	}
	switch {
	case errors.Is(err, network.ErrReset):
		err = errors.New("broke off the answer")
	case err != nil || status[0] == wire.StatusOK:
	case status[0] == wire.StatusBusy:
		err = errors.New("is busy")
	default:
		err = errNotRunning
	}
	if err != nil {
		stop()
		st.Reset()
		return nil, err
	}
	return &remoteTail{st, stop, follow}, nil
}

type remoteTail struct {
	network.Stream
	stop  func() bool
	quiet bool // nothing may come for long
}

// Read reads what has arrived.
func (t *remoteTail) Read(b []byte) (int, error) {
	if !t.quiet {
		t.SetReadDeadline(time.Now().Add(fetchStall))
	}
	return t.Stream.Read(b)
}

func (t *remoteTail) Close() error {
	t.stop()
	return t.Stream.Reset()
}

// mayReadOutput reports whether a node may read the output of an attempt here: its job's origin, or a member of the
// register that it was offered with. Members named by others, with other attempts, may not.
func (r *Runner) mayReadOutput(id grid.AttemptID, n grid.NodeID) bool {
	if id.Task.Job.Origin == n {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.m[id]
	return a != nil && slices.Contains(a.members, n) || r.stopped.mayRead(id, n)
}

// ServeOutput answers a request for the output of an attempt that runs here. Only the job's origin, or another
// member of its register, may ask: whoever asks these has shown them the job's capability, if it has one.
func (r *Runner) ServeOutput(n grid.NodeID, st network.Stream, b []byte, w io.Writer) {
	id := wire.AttemptIn(b)
	offset := int64(binary.BigEndian.Uint64(b[56:]))
	if !r.mayReadOutput(id, n) || offset < 0 {
		r.cfg.Drop("request")
		st.Reset()
		return
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	r.work.Go(func() {
		st.Read(make([]byte, 1)) // the asker sends nothing more: this returns when it has gone
		cancel()
	})
	st.SetWriteDeadline(time.Time{})
	out, err := r.tail(ctx, id, process.Stream(b[54]&1), offset, b[55] != 0)
	switch {
	case NoOutput(err):
		w.Write([]byte{wire.StatusNone})
		return
	case err != nil:
		r.cfg.Log.Debug("output not served", "task", id.Task, "error", err)
		st.Reset()
		return
	}
	defer out.Close()
	if _, err := w.Write([]byte{wire.StatusOK}); err == nil {
		if _, err = io.Copy(w, out); err != nil {
			st.Reset()
		}
	}
}
