package contract

import (
	"time"

	"skep/grid"
)

// window measures iterations that take longer than they may. Its debt is by how much the time since it began is longer
// than the iterations done since may take. Invariants: it is of one rank; its debt was above 0 ever since it began.
type window struct {
	slack time.Duration // by how much too long or too short an interval between two reports may be known
	heard bool          // from and last are set
	rank  uint32
	from  sample
	last  sample
	most  float64        // the largest debt, seconds
	said  *grid.Progress // that last is of
}

// sample is how many iterations were done at a time.
type sample struct {
	at   grid.Time
	done float64
}

// note takes what a rank says, and reports whether so many iterations in a row have taken longer than they may: so many
// seconds each. It begins anew as soon as they have not, or what came since the largest debt surely was in time.
func (w *window) note(now grid.Time, rank uint32, said *grid.Progress, allowed float64, least uint32) (broken bool) {
	if said == nil || w.heard && (rank > w.rank || rank == w.rank && said.Done == w.last.done) {
		return false // a worker tells the same again and again
	}
	if !w.heard || rank < w.rank || said.Done < w.last.done { // another count
		w.heard, w.rank, w.last = true, rank, sample{now, said.Done}
		w.next()
	}
	w.said, w.last = said, sample{now, said.Done}
	took, n := now.Sub(w.from.at).Seconds(), w.last.done-w.from.done
	debt, slack := took-n*allowed, w.slack.Seconds()
	if debt <= 0 || w.most-debt > slack {
		w.next()
		return false
	}
	w.most = max(w.most, debt)
	return took-slack > max(n, float64(least))*allowed
}

// next begins the window after this one.
func (w *window) next() { w.from, w.most = w.last, 0 }

// iteration is the mean time of one in the window, seconds; of the one that is under way if none was done.
func (w *window) iteration() float64 {
	return w.last.at.Sub(w.from.at).Seconds() / max(w.last.done-w.from.done, 1)
}
