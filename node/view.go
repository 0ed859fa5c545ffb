package node

import (
	"slices"
	"time"

	"skep/discovery"
	"skep/grid"
	"skep/node/coordinator"
	"skep/node/dependency"
	"skep/node/peers"
)

// JobView is a job as a node knows it.
type JobView = coordinator.JobView

// TaskView is one task of a job.
type TaskView = coordinator.TaskView

// Backoff is until when a node gets no work of another one for what it has not delivered.
type Backoff = peers.Backoff

// Awaits is a job that another one waits for.
type Awaits = dependency.Awaits

// PeerView is a node as this one sees it.
type PeerView struct {
	Ad        *grid.Ad
	Age       time.Duration // of its newest state
	Hops      uint8         // hops that its newest ad travelled
	RTT       time.Duration // 0 = not measured
	Connected bool
	Neighbour bool
	Self      bool
	Refuses   grid.Why // why it takes no new work now, as far as known here
}

// Stats are counts since the start and present gauges.
type Stats struct {
	Counts
	Queued               int // attempts accepted here and not started
	Running              int
	Unacked              int           // results that their owners have not acknowledged
	Backlog              time.Duration // until a one-core task that arrived now would start
	Capacity, Free       grid.Resources
	Jobs                 int
	Replicated           int     // of Jobs, those that another node owns
	Pending              int     // tasks of owned jobs that wait for placement
	Peers                int     // in the view
	Lambda               float64 // of the last allocation solved; 0 = none. 1/Lambda is the load
	Solves               uint64  // allocations solved
	Suspensions, Vacated uint64  // times that an attempt here was suspended; was given up after its start
}

// Counts are counts since the start.
type Counts struct {
	Sent, Received [grid.Kinds]uint64
	coordinator.Counts
}

// counts are messages, and those of which nothing comes.
type counts struct {
	sent, received grid.KindCounts
	stale          uint64
}

// Peers appends this node and the nodes in its view, ordered by identity.
func (n *Node) Peers(now grid.Time, dst []PeerView) []PeerView {
	at := len(dst)
	self := n.profile.Describe(n.load(now))
	self.Rates = slices.Clone(self.Rates)
	dst = append(dst, PeerView{Ad: &self, Connected: true, Self: true, Refuses: n.worker.Exec().Refuses(grid.Resources{})})
	for _, p := range n.gossip.Peers() {
		if p.Ad != nil {
			dst = append(dst, PeerView{Ad: p.Ad, Age: now.Sub(p.Fresh()), Hops: p.Hops, RTT: p.RTT,
				Connected: p.Up, Neighbour: p.Neighbour, Refuses: discovery.Now(new(grid.Needs), p.Ad).Why})
		}
	}
	slices.SortFunc(dst[at:], func(a, b PeerView) int { return a.Ad.Node.Compare(b.Ad.Node) })
	return dst
}

// Stats returns counts and gauges.
func (n *Node) Stats(now grid.Time) Stats {
	here := n.worker.Exec()
	s := Stats{Queued: here.Queued(), Running: len(here.Running()), Unacked: len(here.Finished()),
		Suspensions: here.Suspensions(), Vacated: n.worker.Vacated(), Capacity: here.Capacity(), Free: here.Free(),
		Peers: len(n.gossip.Peers()), Backlog: grid.Seconds(here.Wait(now, oneCore, n.peers.RunTime))}
	copy(s.Sent[:], n.stats.sent)
	copy(s.Received[:], n.stats.received)
	s.Counts.Counts = n.coordinator.Counts()
	s.Stale += n.stats.stale + n.worker.Stale()
	s.Jobs, s.Replicated, s.Pending = n.coordinator.Tally() // Jobs includes the replicas of others' jobs
	s.Lambda, s.Solves = n.coordinator.Solved()
	return s
}

// AwaitsOf returns what a job that is known here waits for, or waited for.
func (n *Node) AwaitsOf(now grid.Time, id grid.JobID) []Awaits {
	spec, ends := n.coordinator.Ends(id)
	if spec == nil {
		return nil
	}
	return n.dependency.Describe(now, id, spec, ends)
}

// Reserved is how many cores this node keeps for gangs, and when the first and the last of these slots are free again
// at the latest; Never = it keeps none.
func (n *Node) Reserved() (cores grid.MilliCPU, first, last grid.Time) { return n.worker.Reserved() }
