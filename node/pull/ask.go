package pull

import (
	"slices"
	"time"

	"skep/grid"
)

// asked is a pull that no task has come for yet.
type asked struct {
	node    grid.NodeID
	until   grid.Time
	noticed bool // it followed a notice of the node
}

// Came records that an attempt of an owner has come that this node asked for: more may follow at once. Who gave it is
// the owner, if that was asked, or the only node that was asked; of several it is not known, and none is judged. The
// owner gives work, so it is asked again even if its answer came later than it was waited for.
func (x *Exchange) Came(now grid.Time, owner grid.NodeID) {
	x.forgive(now, owner)
	at := x.askedAt(owner)
	if at < 0 && len(x.asked) == 1 {
		at = 0
	}
	if at >= 0 {
		x.forgive(now, x.asked[at].node)
		x.asked = slices.Delete(x.asked, at, at+1)
	} else {
		x.asked = x.asked[:0]
	}
	x.due = true
}

func (x *Exchange) forgive(now grid.Time, giver grid.NodeID) {
	x.unmet.forget(giver)
	x.backoff.set(giver, now, 0)
}

// Denied records that a node that was asked gives nothing: another may be asked at once.
func (x *Exchange) Denied(now grid.Time, from grid.NodeID) {
	if at := x.askedAt(from); at >= 0 {
		x.backoff.answered(from)
		x.inVain(now, x.asked[at], lookGap, maxDenied)
		x.asked = slices.Delete(x.asked, at, at+1)
		x.due = true
	}
}

// inVain records a pull for which no task came. If it followed a notice of the node, its next ones are not heeded for
// first, and twice as long each time up to most.
func (x *Exchange) inVain(now grid.Time, a asked, first, most time.Duration) {
	x.backoff.double(a.node, now, x.timeout(a.node), maxBackoff)
	if a.noticed {
		x.unmet.double(a.node, now, first, most)
	}
}

// askedAt is the place of a node among those asked; −1 = it is none.
func (x *Exchange) askedAt(id grid.NodeID) int {
	return slices.IndexFunc(x.asked, func(a asked) bool { return a.node == id })
}

// Notified takes another node's notice that work waits there: it is asked at once, whatever it gave before. A node that
// says so and gives nothing is heeded less and less often, least of all if it does not answer.
func (x *Exchange) Notified(now grid.Time, from grid.NodeID, fx *grid.Effects) {
	if x.unmet.until(from) > now {
		return
	}
	x.backoff.forget(from)
	free, _ := x.cfg.Worker.Room()
	if x.ask(now, from, free, true, fx) {
		return
	}
	if len(x.notifiers) < maxNotifiers && !slices.Contains(x.notifiers, from) {
		x.notifiers = append(x.notifiers, from)
	}
	x.due = true
}

// askSome asks nodes where work waits: those that said so, then others in random order. One that has not answered may
// be asked again at once, the first time: the message or its answer may have been lost, and says nothing of its work.
func (x *Exchange) askSome(now grid.Time, free grid.Resources, fx *grid.Effects) {
	x.asked = slices.DeleteFunc(x.asked, func(a asked) bool {
		if a.until <= now {
			if a.noticed || !x.backoff.again(a.node, now) {
				x.inVain(now, a, max(silentFor, x.timeout(a.node)), maxBackoff)
			}
			return true
		}
		return false
	})
	for _, id := range x.notifiers {
		x.ask(now, id, free, true, fx)
	}
	x.notifiers = x.notifiers[:0]
	next := grid.Never
	if where := x.cfg.Peers.WhereWorkWaits(); len(x.asked) < maxAsked && len(where) > 0 {
		jitter := x.jitter(len(where))
		x.each(now, where, &x.backoff, &next, func(id grid.NodeID) bool {
			if jitter > 0 && x.backoff.quiet(id, now, maxBackoff) {
				x.backoff.set(id, now.Add(time.Duration(x.cfg.Rand.Int64N(int64(jitter)))), 0)
				next = min(next, x.backoff.until(id))
				return true
			}
			x.ask(now, id, free, false, fx)
			return len(x.asked) < maxAsked
		})
	}
	for _, a := range x.asked {
		next = min(next, a.until)
	}
	x.wakeAt(now, next, fx)
}

// jitter is how long this node waits at most before it asks a node of which it has only heard that work waits there;
// 0 = not at all. Where many are idle and work waits at few nodes, it has gone by then for most.
func (x *Exchange) jitter(where int) time.Duration {
	_, roomy := x.cfg.Peers.Loads()
	d := min(lookGap*time.Duration(roomy/(crowd*where)), maxJitter)
	if d <= lookGap {
		return 0
	}
	return d
}

// ask sends a pull, if the node is idle and there is none to that node yet.
func (x *Exchange) ask(now grid.Time, id grid.NodeID, free grid.Resources, noticed bool, fx *grid.Effects) bool {
	most := min(maxAsked, int((free.CPU+grid.CPU-1)/grid.CPU))
	if len(x.asked) >= most || !x.cfg.Peers.Pulls(id) || x.backoff.until(id) > now || x.askedAt(id) >= 0 {
		return false
	}
	until := now.Add(x.timeout(id))
	x.asked = append(x.asked, asked{id, until, noticed})
	if len(x.asked) > 1 { // the first one asked may give a task for the free units
		free.Counts = ""
	}
	fx.Send(id, grid.KindPull).Poll.Needs = free
	x.wakeAt(now, until, fx)
	return true
}

func (x *Exchange) timeout(id grid.NodeID) time.Duration {
	return min(minTimeout+4*x.cfg.Peers.RTT(id), maxTimeout)
}
