package marketplace

import (
	"math"
	"slices"

	"skep/balance/market"
)

// server runs background tasks, and those of the market with what is left [1, section 6.2.3].
type server struct {
	index int32
	speed float64 // of a resource unit
	units float64
	discipline

	background int // tasks that run
	queued     int // tasks that wait for others of the background
	takes      float64

	dropsLate bool // tasks that were suspended until their deadline has passed
	whole     bool // its price follows from all of its capacity

	tasks   []*task // given to it, not ended
	running *task   // Exclusive, Preemptive
	bids    float64 // of tasks, where Proportional
	last    float64 // time to which work is counted
	version uint32  // of the planned completion

	arrived  []uint32 // tasks that have come, by owner
	told     uint32   // news
	revenue  market.Revenue
	price    float64
	executed float64 // work for the market
	own      float64 // resource units × time of the background
}

// discipline says which of its tasks a server runs.
type discipline struct {
	serving market.Serving
	order   market.Order // of those that wait, where it is Exclusive
}

// available is the number of resource units for tasks of the market.
func (s *server) available() float64 { return s.units - s.takes*float64(s.background) }

// advance counts the work done up to now.
func (s *server) advance(now float64) {
	d := now - s.last
	s.last = now
	if d <= 0 {
		return
	}
	rate := s.speed * s.available()
	if s.whole {
		s.revenue.Offered(now, s.speed*s.units)
	} else {
		s.revenue.Offered(now, rate)
	}
	s.own += d * s.takes * float64(s.background)
	if rate <= 0 {
		return
	}
	if s.serving == market.Proportional {
		for _, t := range s.tasks {
			s.work(t, d*rate*s.share(t))
		}
	} else if s.running != nil {
		s.work(s.running, d*rate)
	}
}

func (s *server) work(t *task, amount float64) {
	amount = min(amount, t.query.Left)
	t.query.Left -= amount
	s.executed += amount
}

// share is the part of the server that a task gets.
func (s *server) share(t *task) float64 {
	if s.bids <= 0 {
		return 1 / float64(len(s.tasks))
	}
	return t.query.Bid / s.bids
}

// plan returns the time of the next completion, +Inf if there is none, and the task.
func (s *server) plan(now float64) (at float64, t *task) {
	s.version++
	rate := s.speed * s.available()
	at = math.Inf(1)
	if rate <= 0 {
		return at, nil
	}
	if s.serving != market.Proportional {
		if s.running == nil {
			return at, nil
		}
		return now + s.running.query.Left/rate, s.running
	}
	for _, x := range s.tasks {
		if share := s.share(x); share > 0 {
			if due := now + x.query.Left/(rate*share); due < at {
				at, t = due, x
			}
		}
	}
	return at, t
}

// add gives the server a task, and returns the one that it suspends; nil = none.
func (s *server) add(t *task) (suspended *task) {
	s.tasks = append(s.tasks, t)
	t.at = s.index
	if s.serving == market.Proportional {
		s.bids += t.query.Bid
		t.running = true
		return nil
	}
	switch {
	case s.running == nil:
		s.run(t)
	case s.serving == market.Preemptive && t.query.Bid > s.running.query.Bid:
		suspended = s.running
		suspended.running = false
		suspended.stops++
		s.run(t)
	case s.serving == market.Exclusive: // it waits
	default:
		suspended = t
		t.stops++
	}
	return suspended
}

func (s *server) run(t *task) {
	t.running = true
	s.running = t
}

// remove takes a task away, and returns the one that it resumes; nil = none.
func (s *server) remove(t *task) (resumed *task) {
	i := slices.Index(s.tasks, t)
	s.tasks = slices.Delete(s.tasks, i, i+1)
	t.at, t.running = -1, false
	if s.serving == market.Proportional {
		s.bids -= t.query.Bid
		if len(s.tasks) == 0 {
			s.bids = 0
		}
		return nil
	}
	if s.running != t {
		return nil
	}
	s.running = nil
	if s.dropsLate {
		s.drop()
	}
	for _, x := range s.tasks {
		if resumed == nil || s.before(x, resumed) {
			resumed = x
		}
	}
	if resumed != nil {
		s.run(resumed)
	}
	return resumed
}

// before reports whether a task that waits goes before one that was there first.
func (s *server) before(x, y *task) bool {
	switch {
	case s.serving == market.Exclusive && s.order == market.ByArrival:
		return false
	case s.serving == market.Exclusive && s.order == market.BySize:
		return x.query.Size < y.query.Size
	}
	return x.query.Bid > y.query.Bid
}

// drop ends the suspended tasks whose deadlines have passed: they will have no result.
func (s *server) drop() {
	s.tasks = slices.DeleteFunc(s.tasks, func(x *task) bool {
		if s.last < x.query.Deadline {
			return false
		}
		x.at = -1
		return true
	})
}

// admit starts a background task, or lets it wait; it reports which.
func (s *server) admit() (started bool) {
	if s.available() < s.takes {
		s.queued++
		return false
	}
	s.background++
	return true
}

// leave ends a background task, and reports whether one that waited starts.
func (s *server) leave() (started bool) {
	s.background--
	if s.queued == 0 {
		return false
	}
	s.queued--
	s.background++
	return true
}

// news is what a server tells the matcher of itself.
type news struct {
	server    int32
	number    uint32  // of the server's, from 1 on
	arrived   uint32  // tasks of the receiver's that have come so far
	given     int     // tasks that are there
	due       float64 // when the last of them will be done
	ended     bool    // a task has ended, or is away
	freed     bool    // the server does more than before
	available float64
	price     float64
	bids      float64
	busy      bool
	high      float64
	running   uint64
}

func (s *server) news(now float64, ended, freed bool) news {
	s.told++
	n := news{server: s.index, number: s.told, given: len(s.tasks), due: now, ended: ended, freed: freed,
		available: s.available(), price: s.price, bids: s.bids}
	if s.serving == market.Exclusive {
		for _, t := range s.tasks {
			n.due += t.query.Left / (s.speed * max(n.available, 1e-9))
		}
	}
	if s.running != nil {
		n.busy, n.high, n.running = true, s.running.query.Bid, s.running.query.ID
	}
	return n
}
