package sim

import "skep/grid"

// clock is a node's clock: every run starts it anywhere.
type clock struct {
	offset grid.Time // what it showed at since
	since  grid.Time
	drift  int64 // by how many millionths it is faster than the world's
}

// pastClock is a clock as it went until its pace was changed.
type pastClock struct {
	clock
	until uint64 // sequence of the last event that was pushed under it
}

// million is the unit of a drift.
const million = 1_000_000

// read is what the clock shows at a time of the world.
func (c *clock) read(at grid.Time) grid.Time {
	d := at - c.since
	return c.offset + d + d/million*grid.Time(c.drift) + d%million*grid.Time(c.drift)/million
}

// worldTime is the world's time when the clock shows t, or a little later.
func (c *clock) worldTime(t grid.Time) grid.Time {
	d := t - c.offset
	if c.drift == 0 || d <= 0 {
		return c.since + d
	}
	per := grid.Time(million + c.drift)
	return c.since + d/per*million + (d%per*million+per-1)/per
}

// local is the node's clock.
func (w *World) local(i int32) grid.Time { return w.hosts[i].read(w.now) }

// Local returns what the clock of a node shows now.
func (w *World) Local(i int) grid.Time { return w.local(int32(i)) }

// setDrift makes a node's clock go faster by that many millionths from now on.
func (w *World) setDrift(i int32, drift int64) {
	h := &w.hosts[i]
	h.pastClocks = append(h.pastClocks, pastClock{h.clock, w.seq})
	h.clock = clock{offset: w.local(i), since: w.now, drift: drift}
}

// deferEarlyWake reports whether a wake comes before the node's clock shows its time, because the clock has become
// slower since it was set, and then puts it off.
func (w *World) deferEarlyWake(e *Event) bool {
	h := &w.hosts[e.Node]
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
