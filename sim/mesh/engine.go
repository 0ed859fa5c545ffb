package mesh

import (
	"math"
	"slices"

	"skep/heap"
)

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
	first     int // rank 0 of its program
	eager     bool
	ops       []operation
	next      int // operation
	iteration int
	warmup    int     // iterations that are not measured
	last      int     // iterations
	busy      float64 // until when it computes; +Inf = it does not
	left      float64 // of what it computes, work, since a time; of Live alone
	since     float64
	sending   int     // messages that have not left
	received  []int   // messages by tag that have not been waited for
	posted    []int   // messages that may come, by tag; below 0 = so many flows wait for it
	waiting   []flow  // to this rank, until it may come
	warm      float64 // when the warm-up was over
	mean      float64 // seconds of a measured iteration
}

// machine is what ranks run on.
type machine interface {
	// until returns when a rank has done an amount of work that it begins now.
	until(k *rank, now, work float64) float64

	// route returns the resources that messages from one host to another share, and their latency in seconds.
	route(from, to int) (path []int, latency float64)
}

// engine goes from one event of ranks and messages to the next.
type engine struct {
	machine  machine
	ranks    []rank
	active   []int // ranks that have not had their last iteration
	flows    *flows
	arriving heap.Heap[float64, arrival, leftBefore]
	sent     uint64
	ended    []flow
	over     []int // ranks that have just had their last iteration
}

// add begins a program at the current time, and returns its first rank.
func (e *engine) add(p Program, hosts, rows []int, warmup, iterations int) (first int) {
	first = len(e.ranks)
	ops, tags := p.operations(rows), max(len(hosts), 2)
	for k, h := range hosts {
		e.active = append(e.active, first+k)
		e.ranks = append(e.ranks, rank{host: h, first: first, eager: p.Eager, ops: ops[k], warmup: warmup,
			last: iterations, busy: math.Inf(1), received: make([]int, tags), posted: make([]int, tags), warm: e.flows.at})
	}
	for k := range hosts {
		e.proceed(first + k)
	}
	e.flows.share()
	return first
}

// next returns when something happens; +Inf = never.
func (e *engine) next() float64 {
	at := e.flows.until
	for _, k := range e.active {
		at = min(at, e.ranks[k].busy)
	}
	if e.arriving.Len() > 0 {
		first, _ := e.arriving.First()
		at = min(at, first)
	}
	return at
}

// step goes to the next event, which is at that time.
func (e *engine) step(now float64) {
	if math.IsInf(now, 1) {
		panic("mesh: all ranks wait for each other")
	}
	e.over = e.over[:0]
	changed, before := now >= e.flows.until, len(e.flows.active)
	e.flows.advance(now)
	if changed {
		e.leave()
	}
	for e.arriving.Len() > 0 {
		if first, _ := e.arriving.First(); first > now {
			break
		}
		_, a := e.arriving.Pop()
		e.ranks[a.to].received[a.tag]++
		e.proceed(a.to)
	}
	for _, k := range e.active {
		if x := &e.ranks[k]; x.busy <= now {
			x.busy = math.Inf(1)
			x.next++
			e.proceed(k)
		}
	}
	if changed || len(e.flows.active) != before {
		e.flows.share()
	}
	if len(e.over) > 0 {
		e.active = slices.DeleteFunc(e.active, func(k int) bool { return e.ranks[k].iteration >= e.ranks[k].last })
	}
}

// leave sends what has left on its way.
func (e *engine) leave() {
	e.ended = e.flows.ended(e.ended[:0])
	for _, x := range e.ended {
		e.sent++
		e.arriving.Push(e.flows.at+x.latency, arrival{x.to, x.tag, e.sent})
		e.ranks[x.from].sending--
		e.proceed(x.from)
	}
}

// proceed goes on with a rank as far as it can.
func (e *engine) proceed(k int) {
	x := &e.ranks[k]
	for x.iteration < x.last && math.IsInf(x.busy, 1) {
		if x.next == len(x.ops) {
			e.iterated(k)
			continue
		}
		switch op := &x.ops[x.next]; op.kind {
		case compute:
			x.busy = e.machine.until(x, e.flows.at, op.work)
			return
		case post:
			e.post(x, op.tag)
		case send:
			e.send(k, op)
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
func (e *engine) send(from int, op *operation) {
	x := &e.ranks[from]
	to := &e.ranks[x.first+op.to]
	f := flow{from: from, to: x.first + op.to, tag: op.tag, left: op.bytes}
	f.path, f.latency = e.machine.route(x.host, to.host)
	f.connection = e.flows.connection(x.host, to.host, f.latency)
	x.sending++
	if to.posted[op.tag]--; x.eager || to.posted[op.tag] >= 0 {
		e.flows.start(f)
		return
	}
	to.waiting = append(to.waiting, f)
}

// post lets the next message with a tag come.
func (e *engine) post(x *rank, tag int) {
	if x.posted[tag]++; x.eager {
		return
	}
	if k := slices.IndexFunc(x.waiting, func(f flow) bool { return f.tag == tag }); k >= 0 {
		e.flows.start(x.waiting[k])
		x.waiting = slices.Delete(x.waiting, k, k+1)
	}
}

func (e *engine) iterated(k int) {
	x := &e.ranks[k]
	x.next = 0
	x.iteration++
	if x.iteration == x.warmup {
		x.warm = e.flows.at
	}
	if x.iteration == x.last {
		x.mean = (e.flows.at - x.warm) / float64(x.last-x.warmup)
		e.over = append(e.over, k)
	}
}
