package sim

import (
	"time"

	"skep/grid"
	"skep/sim/event"
)

// clock is a node's clock. Every run starts it at a random reading.
type clock struct {
	offset grid.Time // reading at since
	since  grid.Time
	drift  int64         // millionths by which it is faster than the world's clock
	wall   time.Duration // by which the machine's wall clock is wrong
}

// pastClock is a clock as it ran until its drift was changed.
type pastClock struct {
	clock
	until uint64 // sequence of the last event pushed while it ran
}

// million is the unit of a drift.
const million = 1_000_000

// read returns what the clock shows at a time of the world.
func (c *clock) read(at grid.Time) grid.Time {
	d := at - c.since
	if c.drift == 0 {
		return c.offset + d
	}
	return c.offset + d + d/million*grid.Time(c.drift) + d%million*grid.Time(c.drift)/million
}

// worldTime returns the time of the world at which the clock shows t, or slightly later.
func (c *clock) worldTime(t grid.Time) grid.Time {
	d := t - c.offset
	if c.drift == 0 || d <= 0 {
		return c.since + d
	}
	per := grid.Time(million + c.drift)
	return c.since + d/per*million + (d%per*million+per-1)/per
}

// local returns what node i's clock shows now.
func (w *World) local(i int32) grid.Time { return w.hosts[i].read(w.now) }

// Local returns what the clock of a node shows now.
func (w *World) Local(i int) grid.Time { return w.local(int32(i)) }

// setDrift makes a node's clock faster by that many millionths from now on.
func (w *World) setDrift(i int32, drift int64) {
	h := &w.hosts[i]
	h.drifted = true
	h.pastClocks = append(h.pastClocks, pastClock{h.clock, w.seq})
	h.clock = clock{offset: w.local(i), since: w.now, drift: drift, wall: h.wall}
}

// stepWall sets a machine's wall clock. A node reads that once, when it starts.
func (w *World) stepWall(i int32, by time.Duration) {
	w.hosts[i].wall += by
	w.books.StepsWall(by.Abs())
}

// deferEarlyWake reports whether a wake comes before the node's clock shows its time, because the clock became slower
// since, and if so schedules it again.
func (w *World) deferEarlyWake(e *event.Event) bool {
	h := &w.hosts[e.Node]
	if !h.drifted {
		return false
	}
	for k := range h.pastClocks {
		p := &h.pastClocks[k]
		if e.Seq > p.until {
			continue
		}
		at := h.worldTime(p.read(e.At))
		if at <= w.now {
			return false
		}
		w.push(at, kindWake, e.Node, e.Sub, e.Arg)
		return true
	}
	return false
}

// A paused node is a stopped process or a sleeping machine: its clock runs, events for it wait, and its effects come
// late. A stalled disk delays effects only: the node runs.

// pause stops a node for a time.
func (w *World) pause(i int32, d time.Duration) {
	h := &w.hosts[i]
	if !h.up || h.pausedUntil >= w.now.Add(d) {
		return
	}
	h.pausedUntil = w.now.Add(d)
	w.books.Hindsight().Paused(w.now, i, d)
	w.push(h.pausedUntil, kindResume, i, 0, 0)
}

// resume delivers the events that reached a node while it was paused.
func (w *World) resume(e *event.Event) {
	h := &w.hosts[e.Node]
	if !w.isCurrent(e) || h.pausedUntil > w.now {
		return
	}
	came := h.deferred
	h.deferred = nil
	for _, ev := range came {
		w.step(e.Node, ev)
	}
}
