package exec

import (
	"slices"
	"time"

	"skep/exec/proportional"
	"skep/grid"
)

// Proportional sharing of the cores (package proportional): all work that is accepted runs at once, as long as each
// runs at the least speed. Memory and counted resources are taken as ever. In the ledger the cores that work needs are
// taken too, so there may be fewer than none left; what others are told is free has none then.

// sharing is a node whose work shares the cores. Invariant: runs has an entry for each attempt that runs, or has yet to
// stop.
type sharing struct {
	least float64
	cores float64 // of the node
	left  float64 // share of them that other users leave
	level float64 // proportional.Level of runs
	runs  []sharer
	since grid.Time // of the level
	tasks []proportional.Task
}

// sharer is an attempt that runs.
type sharer struct {
	id grid.AttemptID
	proportional.Task
	lost float64 // seconds of its run time that others have had, until sharing.since
}

// Shares reports whether work shares the cores, and so may not have any to itself.
func (e *Exec) Shares() bool { return e.sharing != nil }

// Weight is what work counts for where work shares the cores, for each core that it needs: its bid as a part of the
// highest; 0 = it does not share any.
func (e *Exec) Weight(w *Work) float64 {
	if e.sharing == nil {
		return 0
	}
	return float64(e.bid(w)) / float64(e.lines.cfg.MaxBid)
}

// Sharing is what an ad says of it.
func (e *Exec) Sharing() (s grid.Sharing) {
	if e.sharing != nil {
		s.Least = e.sharing.least
		for i := range e.sharing.runs {
			s.Bids += e.sharing.runs[i].Bid * e.sharing.runs[i].Cores
		}
	}
	return s
}

// SpeedOf returns the part of its full speed at which a task of a bid with that need would run here: where work shares
// the cores, beside what runs now, and at the least speed if it would have to wait.
func (e *Exec) SpeedOf(bid grid.Bid, need grid.MilliCPU) float64 {
	if e.sharing == nil {
		return 1
	}
	s := e.sharing
	bid = e.lines.cfg.Cap(max(bid, 1))
	if !s.admits(bid, need) {
		return s.least
	}
	s.tasks = append(s.tasks[:0], proportional.Task{Bid: bid.Number(), Cores: coresOf(need)})
	for i := range s.runs {
		s.tasks = append(s.tasks, s.runs[i].Task)
	}
	return proportional.Speed(proportional.Level(s.cores*s.left, s.tasks), bid.Number())
}

// fits reports whether work of a bid could start now.
func (e *Exec) fits(bid grid.Bid, need grid.Resources) bool {
	return e.fitsPlain(bid, need) && (need.Counts == "" || e.free.Counts.Fits(need.Counts)) && !e.overdue()
}

// fitsPlain is fits as far as no counted resource is concerned.
func (e *Exec) fitsPlain(bid grid.Bid, need grid.Resources) bool {
	if e.sharing == nil {
		return e.free.FitsPlain(need)
	}
	return need.Memory <= e.free.Memory && e.sharing.admits(e.lines.cfg.Cap(max(bid, 1)), need.CPU)
}

// noCores reports whether nothing that is queued could start, since all work needs some of the cores.
func (e *Exec) noCores() bool { return e.sharing == nil && e.free.CPU <= 0 }

func coresOf(n grid.MilliCPU) float64 { return float64(n) / float64(grid.CPU) }

// admits reports whether all would keep the least speed beside a task that came now. A task that is alone always does.
func (s *sharing) admits(bid grid.Bid, need grid.MilliCPU) bool {
	return len(s.runs) == 0 || proportional.Admits(s.cores, s.least, func(yield func(proportional.Task) bool) {
		if !yield(proportional.Task{Bid: bid.Number(), Cores: coresOf(need)}) {
			return
		}
		for i := range s.runs {
			if !yield(s.runs[i].Task) {
				return
			}
		}
	})
}

// settle accounts for the time until now, before anything changes.
func (s *sharing) settle(now grid.Time) {
	if d := now.Sub(s.since).Seconds(); d > 0 {
		for i := range s.runs {
			s.runs[i].lost += d * (1 - s.speed(i))
		}
	}
	s.since = max(s.since, now)
}

func (s *sharing) speed(i int) float64 { return proportional.Speed(s.level, s.runs[i].Bid) }

// changed computes the level anew.
func (s *sharing) changed() {
	s.tasks = s.tasks[:0]
	for i := range s.runs {
		s.tasks = append(s.tasks, s.runs[i].Task)
	}
	s.level = proportional.Level(s.cores*s.left, s.tasks)
}

func (s *sharing) setLeft(now grid.Time, left float64) {
	if s != nil {
		s.settle(now)
		s.left = left
		s.changed()
	}
}

// begin adds an attempt that runs.
func (s *sharing) begin(now grid.Time, id grid.AttemptID, bid grid.Bid, need grid.MilliCPU) {
	if s != nil {
		s.settle(now)
		s.runs = append(s.runs, sharer{id: id, Task: proportional.Task{Bid: bid.Number(), Cores: coresOf(need)}})
		s.changed()
	}
}

// end removes one of which nothing runs any more.
func (s *sharing) end(now grid.Time, id grid.AttemptID) {
	if s != nil {
		s.settle(now)
		s.runs = slices.DeleteFunc(s.runs, func(x sharer) bool { return x.id == id })
		s.changed()
	}
}

// of returns at what part of its full speed an attempt runs that runs, and for how long it would have run less until
// now if it had done so at full speed.
func (s *sharing) of(now grid.Time, id grid.AttemptID) (speed float64, lost time.Duration) {
	if s == nil {
		return 1, 0
	}
	at := slices.IndexFunc(s.runs, func(x sharer) bool { return x.id == id })
	if at < 0 {
		return 1, 0
	}
	speed = s.speed(at)
	return speed, grid.Seconds(s.runs[at].lost + (1-speed)*max(now.Sub(s.since), 0).Seconds())
}

// Alone returns for how many seconds an attempt that has ended would have run if it had had its cores to itself; used
// is the processor time that it has used. It has lost what it could have used and others have had. With an age of W, of
// which it had the part r of n cores, so many seconds of processor time for each core as T, that is
//
//	min((1 − r)·W, T·(1/r − 1), W − T)
//
// the second for what did not want the cores all the time, the third for what had more, since others did not.
func (e *Exec) Alone(now grid.Time, w *Work, used time.Duration) float64 {
	if e.sharing == nil {
		return e.RunTime(now, w)
	}
	_, lost := e.sharing.of(now, w.ID)
	all := (e.age(now, w) + lost).Seconds()
	if all <= 0 {
		return 0
	}
	r, t := max(1-lost.Seconds()/all, 1e-3), used.Seconds()/w.cores()
	return max(all-max(min(lost.Seconds(), t*(1/r-1), all-t), 0), 0)
}
