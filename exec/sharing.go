package exec

import (
	"cmp"
	"math"
	"slices"
	"time"

	"skep/exec/proportional"
	"skep/grid"
)

// Proportional sharing of the cores (package proportional): all work that is accepted runs at once, as long as each
// runs at the least speed. Memory and counted resources are taken as ever. In the ledger the cores that work needs are
// taken too, so there may be fewer than none left; what others are told is free has none then.

// sharing is a node whose work shares the cores. Work of one bid runs at one speed, so that what a change costs depends
// on the number of bids that run. Invariant: bids has an entry for each bid of which an attempt runs, or has yet to
// stop, the highest first; tasks says of each what package proportional has to know.
type sharing struct {
	least float64
	cores float64 // of the node
	left  float64 // share of them that other users leave
	level float64 // proportional.Level of tasks
	bids  []sharers
	tasks []proportional.Task
	since grid.Time // of the level
	with  []proportional.Task
	room  struct { // the last answer of roomFor, until something changes
		bid   grid.Bid // 0 = there is none
		cores float64
	}
}

// sharers are the attempts of a bid that run.
type sharers struct {
	bid  grid.Bid
	cpu  grid.MilliCPU
	n    int
	lost float64 // seconds of run time that one which ran since the first came has lost to others, until sharing.since
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
		for _, t := range e.sharing.tasks {
			s.Bids += t.Bid * t.Cores
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
	s.with = append(append(s.with[:0], s.tasks...), proportional.Task{Bid: bid.Number(), Cores: need.Cores()})
	return proportional.Speed(proportional.Level(s.cores*s.left, s.with), bid.Number())
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

// noCores reports whether nothing that is queued could start for want of cores, as far as that can be told at once:
// where the cores are shared, whether the least that is queued needs more than there is for any bid.
func (e *Exec) noCores() bool {
	if e.sharing == nil {
		return e.free.CPU <= 0
	}
	return len(e.sharing.bids) > 0 && !e.mayTakeAny(e.sharing.mostRoom())
}

// admits reports whether all would keep the least speed beside a task that came now. A task that is alone always does.
func (s *sharing) admits(bid grid.Bid, need grid.MilliCPU) bool {
	return len(s.bids) == 0 || need.Cores() <= s.roomFor(bid)
}

// roomFor is proportional.Room of a bid, of the cores that other users leave. Most of a long queue is of one bid.
func (s *sharing) roomFor(bid grid.Bid) float64 {
	if s.room.bid != bid {
		s.room.bid, s.room.cores = bid, proportional.Room(s.cores*s.left, s.least, bid.Number(), s.tasks)
	}
	return s.room.cores
}

// mostRoom is the most that work of any bid may need. The lowest bid that runs has it: beside a lower one all others
// would count for more, and a higher one counts for more itself.
func (s *sharing) mostRoom() grid.MilliCPU {
	most := proportional.Room(s.cores*s.left, s.least, s.tasks[len(s.tasks)-1].Bid, s.tasks)
	return grid.MilliCPU(math.Floor(most * float64(grid.CPU)))
}

// settle accounts for the time until now, before anything changes.
func (s *sharing) settle(now grid.Time) {
	if d := now.Sub(s.since).Seconds(); d > 0 {
		for i := range s.bids {
			s.bids[i].lost += d * (1 - s.speed(i))
		}
	}
	s.since = max(s.since, now)
}

func (s *sharing) speed(i int) float64 { return proportional.Speed(s.level, s.tasks[i].Bid) }

// changed computes the level anew.
func (s *sharing) changed() {
	s.level, s.room.bid = proportional.Level(s.cores*s.left, s.tasks), 0
}

func (s *sharing) setLeft(now grid.Time, left float64) {
	if s != nil {
		s.settle(now)
		s.left = left
		s.changed()
	}
}

// find returns the place of a bid.
func (s *sharing) find(bid grid.Bid) (at int, found bool) {
	return slices.BinarySearchFunc(s.bids, bid, func(x sharers, bid grid.Bid) int { return cmp.Compare(bid, x.bid) })
}

// begin adds an attempt that runs, and returns what those of its bid have lost so far.
func (s *sharing) begin(now grid.Time, bid grid.Bid, need grid.MilliCPU) (lost float64) {
	s.settle(now)
	at, found := s.find(bid)
	if !found {
		s.bids = slices.Insert(s.bids, at, sharers{bid: bid})
		s.tasks = slices.Insert(s.tasks, at, proportional.Task{Bid: bid.Number()})
	}
	s.add(at, 1, need)
	return s.bids[at].lost
}

// end removes one of which nothing runs any more.
func (s *sharing) end(now grid.Time, bid grid.Bid, need grid.MilliCPU) {
	if s != nil {
		s.settle(now)
		at, _ := s.find(bid)
		s.add(at, -1, -need)
	}
}

func (s *sharing) add(at, n int, need grid.MilliCPU) {
	x := &s.bids[at]
	x.n, x.cpu = x.n+n, x.cpu+need
	if s.tasks[at].Cores = x.cpu.Cores(); x.n == 0 {
		s.bids, s.tasks = slices.Delete(s.bids, at, at+1), slices.Delete(s.tasks, at, at+1)
	}
	s.changed()
}

// shareOf returns at what part of its full speed work runs, and for how long it would have run less until now if it
// had done so at full speed.
func (e *Exec) shareOf(now grid.Time, w *Work) (speed float64, lost time.Duration) {
	s := e.sharing
	if s == nil || w.State != grid.WorkRunning {
		return 1, 0
	}
	at, _ := s.find(e.bid(w))
	speed = s.speed(at)
	return speed, grid.Seconds(s.bids[at].lost - w.lostAtStart + (1-speed)*max(now.Sub(s.since), 0).Seconds())
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
	_, lost := e.shareOf(now, w)
	all := (e.age(now, w) + lost).Seconds()
	if all <= 0 {
		return 0
	}
	r, t := max(1-lost.Seconds()/all, 1e-3), used.Seconds()/w.Spec.Needs.CPU.Cores()
	return max(all-max(min(lost.Seconds(), t*(1/r-1), all-t), 0), 0)
}
