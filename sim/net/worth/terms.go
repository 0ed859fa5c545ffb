package worth

import (
	"fmt"
	"strconv"
	"time"

	"skep/document"
	"skep/grid"
)

// Terms are what jobs of a class bid, and until when their results are wanted. The zero value is the usual bid and no
// deadline.
type Terms struct {
	Bid       [2]grid.Bid      // drawn evenly between; zero = the usual one
	At        [2]time.Duration // deadline, counted from the submission, drawn evenly between; zero = none
	Worthless [2]time.Duration // from when a result is worth nothing, drawn evenly between; zero = the deadline is hard
	Share     float64          // of the jobs that have a deadline
}

// Some reports whether the terms differ from those of a job that says nothing.
func (t *Terms) Some() bool { return *t != Terms{} }

// For returns a job with terms of its own. Every job takes as many draws, so that what is drawn for one does not depend
// on what the others have.
func (t *Terms) For(job *grid.JobSpec, r *grid.Rand) *grid.JobSpec {
	if !t.Some() {
		return job
	}
	bid, share, at, worthless := r.Float64(), r.Float64(), r.Float64(), r.Float64()
	out := *job
	out.Rules.Bid = t.Bid[0] + grid.Bid(bid*float64(t.Bid[1]-t.Bid[0]+1))
	if share < t.Share {
		out.Rules.Deadline = grid.Deadline{At: between(t.At, at), Worthless: between(t.Worthless, worthless)}
	}
	return &out
}

func between(x [2]time.Duration, at float64) time.Duration {
	return x[0] + time.Duration(at*float64(x[1]-x[0]))
}

// ReadPriority reads what jobs bid: 4, or [0.5, 4].
func (t *Terms) ReadPriority(f *document.Reader, e document.Entry) {
	read(f, e, &t.Bid, grid.ParseBid, "as in 4 or [0.5, 4]")
}

// ReadDeadline reads until when results are wanted: 10s, or {at: [5s, 20s], worthless: 1m, share: 0.5}.
func (t *Terms) ReadDeadline(f *document.Reader, e document.Entry) {
	const times = "as in 10s or [5s, 20s]"
	t.Share = 1
	if _, ok := document.Scalar(e.Value); ok {
		read(f, e, &t.At, parseTime, times)
		return
	}
	before := f.Invalid()
	for _, x := range f.Mapping(e.Value, e.Key, "at", "worthless", "share") {
		switch x.Key {
		case "at":
			read(f, x, &t.At, parseTime, times)
		case "worthless":
			read(f, x, &t.Worthless, parseTime, times)
		case "share":
			f.Value(x, t.readShare)
		}
	}
	switch {
	case f.Invalid() > before:
	case t.At[0] == 0:
		f.At(e.Value, "%s: has no at: want until when results are wanted, %s", e.Key, times)
	case t.Worthless[0] > 0 && t.Worthless[0] <= t.At[1]:
		f.At(e.Value, "%s: worthless from %v, at up to %v: want it worthless after any deadline, or leave it out", e.Key,
			t.Worthless[0], t.At[1])
	}
}

func (t *Terms) readShare(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 && x <= 1) {
		return fmt.Errorf("%.40q: want a share of the jobs of more than 0, up to 1", text)
	}
	t.Share = x
	return nil
}

// read reads one value, or two between which values are drawn.
func read[T grid.Bid | time.Duration](f *document.Reader, e document.Entry, to *[2]T, parse func(string) (T, error),
	example string) {
	var out []T
	before := f.Invalid()
	for _, text := range f.Texts(e.Value, e.Key) {
		x, err := parse(text)
		if err != nil {
			f.At(e.Value, "%s %v", e.Key, err)
		}
		out = append(out, x)
	}
	switch {
	case f.Invalid() > before:
	case len(out) == 1:
		*to = [2]T{out[0], out[0]}
	case len(out) == 2 && out[0] <= out[1]:
		*to = [2]T{out[0], out[1]}
	default:
		f.At(e.Value, "%s: want one value, or the lowest and the highest, %s", e.Key, example)
	}
}

func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > grid.MaxDeadline {
		return 0, fmt.Errorf("%.40q: want a length of time from 1s to %v, as in 10s", text, grid.MaxDeadline)
	}
	return d, nil
}
