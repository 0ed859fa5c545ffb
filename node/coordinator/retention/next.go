package retention

import "skep/grid"

// Due reports whether it is to be looked for jobs to let go: one has ended since the last time, or the timer has fired.
func (s *Jobs) Due() bool { return s.due && s.bounds.Any() }

// woke says that a timer has fired. One that was set for later than another one is stale.
func (s *Jobs) woke(now grid.Time) {
	if s.wake != 0 && now >= s.wake {
		s.wake, s.due = 0, true
	}
}

// Next returns the job that is to go first, and by which bound; nil = none is to go now.
func (s *Jobs) Next(now grid.Time) (*Job, Why) {
	for j := s.aside.first; j != nil && j.until <= now; j = s.aside.first {
		s.leave(j)
		s.enter(j)
	}
	first := s.order.first
	switch {
	case first == nil || now < s.ripe(first):
	case s.bounds.Age > 0 && now >= first.ended.Add(s.bounds.Age):
		return first, ByAge
	case s.bounds.Jobs > 0 && s.Len() > s.bounds.Jobs && !s.newest(first):
		return first, ByNumber
	case s.tooMany(now):
		return s.holders.first, ByBytes
	}
	return nil, Kept
}

// tooMany reports whether files are beyond their bound, and one may go that holds some.
func (s *Jobs) tooMany(now grid.Time) bool {
	j := s.holders.first
	return s.bounds.Bytes > 0 && s.blobs.bytes > s.bounds.Bytes && j != nil && now >= s.ripe(j) && !s.newest(j)
}

// ripe returns when a job's grace is over.
func (s *Jobs) ripe(j *Job) grid.Time { return max(j.ended, s.start).Add(s.grace) }

// newest reports whether no job has ended after one that is not set aside.
func (s *Jobs) newest(j *Job) bool {
	if j != s.order.last {
		return false
	}
	for x := s.aside.first; x != nil; x = x.links[s.aside.which].after {
		if j.older(x) {
			return false
		}
	}
	return true
}

// SetAside has a job stay that is to go: it is looked at again after a minute.
func (s *Jobs) SetAside(now grid.Time, j *Job) {
	s.leave(j)
	j.state, j.until = aside, now.Add(setAside)
	s.aside.add(j)
}

// Looked says that all that is to go now has gone, or as much of it as may go at once. It returns when the timer for
// the rest is to fire, unless it will by then or there is nothing to wait for.
func (s *Jobs) Looked(now grid.Time) (at grid.Time, set bool) {
	s.due = false
	if at = s.next(now); at == grid.Never || s.wake != 0 && s.wake <= at {
		return at, false
	}
	s.wake = at
	return at, true
}

// next returns when it is to be looked again.
func (s *Jobs) next(now grid.Time) grid.Time {
	at := grid.Never
	if j := s.aside.first; j != nil {
		at = j.until
	}
	first := s.order.first
	if first == nil {
		return at
	}
	if s.bounds.Age > 0 {
		at = min(at, max(first.ended.Add(s.bounds.Age), s.ripe(first)))
	}
	if s.bounds.Jobs > 0 && s.Len() > s.bounds.Jobs && !s.newest(first) {
		at = min(at, s.ripe(first))
	}
	if j := s.holders.first; s.bounds.Bytes > 0 && s.blobs.bytes > s.bounds.Bytes && j != nil && !s.newest(j) {
		at = min(at, s.ripe(j))
	}
	if at <= now {
		at = now.Add(pause)
	}
	return at
}
