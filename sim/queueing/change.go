package queueing

// change sets one rate anew. Whose it is knows at once.
func (e *engine) change() {
	c := e.sys.RateChanges
	e.nextChange = e.now + e.changes.ExpFloat64()*c.MeanInterval
	r := &e.rates
	k := e.changes.IntN(len(r.entries) + e.n*e.m)
	u := e.changes.Float64()
	pick := func(factors []float64) float64 {
		if len(factors) == 0 {
			return 1
		}
		return factors[int(u*float64(len(factors)))]
	}
	if k < len(r.entries) {
		e.books.expect(e)
		r.entries[k] = e.baseAlpha(k) * pick(c.Alpha)
		r.total = r.table.fill(r.entries)
		e.arrival = e.gap() // arrivals have no memory
		switch {
		case r.byPlace:
			e.news(k % e.m)
		case e.scattered:
			for j := range e.m {
				e.news(j)
			}
		default:
			e.newDemand()
		}
		return
	}
	k -= len(r.entries)
	i, j := k/e.m, k%e.m
	r.mu[j*e.n+i] = e.sys.Mu[i][e.line[j]] * pick(c.Mu)
	e.news(j)
}

// shift gives every machine another availability. What runs goes on as it was drawn.
func (e *engine) shift() {
	c := e.sys.AvailabilityChanges
	e.nextShift = e.now + e.changes.ExpFloat64()*c.MeanInterval
	for j := range e.machines {
		e.machines[j].speed = c.Values[e.changes.IntN(len(c.Values))]
		e.rates.announce(e, j)
		e.news(j)
	}
}

// news makes the column of machine j as it is now, and tells who knows at once.
func (e *engine) news(j int) {
	e.rates.err(e, j)
	e.rates.tell(e, j)
	if e.pull != nil {
		e.pull.tell(e, j)
		return
	}
	e.push.news(e, j)
}

// newDemand tells a mapper, or a scheduler, of the arrival rates.
func (e *engine) newDemand() {
	e.rates.err(e, e.m)
	o := e.rates.demand(e)
	if e.pull != nil {
		e.pull.policy.Note(o)
		e.pull.ask(e)
		return
	}
	e.push.policies[0].Note(o)
}
