package brokers

import "skep/balance"

// resource runs one job after the other. Since none is ever taken out, the end of each is known when it comes.
type resource struct {
	cluster int
	site    *balance.Site // as it tells
	known   *balance.Site // as is known without asking

	ends   []float64 // of the jobs that are here, in order; a ring
	head   int
	n      int
	free   float64 // when all of them are done
	start  float64 // of the first
	demand float64 // of all that came, seconds
}

// settle forgets the jobs that are done.
func (r *resource) settle(now float64) {
	for r.n > 0 && r.ends[r.head] <= now {
		r.start = r.ends[r.head] // of the next, unless that came later, see take
		r.head = (r.head + 1) & (len(r.ends) - 1)
		r.n--
	}
}

// take adds a job and returns when it is done.
func (r *resource) take(now, demand float64) float64 {
	r.settle(now)
	if r.n == 0 {
		r.start, r.free = now, now
	}
	r.free += demand
	r.demand += demand
	if r.n == len(r.ends) {
		ends := make([]float64, max(8, 2*r.n))
		for k := range r.n {
			ends[k] = r.ends[(r.head+k)&(len(r.ends)-1)]
		}
		r.ends, r.head = ends, 0
	}
	r.ends[(r.head+r.n)&(len(r.ends)-1)] = r.free
	r.n++
	return r.free
}

// tell fills in what a resource says of a job that takes so long: exactly when it would be done there.
func (r *resource) tell(now, demand float64, s *balance.State) {
	r.settle(now)
	s.Site = r.site
	s.Ready = max(r.free-now, 0)
	s.ECT = s.Ready + demand
	s.Waiting, s.Running, s.Ran, s.Rest = 0, 0, 0, 0
	if r.n > 0 {
		s.Waiting, s.Running = int32(r.n-1), 1
		s.Ran, s.Rest = now-r.start, r.ends[r.head]-now
	}
}
