package exec

import "skep/grid"

// Quote returns what a bid meets here, without a price. Of the queued work the first MaxSeen count.
func (e *Exec) Quote(now grid.Time) (q grid.Quote) {
	add := func(w *Work) { q.Bids += int64(e.bid(w)) * int64(w.Spec.Needs.CPU) / int64(grid.CPU) }
	for _, w := range e.running {
		add(w)
	}
	q.Outbid = e.Outbid(now)
	for _, w := range e.queue.head(MaxSeen) {
		add(w)
	}
	return q
}

// Outbid returns the lowest bid that runs and may be suspended for a higher one; 0 = there is none.
func (e *Exec) Outbid(now grid.Time) (lowest grid.Bid) {
	if e.suspended == nil || e.lines.cfg.Preempt == 0 {
		return 0
	}
	for _, w := range e.running {
		if bid := e.bid(w); (lowest == 0 || bid < lowest) && e.suspended.allow(now, w) {
			lowest = bid
		}
	}
	return lowest
}

// Earns returns what runs, as a sum of bids times the cores that it has, and the cores that tasks may have; began =
// some of it has begun at this moment.
func (e *Exec) Earns(now grid.Time) (earning, cores float64, began bool) {
	for _, w := range e.running {
		if !e.Suspended(w) {
			speed, _ := e.shareOf(now, w)
			earning += e.bid(w).Number() * w.Spec.Needs.CPU.Cores() * speed
			began = began || w.Started == now
		}
	}
	return earning, e.capacity.CPU.Cores(), began
}
