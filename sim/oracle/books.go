package oracle

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/node"
	"skep/sim/oracle/seats"
)

// World is what the books ask of the simulation. Nodes are named by index.
type World interface {
	Time() grid.Time                      // since the world began
	Clock(i int32) grid.Time              // what a node's clock shows
	ID(i int32) grid.NodeID               //
	Index(id grid.NodeID) int32           // of the node with an identity; −1 = none
	JobID(submission int32) grid.JobID    // its nonce begins with the submission, big-endian
	HasBlob(i int32, id grid.BlobID) bool // whether a node's disk has a file
	Fail(i int32, what string)            // a node broke a rule; −1 = none in particular
}

// Member is what the checks ask a node that runs: its own views.
type Member interface {
	Jobs(dst []node.JobView) []node.JobView
	Stats(now grid.Time) node.Stats
}

// The checks find these methods by type assertion: renaming one without this declaration would disable a check
// silently.
var _ interface {
	Authority(grid.JobID) (grid.NodeID, int64, bool)
	AwaitsMajority(grid.Time, grid.JobID) bool
	MayAct(grid.Time, grid.JobID) bool
	Job(grid.JobID) (node.JobView, bool)
	Task(grid.TaskID) (node.TaskView, bool)
	backoffs
	Reserved() (cores grid.MilliCPU, first, last grid.Time)
} = (*node.Node)(nil)

// Books are the record of every job, task and disk of a world, which the checks compare nodes with. By index, without
// maps.
type Books struct {
	world       World
	failed      bool // a rule was broken
	unchecked   bool // broken rules are not reported
	machines    []machine
	jobs        []job
	tasks       []task
	classes     []string          // of the submissions, in order of first use
	registers   []*seats.Register // of the submissions that have one
	workRecords []workRecord
	freeRecord  int32 // free list of workRecords, from 1
	runs        []run
	freeRun     int32 // free list of runs, from 1
	running     int
	endless
	relations
	remains
	asks      map[uint64]ask // by caller; nothing depends on its order
	views     []node.JobView // scratch
	hindsight *Hindsight     // nil = it is not watched
}

// remains is what must come to an end still.
type remains struct {
	settled   bool      // all submissions and faults have happened
	calm      grid.Time // the last fault has no consequences since
	tasksLeft int       // tasks that must end and have not; known once settled
	// work records that must be deleted: on nodes that are up, of jobs that must end; known once settled
	recordsLeft int
}

// relations are attempts and jobs that depend on each other.
type relations struct {
	backups  backups
	ordering ordering
	gangs    gangs
	moves    map[int32]*move // of gangs, by the first task; never iterated

	checkpoints checkpoints
	suspensions int // of all attempts
	signed      signatures
	wallSteps   time.Duration // by which wall clocks were set, all together
	longest     time.Duration // that one has run: how long others take may be expected of it
}

// machine is what the books know of a node.
type machine struct {
	member    Member // nil while it is down
	begun     bool   // it was up once
	starts    int32
	lost      bool // never starts again
	hostile   bool // does not keep to the protocol
	capacity  grid.Resources
	used      grid.Resources // by attempts that run
	reserved  grid.MilliCPU  // for gangs, as noted
	disk      disk
	checkedAd *grid.Ad // its last own ad that was checked
	reported  map[int32]reportedJob
}

// Submission is a job and the node that it is submitted to.
type Submission struct {
	Origin int
	Spec   *grid.JobSpec
}

// New makes the books of a world of that many nodes, all down, before the first of the submissions.
func New(w World, nodes int, work []Submission) *Books {
	b := &Books{world: w, machines: make([]machine, nodes), jobs: make([]job, len(work))}
	n := 0
	for i, s := range work {
		b.jobs[i] = job{spec: s.Spec, class: b.class(grid.ClassOf(s.Spec)), origin: int32(s.Origin), first: int32(n),
			count: int32(s.Spec.Count)}
		n += int(s.Spec.Count)
	}
	for i := len(b.jobs) - 1; i >= 0; i-- {
		d := &b.machines[b.jobs[i].origin].disk
		b.jobs[i].nextOfOrigin, d.jobs = d.jobs, int32(i)+1
	}
	b.tasks = make([]task, n)
	for i := range b.jobs {
		for k := range b.jobs[i].count {
			b.tasks[b.jobs[i].first+k] = task{Task: Task{Worker: -1}, job: int32(i), acceptedBy: -1}
		}
	}
	return b
}

// Started reports that a node is up, with the records that the books hold of it.
func (b *Books) Started(i int32, m Member, capacity grid.Resources) {
	x := &b.machines[i]
	x.member, x.begun, x.capacity, x.reported = m, true, capacity, nil
	x.starts++
	b.forgetRetries(i)
	b.hindsight.Opened(b.world.Time(), i)
}

// Stopped reports that a node is down.
func (b *Books) Stopped(i int32) {
	b.machines[i].member = nil
	b.forgetAsks(i)
	b.hindsight.Closed(b.world.Time(), i)
}

// Lost reports that a node is down for good.
func (b *Books) Lost(i int32) {
	b.machines[i].lost = true
	if b.settled {
		b.countLeft()
	}
}

func (b *Books) up(i int32) bool { return b.machines[i].member != nil }

// Uncheck makes the books keep what is durable without reporting broken rules; Step and Send need not be called then.
func (b *Books) Uncheck() { b.unchecked = true }

// fail reports a broken rule; only the first counts.
func (b *Books) fail(i int32, format string, args ...any) {
	if !b.failed && !b.unchecked {
		b.failed = true
		b.world.Fail(i, fmt.Sprintf(format, args...))
	}
}

// class returns the index of a class of the workload; linear, as there are few.
func (b *Books) class(name string) int32 {
	i := slices.Index(b.classes, name)
	if i < 0 {
		i = len(b.classes)
		b.classes = append(b.classes, name)
	}
	return int32(i)
}

// job returns the index of a submission. For one that does not exist it fails the run and returns −1.
func (b *Books) job(i int32, id grid.JobID) int32 {
	if n := nonce(id); n < uint32(len(b.jobs)) && b.world.JobID(int32(n)) == id {
		return int32(n)
	}
	b.fail(i, "speaks of job %v, which nobody submitted", id)
	return -1
}

// task returns the index of a task. For one that does not exist it fails the run and returns −1.
func (b *Books) task(i int32, id grid.TaskID) int32 {
	if n := nonce(id.Job); n < uint32(len(b.jobs)) {
		if j := &b.jobs[n]; b.world.JobID(int32(n)) == id.Job && id.Index < uint32(j.count) {
			return j.first + int32(id.Index)
		}
	}
	b.fail(i, "speaks of task %v, which nobody submitted", id)
	return -1
}

func nonce(id grid.JobID) uint32 { return binary.BigEndian.Uint32(id.Nonce[:]) }
