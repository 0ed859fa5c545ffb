package membership

import (
	"time"

	"skep/grid"
	"skep/sparse"
)

const (
	probeRetry   = 500 * time.Millisecond // a candidate that has not answered by then may be replaced
	startupGrace = 3 * time.Second        // time after the start for known nodes to reconnect
)

// Config is what the choice of members is told once.
type Config struct {
	Labels  []grid.Label  // this node's, as far as they name failure domains
	Members int           // of a register, this node among them: 1, 3 or 5
	Confirm time.Duration // a submission takes what nodes have answered by then, or fails
	Known   int           // number of other nodes that this one knew when it started
	Timer   grid.Timer    // its wakes go to Submissions.Wake

	Contacts   Contacts
	Keepalives Keepalives
}

// Contacts are the node's connections.
type Contacts interface {
	// Candidates returns the ads of the connected nodes that can be members, in an order that is the same in each run;
	// only those of nodes that have these features.
	Candidates(features grid.FeatureSet) []*grid.Ad

	// ExpectsAds reports whether a connected node has not sent its ad yet.
	ExpectsAds() bool
}

// Keepalives are exchanged with the members of registers, and with those that may become members.
type Keepalives interface {
	// Probe sends a keepalive to a node, unless one that is younger than retry is open.
	Probe(now grid.Time, id grid.NodeID, retry time.Duration, fx *grid.Effects)

	// IsAlive reports whether a node has answered a keepalive just now.
	IsAlive(now grid.Time, id grid.NodeID) bool

	// Room is what a node has said of its quota: it keeps jobs of fewer tasks; 0 = of any number, or it has not said.
	Room(id grid.NodeID) uint32
}

// Submissions are the submissions to this node whose members are not chosen yet. They are listed by the node whose
// answer they await, so an answer looks only at the submissions that it concerns.
type Submissions struct {
	cfg     Config
	rng     *grid.Rand
	started grid.Time // of this node
	*lists            // nil before the first submission: many nodes of a large grid get none
}

// lists are the submissions, in several orders.
type lists struct {
	by      sparse.Map[grid.JobID, *pendingSubmission]
	queues  []*queue                             // by their features; one stays once it was made
	awaited map[grid.NodeID][]*pendingSubmission // by the node whose answer they await; may hold done ones
	chosen  []Job                                // members were chosen in this call
	wake    bool                                 // a timer is pending
}

// New returns a node's submissions: none yet.
func New(cfg Config, rng *grid.Rand) Submissions { return Submissions{cfg: cfg, rng: rng} }

// Start notes when this node started: it waits a while for the nodes that it knew.
func (s *Submissions) Start(now grid.Time) { s.started = now }

// Submit takes a valid submission of a job that is not here. Its members are chosen at once if this node alone is to
// keep it. A repeated submission is answered with the first one. The jobs returned, here and below, are to be created
// in that order; then SetTimer is called.
func (s *Submissions) Submit(now grid.Time, id grid.JobID, spec *grid.JobSpec, caller uint64, fx *grid.Effects) []Job {
	if s.lists != nil {
		if p := s.by.Get(id); p != nil {
			p.Callers = append(p.Callers, caller)
			return nil
		}
	}
	job := Job{ID: id, Spec: spec, Callers: []uint64{caller}, Since: now}
	if s.cfg.Members == 1 {
		return []Job{job}
	}
	if s.lists == nil {
		s.lists = new(lists)
	}
	s.add(&pendingSubmission{Job: job})
	return s.choose(now, nil, true, fx)
}

// Answered goes on when a node proves alive. If it was not alive before, the submissions that waited for it are tried.
func (s *Submissions) Answered(now grid.Time, from grid.NodeID, revived bool, fx *grid.Effects) []Job {
	if s.lists == nil {
		return nil
	}
	var waiters []*pendingSubmission
	if revived {
		waiters = s.takeAwaiting(from)
	}
	chosen := s.choose(now, waiters, false, fx)
	for _, p := range waiters {
		if !p.done && now < p.Since.Add(probeRetry) {
			s.await(from, p)
		}
	}
	return chosen
}

// Wake tries every submission when the timer ends, and probes more candidates for those that go on waiting.
func (s *Submissions) Wake(now grid.Time, fx *grid.Effects) []Job {
	if s.lists == nil {
		return nil
	}
	s.wake = false
	chosen := s.choose(now, s.pending(), true, fx)
	if !s.isPending() {
		s.awaited = nil
	}
	return chosen
}

// SetTimer sets the timer if a submission is pending, unless it is set already.
func (s *Submissions) SetTimer(now grid.Time, fx *grid.Effects) {
	if s.isPending() && !s.wake {
		s.wake = true
		fx.Wake(now.Add(probeRetry/2), s.cfg.Timer.Kind, s.cfg.Timer.Key)
	}
}
