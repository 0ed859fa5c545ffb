package p2p

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/exec/process"
	"skep/grid"
	"skep/node"
)

const outputProtocol = "/skep/output/1"

// outputRequest is the size of what the asker of an output stream sends: the attempt (origin, nonce,
// index, epoch, number), stream, follow, and offset. The answer is a status and the bytes.
const outputRequest = 32 + 10 + 4 + 4 + 4 + 1 + 1 + 8

// quickTask is how long a task may take before anybody opens a stream for its output: a short one's
// output comes with its result.
const quickTask = 20 * time.Millisecond

// viewer is what Output needs of a node.
type viewer interface {
	Task(grid.TaskID) (node.TaskView, bool)
}

// Output writes what a task of an own job prints, from a byte offset on, to w: from its result, or from
// where it runs. With follow it waits for more and returns when the task has ended; if an attempt is
// lost, it goes on in the next one where it was.
func (d *Driver) Output(ctx context.Context, w io.Writer, t grid.TaskID, stderr bool, offset int64, follow bool) error {
	f := &following{d: d, w: w, task: t, stream: process.Stdout, offset: offset, follow: follow}
	if stderr {
		f.stream = process.Stderr
	}
	ch, stop := d.Watch(t.Job)
	defer stop()
	f.changed = ch
	return f.run(ctx)
}

// following is one call of Output.
type following struct {
	d       *Driver
	w       io.Writer
	task    grid.TaskID
	stream  process.Stream
	offset  int64
	follow  bool
	changed <-chan struct{}

	attempt grid.Attempt // being run, as far as is known
	since   time.Time    // when that was first seen
	dry     bool         // its stream has ended or failed
}

