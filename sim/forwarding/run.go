package forwarding

import (
	"slices"
	"time"

	"skep/discovery"
	"skep/grid"
	"skep/sim/event"
)

// The kinds of events: a message reaches a node, a timer of a node, a flood reaches a node, a request is made.
const (
	arrives event.Kind = iota + 1
	wakes
	floods
	asks
)

// One message takes 10 to 30 ms.
const (
	least = 10 * time.Millisecond
	most  = 30 * time.Millisecond
)

// slot is a message on its way.
type slot struct {
	request int32
	from    int32
	msg     grid.Message
}

// bell is a timer on its way. There are many times as many as messages, since each search has a deadline.
type bell struct {
	request int32
	timer   grid.Timer
}

// flood is an announcement on its way.
type flood struct {
	request int32
	from    int32
	find    grid.Find
	seen    []bool
}

// asked is a search that a node waits for.
type asked struct {
	id            uint64
	request, kind int32
	at            grid.Time
}

// Run runs a setting, which must be good, until all requests have ended. When stop, if not nil, says so, it ends early
// and reports false.
func Run(s Setting, stop func(done float64) bool) (*Result, bool) {
	w := newWorld(&s)
	gap := float64(time.Second) / (s.Rate * float64(s.Nodes))
	next, at := 0, 0.0
	w.push(0, asks, 0, 0)
	for {
		e, ok := w.queue.Pop()
		if !ok {
			w.result.finish(w)
			return &w.result, true
		}
		if e.Kind == asks {
			w.ask(e.At, next)
			if next++; next < s.Requests {
				at += gap * w.rand.ExpFloat64()
				w.push(grid.Time(at), asks, 0, 0)
			}
			if next%1024 == 0 && stop != nil && stop(float64(next)/float64(s.Requests)) {
				return &w.result, false
			}
			continue
		}
		w.take(&e)
	}
}

func (w *world) push(at grid.Time, kind event.Kind, node, arg int32) {
	w.seq++
	w.queue.Push(event.Event{At: at, Seq: w.seq, Arg: uint64(arg), Node: node, Kind: kind})
}

// ask lets a random node that lacks a type ask for it.
func (w *world) ask(now grid.Time, request int) {
	kind := int32(request)
	if !w.s.Once {
		at, _ := slices.BinarySearch(w.cdf, w.rand.Float64())
		kind = int32(min(at, w.s.Types-1))
	}
	i := int32(w.rand.IntN(w.s.Nodes))
	for w.holds(i, kind) {
		i = int32(w.rand.IntN(w.s.Nodes))
	}
	id := w.nodes[i].Search(now, w.needs[kind], grid.EngineProcess, w.near[i], &w.fx)
	w.open[i] = append(w.open[i], asked{id, int32(request), kind, now})
	w.result.asked(w, int32(request))
	w.carry(now, i, int32(request))
}

func (w *world) holds(i, kind int32) bool {
	_, is := slices.BinarySearch(w.has[i], kind)
	return is
}

// take lets a node have an event.
func (w *world) take(e *event.Event) {
	i := e.Node
	if e.Kind == floods {
		w.reach(e.At, i, int32(e.Arg))
		return
	}
	if e.Kind == wakes {
		b := w.bells[e.Arg]
		w.silent = append(w.silent, int32(e.Arg))
		f, ended := w.nodes[i].Wake(e.At, b.timer, w.near[i], w.local(i), &w.fx)
		w.after(e.At, i, b.request, &f, ended)
		return
	}
	s := &w.slots[e.Arg]
	d, request := w.nodes[i], s.request
	var f discovery.Found
	var ended bool
	switch {
	case s.msg.Kind == grid.KindFind:
		w.result.find(w, request, i)
		d.Find(e.At, nodeID(s.from), &s.msg.Find, w.near[i], w.local(i), &w.fx)
	case s.msg.Kind == grid.KindHit:
		f, ended = d.Hit(e.At, nodeID(s.from), &s.msg)
	case s.msg.Kind == grid.KindMiss:
		f, ended = d.Miss(e.At, &s.msg.Find, w.near[i], &w.fx)
	}
	w.after(e.At, i, request, &f, ended)
	w.idle = append(w.idle, int32(e.Arg))
}

