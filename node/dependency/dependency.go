package dependency

import (
	"time"

	"skep/grid"
	"skep/heap"
	"skep/sparse"
)

// Bounds and times.
const (
	// A question is repeated after minAsk without news, and after twice as long each time up to maxAsk.
	minAsk = 2 * time.Second
	maxAsk = 2 * time.Minute

	// giveUp is how long a job waits for the end of another of which nobody that keeps it answers: overnight, and the
	// next day.
	giveUp = 36 * time.Hour

	maxSubscriptions = 1024            // of a member
	maxSubscribed    = 16_384          // of all of them
	keepAsked        = 5 * time.Minute // after a question its asker is told the news, and the job is kept
	maxKept          = 64              // ended jobs that are kept for others at a time, beyond what the node keeps
)

// MaxKept bounds the ended jobs that are kept only because others wait for them: see Keeps.
const MaxKept = maxKept

// summaryIndex is the index of the entry of an answer that is about the whole job.
const summaryIndex = grid.MaxCount

// Outcome is what a node knows of a job that others wait for.
type Outcome struct {
	Spec      *grid.JobSpec
	MayTell   bool  // this node can tell what has ended: it owns the job, with its quorum lease, or the job is closed
	Over      bool  // all its tasks have ended, and that is committed
	Exit      int32 // highest exit code
	Cancelled bool  // and not all tasks had ended well
	Owner     grid.NodeID
	Members   []grid.NodeID
	Outsider  bool // only its owner may see the job, and who asks is none of those that keep it
}

// Jobs are the jobs here.
type Jobs interface {
	// WaitsForJobs returns the specification of a job that this node owns and that may wait for others, and whether an
	// entry of its register is written; nil = there is no such job.
	WaitsForJobs(id grid.JobID) (spec *grid.JobSpec, written func(entry uint32) bool)

	// RecordDependency records how what such a job waits for has ended. The entry belongs to the callee.
	RecordDependency(now grid.Time, id grid.JobID, e *grid.Entry, fx *grid.Effects)

	// OutcomeOf returns what is known here of a job, for a node that asks; false = there is none. gone says that it is
	// over, and how it ended is not known any more.
	OutcomeOf(now grid.Time, id grid.JobID, asker grid.NodeID) (o Outcome, known, gone bool)

	// EndOf returns the committed end of a task of a job that is known here; nil = it has not ended.
	EndOf(id grid.TaskID) *grid.Result
}

// Contacts are the other nodes.
type Contacts interface {
	OrdersJobs(id grid.NodeID) bool // it is this node, or is connected and can be asked
	Reach(now grid.Time, job grid.JobID, id grid.NodeID, fx *grid.Effects) bool
}

// Config is what it is told once.
type Config struct {
	Self     grid.NodeID
	Boot     uint64 // number of starts so far: no question is mistaken for one of an earlier run
	Jobs     Jobs
	Contacts Contacts
}

// Dependencies are what the jobs here wait for, and who waits for the jobs here.
type Dependencies struct {
	cfg   Config
	waits waits
	subscriptions
	changed int // number of the effects' changes that are dealt with
}

// New returns the dependencies of a node: none yet.
func New(cfg Config) Dependencies {
	d := Dependencies{cfg: cfg, waits: waits{last: cfg.Boot << 32}}
	d.waits.due.Track(func(w *wait, index int) { w.place = index })
	return d
}

// Begin begins a step.
func (d *Dependencies) Begin(fx *grid.Effects) { d.changed = len(fx.Changed) }

// Message takes a question or an answer.
func (d *Dependencies) Message(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if m.Kind == grid.KindAwait {
		d.asked(now, from, &m.Register, fx)
		return
	}
	d.answered(now, from, &m.Register, fx)
}

// waits are what the jobs here wait for.
type waits struct {
	last  uint64 // the number of the last question
	by    sparse.Map[uint64, *wait]
	jobs  sparse.Map[grid.JobID, *waiter]
	due   heap.Heap[grid.Time, *wait, byNumber]
	timer grid.Time // of the pending timer; 0 = none
}

// waiter is a job here that waits.
type waiter struct {
	job grid.JobID
	of  []*wait // one for each dependency that is asked about
}

// Key returns the job.
func (w *waiter) Key() grid.JobID { return w.job }

// wait is one job that another one here waits for.
type wait struct {
	number uint64     // of its questions
	job    grid.JobID // that waits
	k      int        // which of its dependencies
	other  *grid.Dependency
	place  int // in waits.due
	every  time.Duration
	next   uint32      // with AfterEach: tasks below it are recorded
	page   uint32      // with AfterEach: the first task of the last question
	to     grid.NodeID // who is asked; zero = nobody could be
	owner  grid.NodeID // of the other job, as somebody that keeps it has said; zero = not known
	heard  grid.Time   // when an end, or that there is none yet, was last heard; 0 = never
	since  grid.Time
	mute   int           // questions that were not answered, one after the other
	denied []grid.NodeID // who keeps the other job, and says that there is no such job
	gone   []grid.NodeID // who of them says that it is over
}

// Key returns the number.
func (w *wait) Key() uint64 { return w.number }

// byNumber orders questions that are due at the same time.
type byNumber struct{}

// Before implements [heap.Order].
func (byNumber) Before(a, b *wait) bool { return a.number < b.number }
