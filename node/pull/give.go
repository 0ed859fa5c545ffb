package pull

import (
	"slices"
	"time"

	"skep/grid"
)

// PullReceived answers a pull: with a task, if there is one for that node, else with a message that says so.
func (x *Exchange) PullReceived(now grid.Time, from grid.NodeID, free grid.Resources, fx *grid.Effects) {
	x.notified.forget(from)
	if x.cfg.Peers.Pulls(from) && !x.give(now, from, free, fx) {
		fx.Send(from, grid.KindNoWork)
	}
}

// give gives a node a task, and reports whether there is one for it.
func (x *Exchange) give(now grid.Time, from grid.NodeID, free grid.Resources, fx *grid.Effects) bool {
	x.candidates = x.cfg.Jobs.Waiting(now, x.candidates[:0])
	if x.giveOne(now, from, free, func(w *grid.Waiting, _ float64) bool { return x.cfg.Jobs.Grant(now, w, from, fx) }) {
		return true
	}
	x.candidates = x.cfg.Worker.Waiting(now, x.candidates[:0])
	may := func(id grid.AttemptID) bool { return x.cfg.Jobs.MayYield(now, id, from) }
	return x.giveOne(now, from, free, func(w *grid.Waiting, there float64) bool {
		return x.cfg.Worker.Yield(now, w, from, there, may, fx)
	})
}

// giveOne gives a node the first of the candidates that fits and that hand gives away, and reports whether there is
// one.
func (x *Exchange) giveOne(now grid.Time, to grid.NodeID, free grid.Resources,
	hand func(w *grid.Waiting, there float64) bool) bool {
	for i := range x.candidates {
		w := &x.candidates[i]
		there, as, fits := x.fitsAsAny(now, w, to, free)
		need := w.Spec.AsOption(as).Needs.Resources
		if w.Option = as; fits && hand(w, there) {
			x.debit(now, to, need, there)
			return true
		}
	}
	return false
}

// fitsAsAny is fits for a task in any of the ways in which it can run. It takes the option that ends first for its
// value, as the task's owner does, of those that fit what is free; 0 = its job has none.
func (x *Exchange) fitsAsAny(now grid.Time, w *grid.Waiting, to grid.NodeID, free grid.Resources) (end float64,
	option uint8, fits bool) {
	n := &w.Spec.Needs
	if !n.Unchosen() {
		end, fits = x.fits(now, w, w.Spec, to, free)
		return end, n.Chosen, fits
	}
	for k := range n.Options {
		number := uint8(k + 1)
		there, may := x.fits(now, w, w.Spec.AsOption(number), to, free)
		if may && (!fits || there/n.ValueOf(number) < end/n.ValueOf(option)) {
			end, option, fits = there, number, true
		}
	}
	return end, option, fits
}

// fits reports whether a node may get a task of a job, and would be done sooner with it or it is overdue; and how soon.
// A node is not given tasks for more cores or units than it has, whatever it says to have free.
func (x *Exchange) fits(now grid.Time, w *grid.Waiting, spec *grid.JobSpec, id grid.NodeID,
	free grid.Resources) (float64, bool) {
	if !free.Fits(spec.Needs.Resources) || !x.cfg.Peers.Pulls(w.Owner) || slices.Contains(w.Barred, id) ||
		x.exceeds(now, id, &spec.Needs.Resources) {
		return 0, false
	}
	there, may := x.cfg.Peers.RunTimeAt(now, id, spec, w.Level)
	return there, may && (w.Overdue || there < w.End)
}

// debit is the resources of a task that a node was given, which it cannot have free until it is done with it.
type debit struct {
	node  grid.NodeID
	need  grid.Resources
	until grid.Time
}

// debit remembers that a node was given a task that takes it a time in seconds; not for long: the time is estimated.
func (x *Exchange) debit(now grid.Time, id grid.NodeID, need grid.Resources, there float64) {
	x.debits = slices.DeleteFunc(x.debits, func(d debit) bool { return d.until <= now })
	if len(x.debits) == maxDebits {
		x.debits = slices.Delete(x.debits, 0, 1)
	}
	d := max(lookGap+x.cfg.Peers.RTT(id), time.Duration(min(there, maxDebit.Seconds())*float64(time.Second)))
	x.debits = append(x.debits, debit{id, need, now.Add(d)})
}

// exceeds reports whether a node has too few cores, or units of counted resources, for a task beside those that it was
// given lately. Where fewer cores are believed than the task needs, it may be given alone: a node of which one core is
// believed would else be idle beside tasks of two for good, and could not show that it has them.
func (x *Exchange) exceeds(now grid.Time, id grid.NodeID, need *grid.Resources) bool {
	sum := grid.Resources{CPU: need.CPU, Counts: need.Counts}
	for i := range x.debits {
		if d := &x.debits[i]; d.node == id && d.until > now {
			if sum.CPU += d.need.CPU; need.Counts != "" {
				sum = sum.Plus(grid.Resources{Counts: d.need.Counts})
			}
		}
	}
	return sum.CPU > max(x.cfg.Peers.Cores(id), need.CPU) || need.Counts != "" && !x.cfg.Peers.Counts(id).Fits(sum.Counts)
}
