package record

import (
	"io"

	"skep/grid"
	"skep/node"
	"skep/sim"
)

// Recorder writes a recording. Its calls come from one goroutine, in the order Begin, Restored, and then
// Before and After for each step. When something cannot be written, or the bound is reached, it stops, says
// so once through stopped, and the node goes on.
type Recorder struct {
	out     io.Writer
	version string
	most    int64
	stopped func(error)
	w       *writer
	off     bool
}

// New returns a recorder that writes at most so many bytes to out.
func New(out io.Writer, version string, most int64, stopped func(error)) *Recorder {
	return &Recorder{out: out, version: version, most: most, stopped: stopped}
}

// Begin says what the node was made from.
func (r *Recorder) Begin(c node.Config, wall grid.Wall) {
	c.Scratch, c.Balance.Scratch = nil, nil
	r.w = newWriter(r.out, &Header{Version: r.version, Zero: wall.Zero, Config: c})
	r.look()
}

// Restored says which record the node was given back.
func (r *Recorder) Restored(rec *grid.Record) { r.put(&item{Record: rec}) }

// Before says what the node is about to be told.
func (r *Recorder) Before(now grid.Time, ev *grid.Event) { r.put(&item{Now: now, Event: ev}) }

// After says what the node then did, and nothing of what it did before.
func (r *Recorder) After(fx *grid.Effects) {
	if r.w != nil && !r.off {
		r.put(&item{Did: &did{Digest: sim.DigestOf(fx), Text: described(fx)}})
	}
}

// Flush brings what was recorded so far to where it is written.
func (r *Recorder) Flush() error {
	if r.w == nil {
		return nil
	}
	if err := r.w.w.Flush(); err != nil {
		return err
	}
	return r.w.err
}

func described(fx *grid.Effects) string {
	s := sim.Describe(fx)
	return s[:min(len(s), maxText)]
}

func (r *Recorder) put(it *item) {
	if r.w == nil || r.off {
		return
	}
	r.w.item(it)
	r.look()
}

// look stops the recording where it cannot go on.
func (r *Recorder) look() {
	err := r.w.err
	if err == nil && r.w.wrote > r.most {
		err = ErrFull
	}
	if err != nil && !r.off {
		r.off = true
		r.w.w.Flush()
		r.stopped(err)
	}
}
