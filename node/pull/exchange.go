package pull

import (
	"slices"
	"time"

	"skep/grid"
)

// Bounds of the exchange.
const (
	lookGap    = 50 * time.Millisecond  // changes within it are looked at together
	minTimeout = 200 * time.Millisecond // besides four round trips, for a task to come after a pull
	maxTimeout = 2 * time.Second
	maxBackoff = 30 * time.Second // from a node that gave none; it begins with the time-out and doubles
	// A node's notices are not heeded after one was followed in vain: if it did not answer, for silentFor at first (as
	// long as it was waited for if that is longer) and maxBackoff at most; if it answered that it has none, for lookGap
	// at first and maxDenied at most.
	silentFor    = 500 * time.Millisecond
	maxDenied    = 8 * time.Second
	noticeGap    = 500 * time.Millisecond // between two notices to one node; it doubles up to maxBackoff until it asks
	maxDebit     = 2 * time.Second        // that a given task counts as taking its node's cores, at most
	maxJitter    = time.Second            // before a node of a crowd asks
	crowd        = 8                      // idle nodes for each where work waits; more of them are a crowd
	maxAsked     = 2                      // nodes asked at a time
	maxNotices   = 2                      // idle nodes told at a time
	maxTried     = 8                      // idle nodes considered at a time
	maxDebits    = 256                    // tasks given lately that are remembered
	maxNotifiers = 4                      // nodes remembered whose notice came while others were asked
	maxKnown     = 256                    // nodes whose back-off or last notice is remembered
)

// Exchange is the two sides of a node: it asks for work while it is idle, and gives work away while some waits.
type Exchange struct {
	cfg       Config
	due       bool      // something has changed since the last look
	looked    grid.Time // time of the last look
	wake      grid.Time // of the pending timer; 0 = none
	waits     bool      // work waits here, as of the last Settle
	waiting   int       // tasks that waited for their placement then
	asked     []asked
	notifiers []grid.NodeID
	backoff   memory
	unmet     memory // of nodes whose notices were followed in vain
	notified  memory
	debits    []debit

	nodes      []grid.NodeID  // scratch
	candidates []grid.Waiting // scratch
}

// New returns a node's exchange.
func New(cfg Config) *Exchange { return &Exchange{cfg: cfg, looked: -grid.Time(lookGap)} }

// Changed has the next Settle look: work has come, has ended or waits, or a node has another ad.
func (x *Exchange) Changed() { x.due = true }

// Heard says that a node has another ad: it may have room again.
func (x *Exchange) Heard(id grid.NodeID) {
	x.notified.forget(id)
	x.due = true
}

// Waits reports whether work waits here.
func (x *Exchange) Waits() bool { return x.waits }

// Woke handles the timer. Nil has none.
func (x *Exchange) Woke(now grid.Time) {
	if x != nil && now >= x.wake {
		x.wake, x.due = 0, true
	}
}

// Settle looks, at the end of a step, if anything has changed and the last look is long enough ago. It reports whether
// work waits here and did not, or the reverse.
func (x *Exchange) Settle(now grid.Time, fx *grid.Effects) (news bool) {
	waiting := x.cfg.Jobs.WaitingCount()
	if waiting != x.waiting {
		x.waiting, x.due = waiting, true
	}
	if !x.due {
		return false
	}
	free, queued := x.cfg.Worker.Room()
	waits := waiting > 0 || queued
	news, x.waits = waits != x.waits, waits
	busy, roomy := x.cfg.Peers.Loads()
	asks := free.CPU > 0 && len(x.asked)+len(x.notifiers)+busy > 0
	notices := waits && roomy > 0
	if !asks && !notices {
		x.due, x.asked, x.notifiers = false, x.asked[:0], x.notifiers[:0]
		return news
	}
	if next := x.looked.Add(lookGap); now < next {
		x.wakeAt(now, next, fx)
		return news
	}
	x.due, x.looked = false, now
	if asks {
		x.askSome(now, free, fx)
	}
	if notices {
		x.notifySome(now, fx)
	}
	return news
}

// notifySome tells idle nodes that work waits here that they would be given.
func (x *Exchange) notifySome(now grid.Time, fx *grid.Effects) {
	x.candidates = x.cfg.Worker.Waiting(now, x.cfg.Jobs.Waiting(now, x.candidates[:0]))
	next := x.cfg.Worker.NextOverdue(now)
	told, tried := 0, 0
	if len(x.candidates) > 0 {
		x.each(now, x.cfg.Peers.WithRoom(), &x.notified, &next, func(id grid.NodeID) bool {
			tried++
			free := x.cfg.Peers.Free(id)
			wanted := func(w grid.Waiting) bool {
				_, _, fits := x.fitsAsAny(now, &w, id, free)
				if fits && !x.mayPull(now, &w, id) {
					fits, next = false, min(next, now.Add(noticeGap)) // it may soon
				}
				return fits
			}
			if slices.ContainsFunc(x.candidates, wanted) {
				x.notified.double(id, now, noticeGap, maxBackoff)
				fx.Send(id, grid.KindWaiting)
				next = min(next, x.notified.until(id))
				told++
			}
			return told < maxNotices && tried < maxTried
		})
	}
	if next < grid.Never {
		x.wakeAt(now, min(next, now.Add(maxBackoff)), fx)
	}
}

// mayPull reports whether a node that asks would be given what waits. One that was told and is refused heeds no notice
// for a while, also of what it could have.
func (x *Exchange) mayPull(now grid.Time, w *grid.Waiting, id grid.NodeID) bool {
	return len(w.Here) == 0 || slices.ContainsFunc(w.Here, func(a grid.AttemptID) bool {
		return x.cfg.Jobs.MayYield(now, a, id)
	})
}

// each calls f for nodes in random order, until it returns false: without those that are held back, the first end of
// which it adds to next.
func (x *Exchange) each(now grid.Time, nodes []grid.NodeID, held *memory, next *grid.Time, f func(grid.NodeID) bool) {
	x.nodes = append(x.nodes[:0], nodes...)
	for k := len(x.nodes); k > 0; k-- {
		i := x.cfg.Rand.IntN(k)
		id := x.nodes[i]
		x.nodes[i] = x.nodes[k-1]
		if until := held.until(id); until > now {
			*next = min(*next, until)
		} else if !f(id) {
			return
		}
	}
}

// wakeAt sets the timer, unless an earlier one is pending.
func (x *Exchange) wakeAt(now, at grid.Time, fx *grid.Effects) {
	if at == grid.Never || x.wake > now && x.wake <= at {
		return
	}
	x.wake = max(at, now.Add(time.Millisecond))
	fx.Wake(x.wake, grid.TimerPull, 0)
}
