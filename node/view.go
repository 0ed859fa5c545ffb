package node

import (
	"slices"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/grid"
)

// JobView is a job as this node knows it. Times are wall time in Unix nanoseconds, 0 = not yet.
type JobView struct {
	ID           grid.JobID
	Spec         *grid.JobSpec
	Class        string
	Submitted    int64
	Done         int64 // when its last task ended
	Cancelled    bool  // and the cancellation is committed
	Pending      int   // tasks that wait for placement
	Placed       int   // tasks offered to or accepted by a worker
	Ended        int
	Members      []grid.NodeID // of its register, the origin first; nil = it has none
	Owner        grid.NodeID   // as far as known here; zero without a register
	Epoch        uint32        // of the owner
	Since        int64         // when that owner took it, as far as known here
	InputsAtRisk string        // where its inputs are, if fewer than a majority of Members have them
	Failed       int           // of Ended, those with a non-zero exit code
	Exit         int32         // highest exit code of the ended tasks
}

// TaskView is one task of a job.
type TaskView struct {
	ID     grid.AttemptID
	State  grid.TaskState
	Worker grid.NodeID // zero = none yet
	Lost   int32       // attempts lost
	Result *grid.Result
	Placed int64
	Began  int64
	Done   int64
	Waits  grid.Refusal // why it is pending, if known
	Traces []grid.Trace // oldest first, bounded
	Backup grid.NodeID  // worker of the backup attempt; zero = none
}

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
	Queued     int // attempts accepted here and not started
	Running    int
	Unacked    int           // results that their owners have not acknowledged
	Backlog    time.Duration // until a one-core task that arrived now would start
	Free       grid.Resources
	Jobs       int
	Replicated int     // of Jobs, those that another node owns
	Pending    int     // tasks of owned jobs that wait for placement
	Peers      int     // in the view
	Lambda     float64 // of the last allocation solved; 0 = none. 1/Lambda is the load
	Solves     uint64
}

// Counts are counts since the start.
type Counts struct {
	Sent, Received [grid.Kinds]uint64
	Full           uint64 // jobs, entries and attempts refused for want of the sender's quota
	Stale          uint64 // messages about attempts that are not live, and unasked answers
	Moved, Local   uint64 // attempts placed elsewhere, and here
	Lost           uint64
	Backups        uint64 // backup attempts begun
}

// Jobs appends the jobs submitted to or owned by this node, oldest first.
func (c *coordinator) Jobs(dst []JobView) []JobView {
	at := len(dst)
	for j := range c.jobs.All() {
		if j.replica.IsOwner() || j.id.Origin == c.cfg.Self {
			dst = append(dst, j.view())
		}
	}
	for i := range c.archive.all() {
		if f := c.archive.at(i); f.open == nil && !f.isHole() {
			dst = append(dst, c.unpack(f, false).view())
		}
	}
	slices.SortFunc(dst[at:], func(a, b JobView) int {
		if a.Submitted != b.Submitted {
			return int(max(-1, min(1, a.Submitted-b.Submitted)))
		}
		return a.ID.Compare(b.ID)
	})
	return dst
}

// Job returns a job submitted here, or of whose register this node is a member.
func (c *coordinator) Job(id grid.JobID) (JobView, bool) {
	if j := c.peekJob(id); j != nil {
		return j.view(), true
	}
	return JobView{}, false
}

// Tasks appends the tasks of such a job, by index.
func (c *coordinator) Tasks(id grid.JobID, dst []TaskView) []TaskView {
	if j := c.peekJob(id); j != nil {
		for i := range j.spec.Count {
			dst = append(dst, j.taskView(i))
		}
	}
	return dst
}

// Task returns one task of such a job.
func (c *coordinator) Task(id grid.TaskID) (TaskView, bool) {
	if j := c.peekJob(id.Job); j != nil && id.Index < j.spec.Count {
		return j.taskView(id.Index), true
	}
	return TaskView{}, false
}

// Work returns the state and result of an attempt accepted here.
func (n *Node) Work(id grid.AttemptID) (grid.WorkState, *grid.Result, bool) {
	if w := n.worker.Exec().Get(id); w != nil {
		return w.State, w.Result, true
	}
	return 0, nil, false
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
	s := Stats{Counts: n.stats}
	s.Stale += n.worker.Stale()
	s.Queued, s.Running, s.Unacked = len(n.worker.Exec().Queue()), len(n.worker.Exec().Running()), len(n.worker.Exec().Finished())
	s.Free = n.worker.Exec().Free()
	s.Backlog = grid.Seconds(n.worker.Exec().Wait(now, oneCore, n.runTime))
	s.Jobs, s.Peers = n.jobs.Len()+n.archive.packed, len(n.gossip.Peers()) // Jobs includes the replicas of others' jobs
	for j := range n.jobs.All() {
		if !j.authoritative() {
			s.Replicated++
			continue
		}
		s.Pending += j.counts[grid.Pending]
	}
	own, _ := n.policy("")
	if solver, ok := own.(balance.Solver); ok {
		s.Lambda, s.Solves = solver.Lambda(), solver.Solves()
	}
	return s
}

func (j *job) view() JobView {
	v := JobView{ID: j.id, Spec: j.spec, Class: j.class, Submitted: j.submitted, Done: j.done, Cancelled: j.cancelled,
		Pending: j.counts[grid.Pending], Placed: j.counts[grid.Offered] + j.counts[grid.Placed] + j.uncommitted,
		Ended: j.counts[grid.Ended] - j.uncommitted, Failed: int(j.failed), Exit: j.exit}
	if rep := j.replica; !rep.Sole() {
		v.Members = rep.Members()
		v.Owner, v.Epoch, v.Since = rep.Owner()
		_, v.Cancelled = rep.Cancelled()
		if !rep.State().Done {
			v.InputsAtRisk = rep.files.InputsAtRisk()
		}
		if v.Ended < j.count() {
			v.Done = 0
		}
	}
	return v
}

func (j *job) taskView(i uint32) TaskView {
	t := j.at(i)
	v := TaskView{ID: j.attempt(i), State: t.state, Worker: t.worker, Lost: t.lost, Result: t.result.Result(),
		Placed: t.placed, Began: t.began, Done: t.done, Traces: t.traces.list()}
	if t.uncommitted { // an uncommitted end is not visible
		v.State, v.Result, v.Done = grid.Placed, nil, 0
	}
	if t.live != nil && t.live.backup != nil {
		v.Backup = t.live.backup.worker
	}
	if k := len(v.Traces); v.State == grid.Pending && k > 0 {
		v.Waits = v.Traces[k-1].Refusal
	}
	return v
}

// MayAct reports whether this node may decide about a job now: it has no register, or this node holds its quorum lease.
func (c *coordinator) MayAct(now grid.Time, id grid.JobID) bool {
	j := c.peekJob(id)
	return j != nil && j.authoritative() && c.mayAct(now, j)
}

// AwaitsMajority reports whether a job waits for a majority of its register: this node owns it without a quorum lease,
// or is a member whose owner has been silent for so long that a takeover is due.
func (c *coordinator) AwaitsMajority(now grid.Time, id grid.JobID) bool {
	j := c.peekJob(id)
	if j == nil || j.replica.State().Done {
		return false
	}
	if j.replica.IsOwner() {
		return !c.mayAct(now, j)
	}
	return j.replica.TakeoverDue(now)
}
