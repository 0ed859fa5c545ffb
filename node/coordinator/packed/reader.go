package packed

import (
	"encoding/binary"
	"time"

	"skep/grid"
	"skep/node/history"
)

// Tasks are the tasks of a packed job that are still to be read.
type Tasks struct {
	b    []byte
	self grid.NodeID
	of   Summary
	job  *Job
	next uint32
}

// Read reads a job of self: its summary, and what its tasks can be read from.
func (p *Job) Read(self grid.NodeID, wall grid.Wall) (s Summary, tasks Tasks) {
	r := Tasks{b: []byte(p.text), self: self, job: p}
	s = Summary{ID: grid.JobID{Origin: self}, Spec: p.spec}
	r.b = r.b[copy(s.ID.Nonce[:], r.b):]
	s.Cancelled = r.flags()&cancelled != 0
	s.Submitted = r.number()
	s.Arrived = grid.Time(s.Submitted + r.number() - wall.At(0).UnixNano())
	s.Done, s.QuietAt = s.Submitted+r.number(), grid.Time(r.number())
	s.NextFresh, s.BackupFrom = uint32(r.number()), uint32(r.number())
	s.Failed, s.Exit = int32(r.number()), int32(r.number())
	r.of = s
	return s, r
}

// Next reads the next task.
func (r *Tasks) Next() (t Task) {
	flags := r.flags()
	t.Held = flags&held != 0
	switch {
	case flags&here != 0:
		t.Worker = r.self
	case flags&hasWorker != 0:
		r.b = r.b[copy(t.Worker[:], r.b):]
	}
	switch {
	case flags&whole != 0:
		t.Result = (*r.job.results)[r.next].Compact()
	case flags&hasResult != 0:
		t.Result.Cause, t.Result.Exit = grid.Cause(r.number()), int32(r.number())
		t.Result.Waited, t.Result.Wall, t.Result.CPU = r.duration(), r.duration(), r.duration()
		t.Result.MaxRSS = grid.Bytes(r.number())
	}
	r.next++
	t.Attempt = grid.Attempt{Epoch: uint32(r.number()), N: uint32(r.number())}
	t.Backup = grid.Attempt{Epoch: uint32(r.number()), N: uint32(r.number())}
	t.Lost, t.Placed = int32(r.number()), r.of.Submitted+r.number()
	t.Began, t.Done = r.of.Submitted+r.number(), r.of.Done+r.number()
	size, k := binary.Uvarint(r.b)
	r.b = r.b[k:]
	if size > 0 {
		t.History = history.History(r.b[:size]).Rebase(history.Cursor{At: r.of.Arrived, Node: t.Worker}, nil,
			history.Cursor{})
	}
	r.b = r.b[size:]
	return t
}

func (r *Tasks) flags() byte {
	flags := r.b[0]
	r.b = r.b[1:]
	return flags
}

func (r *Tasks) number() int64 {
	x, size := binary.Varint(r.b)
	r.b = r.b[size:]
	return x
}

func (r *Tasks) duration() time.Duration { return time.Duration(r.number()) }
