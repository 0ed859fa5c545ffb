package mesh

import (
	"math"
	"slices"

	"skep/heap"
)

// Iterations of a run [1, section V.A.4].
const (
	Warmup   = 4
	Measured = 100
)

// Host computes.
type Host struct {
	Speed float64 // cycles a second, of the unloaded machine
	Load  *Trace  // the part of it that a program gets
}

// World is hosts and their network.
type World struct {
	Hosts []Host
	Net   Network
}

// Result is what a run measured.
type Result struct {
	Iteration float64 // seconds
	End       float64 // when the run was over, seconds
}

// arrival is a message on its way whose last byte has left.
type arrival struct {
	to, tag int
	number  uint64 // those that arrive at one time arrive in the order in which they left
}

// leftBefore orders messages that arrive at one time.
type leftBefore struct{}

// Before implements heap.Order.
func (leftBefore) Before(a, b arrival) bool { return a.number < b.number }

// rank is one while it runs.
type rank struct {
	host      int
	ops       []operation
	next      int // operation
	iteration int
	busy      float64 // until when it computes; +Inf = it does not
	sending   int     // messages that have not left
	received  []int   // messages by tag that have not been waited for
	posted    []int   // messages that may come, by tag; below 0 = so many flows wait for it
	waiting   []flow  // to this rank, until it may come
	warm      float64 // when the warm-up was over
	mean      float64
}

type run struct {
	world    *World
	eager    bool
	ranks    []rank
	flows    *flows
	arriving heap.Heap[float64, arrival, leftBefore]
	sent     uint64
	running  int
	ended    []flow
}

// Run runs a program with so many rows at each of some hosts, from a time on.
func (w *World) Run(p Program, hosts, rows []int, start float64) Result {
	r := &run{world: w, eager: p.Eager, flows: newFlows(&w.Net, start), running: len(hosts)}
	ops := p.operations(rows)
	for k, h := range hosts {
		tags := max(len(hosts), 2)
		r.ranks = append(r.ranks, rank{host: h, ops: ops[k], busy: math.Inf(1), received: make([]int, tags),
			posted: make([]int, tags)})
	}
	for k := range r.ranks {
		r.proceed(k)
	}
	r.flows.share()
	for r.running > 0 {
		r.step()
	}
	out := Result{End: r.flows.at}
	for k := range r.ranks {
		out.Iteration = max(out.Iteration, r.ranks[k].mean)
	}
	return out
}

// step goes to the next event.
func (r *run) step() {
	now := r.flows.until
	for k := range r.ranks {
		now = min(now, r.ranks[k].busy)
	}
	if r.arriving.Len() > 0 {
		first, _ := r.arriving.First()
		now = min(now, first)
	}
	if math.IsInf(now, 1) {
		panic("mesh: all ranks wait for each other")
	}
	changed, before := now >= r.flows.until, len(r.flows.active)
	r.flows.advance(now)
	if changed {
		r.leave()
	}
	for r.arriving.Len() > 0 {
		if first, _ := r.arriving.First(); first > now {
			break
		}
		_, a := r.arriving.Pop()
		r.ranks[a.to].received[a.tag]++
		r.proceed(a.to)
	}
	for k := range r.ranks {
		if x := &r.ranks[k]; x.busy <= now {
			x.busy = math.Inf(1)
			x.next++
			r.proceed(k)
		}
	}
	if changed || len(r.flows.active) != before {
		r.flows.share()
	}
}

// leave sends what has left on its way.
func (r *run) leave() {
	r.ended = r.flows.ended(r.ended[:0])
	for _, x := range r.ended {
		r.sent++
		r.arriving.Push(r.flows.at+x.latency, arrival{x.to, x.tag, r.sent})
		r.ranks[x.from].sending--
		r.proceed(x.from)
	}
}

// proceed goes on with a rank as far as it can.
func (r *run) proceed(k int) {
	x := &r.ranks[k]
	for x.iteration < Warmup+Measured && math.IsInf(x.busy, 1) {
		if x.next == len(x.ops) {
			r.iterated(x)
			continue
		}
		switch op := &x.ops[x.next]; op.kind {
		case compute:
			h := &r.world.Hosts[x.host]
			x.busy = h.Load.After(r.flows.at, op.work, h.Speed)
			return
		case post:
			r.post(x, op.tag)
		case send:
			r.send(k, op)
		case receive:
			if x.received[op.tag] == 0 {
				return
			}
			x.received[op.tag]--
		case flush:
			if x.sending > 0 {
				return
			}
		}
		x.next++
	}
}

// send starts a message, at once or when it may come.
func (r *run) send(from int, op *operation) {
	n, x, to := &r.world.Net, &r.ranks[from], &r.ranks[op.to]
	at := x.host*n.Hosts + to.host
	f := flow{from: from, to: op.to, tag: op.tag, left: op.bytes, path: n.Path[at], latency: n.Latency[at]}
	x.sending++
	if to.posted[op.tag]--; r.eager || to.posted[op.tag] >= 0 {
		r.flows.start(f)
		return
	}
	to.waiting = append(to.waiting, f)
}

// post lets the next message with a tag come.
func (r *run) post(x *rank, tag int) {
	if x.posted[tag]++; r.eager {
		return
	}
	if k := slices.IndexFunc(x.waiting, func(f flow) bool { return f.tag == tag }); k >= 0 {
		r.flows.start(x.waiting[k])
		x.waiting = slices.Delete(x.waiting, k, k+1)
	}
}

func (r *run) iterated(x *rank) {
	x.next = 0
	switch x.iteration++; x.iteration {
	case Warmup:
		x.warm = r.flows.at
	case Warmup + Measured:
		x.mean = (r.flows.at - x.warm) / Measured
		r.running--
	}
}