// after does what follows from an event at a node.
func (w *world) after(now grid.Time, i, request int32, f *discovery.Found, ended bool) {
	if ended {
		w.ended(now, i, f)
	}
	w.carry(now, i, request)
}

// ended counts the requests that a search was for. Whoever is found takes the task.
func (w *world) ended(now grid.Time, i int32, f *discovery.Found) {
	w.open[i] = slices.DeleteFunc(w.open[i], func(a asked) bool {
		if a.id != f.ID {
			return false
		}
		w.result.ended(w, a.request, f, now.Sub(a.at))
		if f.Ad != nil {
			w.nodes[i].Tried(now, f.Ad.Node, w.needs[a.kind], grid.EngineProcess, true, &w.fx)
		}
		return true
	})
}

// local is what node i knows that meets needs: itself, or one whose ad it has.
func (w *world) local(i int32) discovery.Local {
	return func(n *grid.Needs, _ string) *grid.Ad {
		for _, kind := range w.has[i] {
			if w.needs[kind].Labels[0].Values[0] == n.Labels[0].Values[0] {
				return w.ad(i, kind)
			}
		}
		for _, k := range w.knows[i] {
			if w.needs[k.kind].Labels[0].Values[0] == n.Labels[0].Values[0] {
				return w.ad(k.holder, k.kind)
			}
		}
		return nil
	}
}

// carry puts what a node wants done on its way.
func (w *world) carry(now grid.Time, from, request int32) {
	for i := range w.fx.Sends {
		m := &w.fx.Sends[i].Msg
		at, s := w.slot(request, from)
		s.msg.Reset(m.Kind)
		visited := append(s.msg.Find.Visited, m.Find.Visited...)
		s.msg.Find, s.msg.Digest = m.Find, append(s.msg.Digest, m.Digest...)
		s.msg.Find.Visited = visited
		w.result.sent(w, request)
		w.push(now.Add(w.delay()), arrives, indexOf(w.fx.Sends[i].To), at)
	}
	for _, k := range w.fx.Wakes {
		w.push(k.At, wakes, from, w.bell(bell{request, k.Timer}))
	}
	for i := range w.fx.Announces {
		w.result.called(w, request)
		if w.s.Calls {
			w.floods = append(w.floods, flood{request: request, from: from, find: w.fx.Announces[i].Find,
				seen: make([]bool, w.s.Nodes)})
			w.spread(now, from, int32(len(w.floods)-1))
		}
	}
	w.fx.Reset()
}

func (w *world) delay() time.Duration { return least + time.Duration(w.rand.Int64N(int64(most-least))) }

func (w *world) slot(request, from int32) (int32, *slot) {
	if n := len(w.idle); n > 0 {
		at := w.idle[n-1]
		w.idle = w.idle[:n-1]
		s := &w.slots[at]
		s.request, s.from = request, from
		return at, s
	}
	w.slots = append(w.slots, slot{request: request, from: from})
	return int32(len(w.slots) - 1), &w.slots[len(w.slots)-1]
}

func (w *world) bell(b bell) int32 {
	if n := len(w.silent); n > 0 {
		at := w.silent[n-1]
		w.silent, w.bells[at] = w.silent[:n-1], b
		return at
	}
	w.bells = append(w.bells, b)
	return int32(len(w.bells) - 1)
}

// spread sends a flood from a node to all neighbours that it has not reached: package sim does it so.
func (w *world) spread(now grid.Time, i, name int32) {
	f := &w.floods[name]
	f.seen[i] = true
	for _, id := range w.near[i] {
		if j := indexOf(id); !f.seen[j] {
			w.result.sent(w, f.request)
			w.push(now.Add(w.delay()), floods, j, name)
		}
	}
}

// reach lets a flood come to a node.
func (w *world) reach(now grid.Time, i, name int32) {
	f := &w.floods[name]
	if f.seen[i] {
		return
	}
	w.spread(now, i, name)
	w.nodes[i].Call(now, nodeID(f.from), &f.find, w.local(i), &w.fx)
	w.carry(now, i, f.request)
}
