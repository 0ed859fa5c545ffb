package peers

import (
	"cmp"
	"iter"
	"time"

	"skep/grid"
	"skep/node/reputation"
)

// What became of the attempts that this node gave to others: the coordinator tells, and it changes what is expected of
// them.

// Believed is in how many seconds a worker is believed to be done with a run, of which so much is expected by what it
// says; speedup is that of the run's option.
func (p *Peers) Believed(now grid.Time, worker grid.NodeID, stated float64, level string, speedup float64) float64 {
	if worker == p.cfg.Self {
		return stated
	}
	return p.records.Of(worker).CompletionTime(now, stated, p.Expected(level)/speedup,
		p.cfg.Rates.MinRunTime(level, p.statedRates)/speedup)
}

// Record is this node's track record of a worker; nil = it was never given an attempt.
func (p *Peers) Record(worker grid.NodeID) *reputation.Record { return p.records.Of(worker) }

// Start notes that an attempt is made.
func (p *Peers) Start(now grid.Time, e *grid.Expectation) { p.records.Start(now, e) }

// Given adds an attempt to its worker's outstanding ones, of which ect seconds are expected until its end.
func (p *Peers) Given(now grid.Time, e *grid.Expectation, level string, worker grid.NodeID, ect float64) {
	if !p.cfg.RatesGiven && worker != p.cfg.Self { // else nothing is doubted
		p.records.Given(now, e, worker, ect, e.Usual(p.Expected(level)*p.slowest(worker)))
	}
}

// slowest is how many times as long as alone a task may take at a worker, whose ad says that those which come later may
// slow it down so far. Of a worker that has not delivered yet only what it was chosen by is believed: to state a low
// speed costs it nothing, and would have what it keeps waited for.
func (p *Peers) slowest(worker grid.NodeID) float64 {
	if g := p.cfg.Gossip.Peer(worker); g != nil && g.Ad != nil && p.records.Of(worker).Delivered() {
		return g.Ad.Sharing.Slowest()
	}
	return 1
}

// Returned takes an attempt off its worker's outstanding ones, before anything else about it changes; delivered = it
// brought a result. It reports whether the worker may get other work by that.
func (p *Peers) Returned(now grid.Time, e *grid.Expectation, worker grid.NodeID, delivered bool) bool {
	if e.LateAt != 0 && e.SentAt > 0 && (e.Accepted || delivered) {
		p.hazards.There(now, worker, now.Sub(e.SentAt))
	}
	return p.records.Returned(now, e, worker, delivered)
}

// Risk is the probability that a node loses an attempt within so many seconds, by what it and the grid have lost lately
// of what this node gave them.
func (p *Peers) Risk(now grid.Time, worker grid.NodeID, seconds float64) float64 {
	return p.hazards.Risk(now, worker, seconds)
}

// StoodStill leaves out of what is expected of an attempt for how long its worker suspended it.
func (p *Peers) StoodStill(e *grid.Expectation, worker grid.NodeID, d time.Duration) {
	if d > 0 {
		p.records.StoodStill(e, worker, d)
	}
}

// Lost records that a worker has lost an attempt. An offer that nobody answered is no run that was lost: the worker was
// away before.
func (p *Peers) Lost(now grid.Time, e *grid.Expectation, worker grid.NodeID, lease time.Duration) {
	p.records.Lost(now, worker, lease)
	if e.Accepted && worker != p.cfg.Self { // whose own runs are not among those given to others
		p.hazards.Lost(now, worker)
	}
}

// LossBackoff is for how long a task that a node has lost prefers others to it, by the node's track record.
func (p *Peers) LossBackoff(now grid.Time, worker grid.NodeID, lease time.Duration) time.Duration {
	return p.records.LossBackoff(now, worker, lease)
}

// Reclaimed records that an attempt was taken back from a worker that did not end it in time.
func (p *Peers) Reclaimed(now grid.Time, worker grid.NodeID) { p.records.Reclaimed(now, worker) }