func (f *following) run(ctx context.Context) error {
	for {
		v, err := f.look(ctx)
		if err != nil {
			return err
		}
		if v.State == grid.Ended {
			return f.rest(ctx, &v)
		}
		wait := time.Hour
		if v.State == grid.Placed {
			if f.attempt != v.ID.Attempt || f.since.IsZero() {
				f.attempt, f.since, f.dry = v.ID.Attempt, time.Now(), false
			}
			if wait = quickTask - time.Since(f.since); wait <= 0 || !f.follow {
				if !f.dry {
					f.live(ctx, v.Worker)
				}
				wait = time.Second // for the result, or to try again
				f.dry = !f.dry
			}
		}
		if !f.follow {
			return nil
		}
		select {
		case <-f.changed:
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *following) look(ctx context.Context) (v node.TaskView, err error) {
	found := false
	err = f.d.loop.read(ctx, func(grid.Time) {
		if n, ok := f.d.node.(viewer); ok {
			v, found = n.Task(f.task)
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("task %s: was not submitted at this node", f.task)
	}
	return v, err
}

// rest writes what is missing of the output of an ended task.
func (f *following) rest(ctx context.Context, v *node.TaskView) error {
	if v.Result == nil {
		return nil
	}
	o := &v.Result.Stdout
	if f.stream == process.Stderr {
		o = &v.Result.Stderr
	}
	if f.offset >= int64(o.Size) {
		return nil
	}
	if o.Blob.IsZero() {
		_, err := f.w.Write(o.Inline[min(f.offset, int64(len(o.Inline))):])
		return err
	}
	if err := f.d.fetches.get(ctx, v.Worker, &grid.File{Path: "output", Blob: o.Blob, Size: o.Size}); err != nil {
		return err
	}
	file, size, err := f.d.blobs.Open(o.Blob)
	if err != nil {
		return fmt.Errorf("output of task %s: %w", f.task, err)
	}
	defer file.Close()
	_, err = io.Copy(f.w, io.NewSectionReader(file, f.offset, int64(size)-f.offset))
	return err
}

// live copies from the running task until its stream ends, or until the task has ended or moved.
func (f *following) live(ctx context.Context, worker grid.NodeID) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		if err := f.copy(ctx, worker); err != nil {
			f.d.log.Debug("live output", "task", f.task, "error", err)
		}
	}()
	for {
		select {
		case <-copied:
			return
		case <-f.changed:
			v, err := f.look(ctx)
			if err != nil || v.State != grid.Placed || v.ID.Attempt != f.attempt {
				cancel()
				<-copied
				return
			}
		}
	}
}

func (f *following) copy(ctx context.Context, worker grid.NodeID) error {
	id := grid.AttemptID{Task: f.task, Attempt: f.attempt}
	from, err := f.d.remoteOutput, error(nil)
	if worker == f.d.self {
		from = func(ctx context.Context, _ grid.NodeID, id grid.AttemptID, s process.Stream, offset int64, follow bool) (io.ReadCloser, error) {
			return f.d.tasks.tail(ctx, id, s, offset, follow)
		}
	}
	r, err := from(ctx, worker, id, f.stream, f.offset, f.follow)
	if err != nil {
		return err
	}
	defer r.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := f.w.Write(buf[:n]); err != nil {
				return err
			}
			f.offset += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// tail returns the output of an attempt here; with follow it waits for it to start.
func (t *tasks) tail(ctx context.Context, id grid.AttemptID, s process.Stream, offset int64, follow bool) (io.ReadCloser, error) {
	a := t.lookup(id)
	if a == nil {
		return nil, errors.New("no such attempt here")
	}
	if follow {
		select {
		case <-a.ran:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p := t.processOf(a)
	switch {
	case p == nil:
		return nil, errors.New("it does not run")
	case follow:
		return p.Tail(ctx, s, offset)
	}
	file, err := os.Open(process.Output(a.dir, s))
	if err == nil {
		_, err = file.Seek(offset, io.SeekStart)
	}
	return file, err
}

// remoteOutput opens an output stream to the node where an attempt runs.
func (d *Driver) remoteOutput(ctx context.Context, n grid.NodeID, id grid.AttemptID, s process.Stream, offset int64, follow bool) (io.ReadCloser, error) {
	open, cancel := context.WithTimeout(network.WithAllowLimitedConn(ctx, "skep"), askDeadline)
	defer cancel()
	st, err := d.host.NewStream(open, peerOf(n), outputProtocol)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	ask := append(make([]byte, 0, outputRequest), id.Task.Job.Origin[:]...)
	ask = append(ask, id.Task.Job.Nonce[:]...)
	ask = binary.BigEndian.AppendUint32(ask, id.Task.Index)
	ask = binary.BigEndian.AppendUint32(ask, id.Epoch)
	ask = binary.BigEndian.AppendUint32(ask, id.N)
	ask = append(ask, byte(s), 0)
	if follow {
		ask[len(ask)-1] = 1
	}
	ask = binary.BigEndian.AppendUint64(ask, uint64(offset))
	st.SetWriteDeadline(time.Now().Add(askDeadline))
	var status [1]byte
	if _, err = st.Write(ask); err == nil {
		_, err = io.ReadFull(st, status[:]) // with follow it comes when the task starts
	}
	if err == nil && status[0] != statusOK {
		err = errors.New("it does not run there")
	}
	if err != nil {
		stop()
		st.Reset()
		return nil, err
	}
	return &remoteTail{st, stop}, nil
}

type remoteTail struct {
	network.Stream
	stop func() bool
}

func (t *remoteTail) Close() error {
	t.stop()
	return t.Stream.Reset()
}

// serveOutput answers a request for the output of an attempt that runs here. Only the node that its job
// was submitted to may ask.
func (d *Driver) serveOutput(st network.Stream) {
	var ask [outputRequest]byte
	d.serveStream(st, &d.outputsServed, ask[:], func(n grid.NodeID) {
		b := ask[:]
		id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: grid.NodeID(b[:32]), Nonce: [10]byte(b[32:42])},
			Index: binary.BigEndian.Uint32(b[42:])}, Attempt: grid.Attempt{Epoch: binary.BigEndian.Uint32(b[46:]), N: binary.BigEndian.Uint32(b[50:])}}
		offset := int64(binary.BigEndian.Uint64(b[56:]))
		if id.Task.Job.Origin != n || offset < 0 {
			d.counts.drop("request")
			st.Write([]byte{statusNone})
			return
		}
		ctx, cancel := context.WithCancel(d.ctx)
		defer cancel()
		d.spawn(func() {
			st.Read(make([]byte, 1)) // the asker says nothing more: this returns when it has gone
			cancel()
		})
		st.SetWriteDeadline(time.Time{})
		r, err := d.tasks.tail(ctx, id, process.Stream(b[54]&1), offset, b[55] != 0)
		w := patient{st}
		if err != nil {
			w.Write([]byte{statusNone})
			return
		}
		defer r.Close()
		if _, err := w.Write([]byte{statusOK}); err == nil {
			_, err = io.Copy(w, r)
			if err != nil {
				st.Reset()
			}
		}
	})
}
