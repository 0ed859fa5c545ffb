package packed

import (
	"encoding/binary"

	"skep/grid"
	"skep/node/history"
)

// Buffer is memory of a [Writer], free for reuse after it.
type Buffer struct{ job, history []byte }

// Writer packs a job.
type Writer struct {
	buffer *Buffer
	b      []byte
	self   grid.NodeID
	of     Summary
	job    Job
	next   uint32
}

// Write begins to pack a job of self; its tasks follow in order. Times are varints relative to the submission, so most
// take a few bytes.
func Write(self grid.NodeID, wall grid.Wall, s Summary, buffer *Buffer) Writer {
	b := append(buffer.job[:0], s.ID.Nonce[:]...)
	flags := byte(0)
	if s.Cancelled {
		flags |= cancelled
	}
	b = append(b, flags)
	for _, x := range [...]int64{s.Submitted, wall.At(s.Arrived).UnixNano() - s.Submitted, s.Done - s.Submitted,
		int64(s.QuietAt), int64(s.NextFresh), int64(s.BackupFrom), int64(s.Failed), int64(s.Exit)} {
		b = binary.AppendVarint(b, x)
	}
	return Writer{buffer: buffer, b: b, self: self, of: s, job: Job{nonce: prefix(s.ID), spec: s.Spec}}
}

// Task adds the next task.
func (w *Writer) Task(t *Task) {
	flags := byte(0)
	if t.Held {
		flags |= held
	}
	switch {
	case t.Worker == w.self:
		flags |= here
	case !t.Worker.IsZero():
		flags |= hasWorker
	}
	if r := &t.Result; r.Whole() != nil {
		flags |= whole
		if w.job.results == nil {
			all := make([]*grid.Result, w.of.Spec.Count)
			w.job.results = &all
		}
		(*w.job.results)[w.next] = r.Whole()
	} else if !r.None() {
		flags |= hasResult
	}
	w.next++
	b := append(w.b, flags)
	if flags&hasWorker != 0 {
		b = append(b, t.Worker[:]...)
	}
	if r := &t.Result; flags&hasResult != 0 {
		for _, x := range [...]int64{int64(r.Cause), int64(r.Exit), int64(r.Waited), int64(r.Wall), int64(r.CPU),
			int64(r.MaxRSS)} {
			b = binary.AppendVarint(b, x)
		}
	}
	for _, x := range [...]int64{int64(t.Attempt.Epoch), int64(t.Attempt.N), int64(t.Backup.Epoch), int64(t.Backup.N),
		int64(t.Lost), t.Placed - w.of.Submitted, t.Began - w.of.Submitted, t.Done - w.of.Done} {
		b = binary.AppendVarint(b, x)
	}
	h := t.History.Rebase(history.Cursor{}, w.buffer.history[:0],
		history.Cursor{At: w.of.Arrived, Node: t.Worker})
	w.buffer.history = h
	w.b = append(binary.AppendUvarint(b, uint64(len(h))), h...)
}

// Job returns the job once its tasks were added.
func (w *Writer) Job() Job {
	w.buffer.job, w.job.text = w.b, string(w.b)
	return w.job
}
