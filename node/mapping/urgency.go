package mapping

import "skep/grid"

// Urgency says since when a job waits for its next task to be offered at a mapping event: by that its bid rises with
// time. Offers of one event begin the wait once, and if all of them are refused it goes on as if none had been.
type Urgency struct {
	last   grid.Time // event at which tasks were offered; 0 = none was
	before grid.Time // last event before that
	offers int       // of the last event, less those refused
}

// Offered says that a task is offered.
func (u *Urgency) Offered(now grid.Time) {
	if now != u.last {
		if u.offers > 0 {
			u.before = u.last
		}
		u.last, u.offers = now, 0
	}
	u.offers++
}

// Refused says that the offer of a time is refused.
func (u *Urgency) Refused(offered grid.Time) {
	if offered != u.last || u.offers == 0 {
		return
	}
	if u.offers--; u.offers == 0 {
		u.last = u.before
	}
}

// Since returns when the wait of a job that came at a time began.
func (u *Urgency) Since(arrived grid.Time) grid.Time {
	if u.last > 0 {
		return max(arrived, u.last)
	}
	return arrived
}
