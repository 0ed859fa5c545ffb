package worker

import (
	"cmp"
	"time"

	"skep/balance/order"
	"skep/exec"
	"skep/grid"
	"skep/node/chain"
	"skep/node/checkpoint"
	"skep/node/intake"
	"skep/node/progress"
	"skep/node/quota"
	"skep/node/reservation"
)

// Config is what a worker is told once.
type Config struct {
	Self     grid.NodeID
	Boot     uint64 // number of starts so far, kept on disk
	Capacity grid.Resources
	Lease    time.Duration // of this node's own jobs
	Private  bool          // only attempts of this node's own jobs are accepted
	Durable  bool          // what runs goes on while the node does not
	Whole    bool          // estimates count a running attempt in full
	Bounds   []Bound
	RunTime  exec.Law      // expected run times here
	Order    *order.Config // of the queue; nil = first come, first served
	Policy   string        // of the jobs that say none: what it calls worth more is accepted first

	Contacts Contacts
	Quota    *quota.Accounts // of what is stored for others; the attempts in it are the worker's
	Signer   chain.Signer    // of how attempts of signed jobs end; nil = none is
}

// Contacts are the node's connections.
type Contacts interface {
	// Connected reports whether a node is this one, or connected.
	Connected(id grid.NodeID) bool

	// KnowsPrices reports whether a node understands refusals with prices.
	KnowsPrices(id grid.NodeID) bool

	// Dial requests a connection, once in a step.
	Dial(now grid.Time, id grid.NodeID, fx *grid.Effects)
}

// Worker is the attempts that a node has accepted.
type Worker struct {
	news      News // every step reads what comes first, and what comes first in exec
	freed     bool // attempts were released, or may start, since StartFreed
	leasesDue bool // this node's own waiting work may get start leases now
	refuted   bool // predictions for the queue were, by a wait half as long again, and nothing has started since
	leaving   bool

	stops                 stops     // the timer of beats says when
	boundWake, resultWake grid.Time // time of the next timer; 0 = none

	exec   exec.Exec
	cfg    Config
	owners map[grid.JobID]*ownerRecord // of the replicated jobs of which attempts are here

	progress    progress.Outbox
	checkpoints checkpoint.Running

	letGo
	intake     *intake.Window // nil = nobody has asked about a job with options
	drainUntil grid.Time      // when a draining node stops what runs
	counts     counts

	reallocating reallocating
	reservations reservation.Table
	reserveWake  grid.Time // time of the next timer; 0 = none
}

// counts are those since the start.
type counts struct{ stale, vacated uint64 }

// letGo are attempts that are not here.
type letGo struct {
	released tombstones // of others' jobs, not here any more
	neverRan tombstones // that were refused or handed back, the latter also after they were acknowledged
}

// News is what has changed at a worker.
type News struct {
	Ran     []Ran // successful ends
	Ended   bool  // an attempt has ended
	Changed bool  // what the node's ad says of its load
}

// Ran is how long an attempt of a level of a class took its place here, its start and the collection of its output
// included.
type Ran struct {
	Class   string
	Time    float64 // seconds
	Whole   float64 // seconds that it would have taken without the speedup of its option
	Process float64 // seconds for which its process ran
}

// New returns a worker without attempts.
func New(cfg Config) Worker {
	w := Worker{cfg: cfg, exec: exec.New(cfg.Capacity)}
	w.exec.CountWhole(cfg.Whole)
	w.exec.Gate(mayStart)
	if cfg.Order != nil {
		w.exec.OrderBy(cfg.Order, cfg.RunTime)
		w.reallocating.begin(&cfg.Order.Reallocate)
	}
	return w
}

// Exec returns the ledger of the machine, to read.
func (w *Worker) Exec() *exec.Exec { return &w.exec }

// Stale is the number of messages that were ignored: about attempts that are not here, or from nodes that may not send
// them.
func (w *Worker) Stale() uint64 { return w.counts.stale + w.checkpoints.Stale() }

// News returns what has changed since the last call; valid until the next one.
func (w *Worker) News() News {
	news := w.news
	w.news = News{Ran: w.news.Ran[:0]}
	return news
}

// Advance tells the worker the time.
func (w *Worker) Advance(now grid.Time) {
	w.exec.Advance(now)
	if now >= w.table().Next() { // its timer may come late: it is set when the records of its step are on disk
		w.table().Expire(now)
		w.freed, w.news.Changed = true, true
	}
}

// SetCoreShare sets the share of the cores that tasks get.
func (w *Worker) SetCoreShare(now grid.Time, share float64) {
	w.exec.SetCoreShare(now, share)
	w.freed = w.freed || w.exec.Shares() // tasks that wait for the least speed may have it now
}

// SetLowDisk makes the worker refuse attempts while the disk is nearly full.
func (w *Worker) SetLowDisk(low bool) { w.exec.LowDisk(low) }

// SetAway makes the worker refuse attempts while what runs tasks elsewhere takes none.
func (w *Worker) SetAway(away bool) { w.exec.Away(away) }

// Answer fills in the answer to a node's poll, but for the rates: for the bid that the poll is about.
func (w *Worker) Answer(now grid.Time, from grid.NodeID, q *grid.Poll, s *grid.State) {
	need, key := q.Needs, order.Key{Bid: cmp.Or(q.Bid, grid.UsualBid), Node: from, Class: q.Class}
	ready, done := w.exec.Done(now, key, need, 1, w.cfg.RunTime)
	if s.Why = w.exec.Refuses(need); w.cfg.Private {
		s.Why = grid.WhyPrivate
	}
	s.Backlog, s.ECT = grid.Seconds(ready), grid.Seconds(done)
	s.Free, s.Stamp = w.exec.Free(), w.Stamp(now)
	w.answerOptions(now, key, q.Options, s)
	w.askedAbout(now, from, q.Options)
	ran, rest := w.exec.Ahead(now, key.Bid, need, w.cfg.RunTime)
	s.Waiting, s.Running, s.Ran, s.Rest = int32(w.exec.Waiting()), int32(len(w.exec.Running())), grid.Seconds(ran),
		grid.Seconds(rest)
}

// waitOf is the expected time in seconds until a task of a job would start that came now.
func (w *Worker) waitOf(now grid.Time, id grid.JobID, s *grid.JobSpec, class string) float64 {
	return w.exec.WaitOf(now, w.payer(id).Key(id, s, class), s.Needs.Resources, w.cfg.RunTime)
}

// SetTimers sets, at the end of a step, the timers for the results that are still here and for the queue's next start
// leases, unless earlier ones are pending.
func (w *Worker) SetTimers(now grid.Time, fx *grid.Effects) {
	if a := w.exec.NextResend(); a != nil && (w.resultWake == 0 || a.Due < w.resultWake) {
		w.resultWake = a.Due
		fx.Wake(a.Due, grid.TimerResult, 0)
	}
	if first := w.exec.FirstQueued(); first != nil {
		w.wakeForBeat(now, first.Lease, fx)
	}
	w.wakeForReserved(fx)
}

// own reports whether this node owns a job, as far as is known here.
func (w *Worker) own(id grid.JobID) bool { return w.Owner(id) == w.cfg.Self }