// IsStraggler reports whether an attempt is so old that it is reclaimed from its worker. Not where all rates are given.
func (p *Peers) IsStraggler(now grid.Time, e *grid.Expectation, worker grid.NodeID, level string, spec *grid.JobSpec,
	reclaims uint8) bool {
	if p.cfg.RatesGiven {
		return false
	}
	x, usual := p.cfg.Rates.Measured(level), p.Expected(level)
	if x == nil || usual == 0 { // no task of the class has ever ended
		return false
	}
	return p.records.Straggler(now, e, worker, grid.RunEstimate{
		RunTime: e.Usual(usual * p.slowest(worker)), Variation: x.EndVariation(), Known: x.Known(),
		Fetch: p.transferTime(inputBytes(spec)), Limit: spec.Timeout, Reclaims: reclaims,
	})
}

// Ended records how a task of a class ended at a worker.
func (p *Peers) Ended(now grid.Time, class string, worker grid.NodeID, r *grid.Result) {
	p.failures.Ended(now, class, worker, r)
}

// Failed records that a worker failed a class without a result.
func (p *Peers) Failed(now grid.Time, class string, worker grid.NodeID) {
	p.failures.Failed(now, class, worker)
}

// Probe records that a task of a class is offered to a node: if it is blacklisted for the class, others are not until
// this one has ended.
func (p *Peers) Probe(now grid.Time, class string, id grid.NodeID) { p.failures.Probe(now, class, id) }

// Learn learns from a result that a task has ended with; took is the time since its attempt was made, moving the part
// of it in which the task neither waited nor ran. A result teaches run times only if it is this node's or of a worker
// with a proven track record. It reports whether the run time to expect has become known or has jumped. e is what was
// expected of the attempt.
func (p *Peers) Learn(level string, worker grid.NodeID, spec *grid.JobSpec, e *grid.Expectation, r *grid.Result, took,
	moving time.Duration) (changed bool) {
	if r.Succeeded() && (worker == p.cfg.Self || p.records.Of(worker).Proven()) {
		p.records.CountResult()
		ran := min(max(r.Wall, 0), took).Seconds()
		changed = p.cfg.Rates.Ended(level, ran*cmp.Or(e.Speedup, 1))
	}
	if worker != p.cfg.Self {
		if r.Succeeded() {
			p.holders.has(worker, spec, false)
		}
		p.cfg.Rates.Moved(moving.Seconds(), p.RTT(worker), inputBytes(spec))
	}
	return changed
}

// Redate gives an outstanding attempt as long as tasks of its level are now known to take.
func (p *Peers) Redate(e *grid.Expectation, worker grid.NodeID, level string) {
	p.records.Redate(e, worker, e.Usual(p.Expected(level)*p.slowest(worker)))
}

// Excludes reports whether a node is on the blacklist of a class, or is being probed by another task.
func (p *Peers) Excludes(now grid.Time, class string, id grid.NodeID) bool {
	return p.failures.Blacklist(class).Excludes(now, id)
}

// HasBlacklist reports whether any node is on the blacklist of a class.
func (p *Peers) HasBlacklist(class string) bool { return p.failures.Blacklist(class) != nil }

// Blacklist iterates over the blacklisted nodes of a class.
func (p *Peers) Blacklist(class string) iter.Seq2[grid.NodeID, grid.Refusal] {
	return p.failures.Blacklist(class).Excluded()
}

// Blacklisted returns the reason why a node gets no task of a class now; WhyNone if it may.
func (p *Peers) Blacklisted(now grid.Time, class string, id grid.NodeID) grid.Refusal {
	return p.failures.Refusal(now, class, id)
}

// Backoff is until when a node gets no work for what it has not delivered, as far as a back-off runs; 0 = it may.
type Backoff struct {
	Class  grid.Time // for failures, of the class that was asked about
	Node   grid.Time // for stragglers, of any class
	Single bool      // for stragglers: it gets one attempt at a time
}

// Backoff returns the back-off of a node.
func (p *Peers) Backoff(now grid.Time, class string, id grid.NodeID) (b Backoff) {
	b.Class = p.failures.BackoffUntil(now, class, id)
	b.Node, b.Single = p.records.Of(id).BackoffUntil()
	return b
}
