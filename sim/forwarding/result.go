package forwarding

import (
	"slices"
	"time"

	"skep/discovery"
)

// Result is what was measured: of the first tenth of the requests, when nobody has learned much, and of the second
// half.
type Result struct {
	First, Second Window

	// Busiest is the share of the finds of the second half that reached the tenth of the nodes that most reached.
	Busiest float64
}

// Window is what came of some requests.
type Window struct {
	Requests int
	Met      int
	Called   int // met by a call
	Hops     int // of those met by a walk
	Finds    int // messages of walks
	Messages int // of all sorts, announcements counted by each link
	Calls    int
	Wait     time.Duration // sum, of those met
	Longest  time.Duration // until the end of any
}

// Success is the part of the requests that was met.
func (w *Window) Success() float64 { return float64(w.Met) / float64(w.Requests) }

// MeanHops is how many hops a walk went that met its request.
func (w *Window) MeanHops() float64 { return float64(w.Hops) / float64(w.Met-w.Called) }

// PerRequest is how many messages of all sorts a request took.
func (w *Window) PerRequest() float64 { return float64(w.Messages) / float64(w.Requests) }

// MeanWait is how long those that were met waited.
func (w *Window) MeanWait() time.Duration { return w.Wait / time.Duration(max(w.Met, 1)) }

// of calls f with the window that a request belongs to, if any.
func (r *Result) of(w *world, request int32, f func(*Window)) {
	switch n := w.s.Requests; {
	case int(request) >= n/2:
		f(&r.Second)
	case int(request) < n/10:
		f(&r.First)
	}
}

func (r *Result) asked(w *world, request int32) {
	r.of(w, request, func(x *Window) { x.Requests++ })
}

func (r *Result) sent(w *world, request int32) {
	r.of(w, request, func(x *Window) { x.Messages++ })
}

func (r *Result) called(w *world, request int32) {
	r.of(w, request, func(x *Window) { x.Calls++ })
}

func (r *Result) find(w *world, request, node int32) {
	r.of(w, request, func(x *Window) { x.Finds++ })
	if int(request) >= w.s.Requests/2 {
		w.load[node]++
	}
}

func (r *Result) ended(w *world, request int32, f *discovery.Found, wait time.Duration) {
	r.of(w, request, func(x *Window) {
		x.Longest = max(x.Longest, wait)
		if f.Ad == nil {
			return
		}
		x.Met++
		x.Wait += wait
		if f.Called {
			x.Called++
		} else {
			x.Hops += int(f.Hops)
		}
	})
}

// finish sums up.
func (r *Result) finish(w *world) {
	slices.Sort(w.load)
	all, top := 0, 0
	for i, n := range w.load {
		all += n
		if i >= len(w.load)-max(len(w.load)/10, 1) {
			top += n
		}
	}
	r.Busiest = float64(top) / float64(max(all, 1))
}
