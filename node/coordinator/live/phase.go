package live

import (
	"time"

	"skep/grid"
	"skep/node/progress"
)

// Phase is the state of a live task: see the package.
type Phase uint8

// The phases.
const (
	Idle    Phase = iota // in the retry queue, or being decided in this step
	Polling              // waits for answers to its poll
	Offered              // waits for the worker to accept
	Placed               // a worker has it
	Waiting              // for what it awaits
)

var phaseNames = [...]string{"idle", "polling", "offered", "placed", "waiting"}

func (p Phase) String() string { return phaseNames[p] }

// mayBecome reports whether a task's next phase may be q.
func (p Phase) mayBecome(q Phase) bool { return p == Idle || q == Idle || p == Offered && q == Placed }

// inFlight reports whether a task in this phase counts as a decision in flight.
func (p Phase) inFlight() bool { return p == Polling || p == Offered }

// Awaited is what resumes a waiting task before its timer does.
type Awaited uint8

// What is awaited.
const (
	ForTimer    Awaited = iota
	ForNode             // a node that fits
	ForProof            // that a node on probation delivers
	ForMajority         // a majority of its job's register
	ForMapping          // a mapping event of its policy
	ForSlot             // that fewer tasks of its job have a worker, or that its budget leaves enough
)

// holdsBack reports whether a task that awaits this tries for all others of its job, which wait for it.
func (a Awaited) holdsBack() bool { return a == ForProof || a == ForMapping }

// notQueued is the place of a task that is in no queue.
const notQueued = -1

// Place is a task's phase and its place in a [Table]. The task, a T, embeds it.
type Place[T any] struct {
	handle uint64
	at     int // in its queue, which phase and awaits determine; else notQueued
	phase  Phase
	awaits Awaited
	of     *Job[T]
	status progress.Status
}

// Task is a pointer to what embeds a Place.
type Task[T any] interface {
	comparable
	Key() uint64
	place() *Place[T]
}

func (p *Place[T]) place() *Place[T] { return p }

// Key is the handle of the task, by which timers and answers name it.
func (p *Place[T]) Key() uint64 { return p.handle }

// Phase is the task's phase.
func (p *Place[T]) Phase() Phase { return p.phase }

// Awaits is what the task awaits, or awaited last.
func (p *Place[T]) Awaits() Awaited { return p.awaits }

// HasWorker reports whether the task was offered to a worker or accepted by it.
func (p *Place[T]) HasWorker() bool { return p.phase == Offered || p.phase == Placed }

// Status is what the task's worker has said of the attempt; empty if the task is not placed.
func (p *Place[T]) Status() *progress.Status { return &p.status }

// Note takes what the worker of a placed task says of the attempt in a message, at some index there, and returns for
// how long it has stood still.
func (p *Place[T]) Note(now grid.Time, m *grid.Message, at int) (stood time.Duration) {
	return p.status.Note(now, m, at, &p.of.running)
}

// Job is what is counted of the live tasks of a job, and those that wait for something of the job. The zero value has
// none.
type Job[T any] struct {
	polling   int32
	heldBack  int32
	running   int
	batchPoll T
	slots     []T
	majority  []T
}

// Polling is the number of tasks that are polled for.
func (j *Job[T]) Polling() int32 { return j.polling }

// HeldBack is the number of tasks that try for all others of the job: further ones are not tried.
func (j *Job[T]) HeldBack() int32 { return j.heldBack }

// Running is the number of attempts that have started, as far as their workers have said.
func (j *Job[T]) Running() int { return j.running }

// BatchPoll is the task that polls for the other untried tasks, too, under a batch policy; nil = none does.
func (j *Job[T]) BatchPoll() T { return j.batchPoll }

// AwaitingSlot is the tasks that wait for a slot of the job, valid until one is parked or dequeued.
func (j *Job[T]) AwaitingSlot() []T { return j.slots }

// AwaitingMajority is the tasks that wait for a majority of the job's register, valid until one is parked or dequeued.
func (j *Job[T]) AwaitingMajority() []T { return j.majority }

// counts are the counts of a job, as [Table.Broken] compares them.
type counts struct{ polling, heldBack, running, slots, majority int }

func (j *Job[T]) counts() counts {
	return counts{int(j.polling), int(j.heldBack), j.running, len(j.slots), len(j.majority)}
}

// count adds the task to the counts of its job.
func (p *Place[T]) count(c counts) counts {
	if p.status.Runs() {
		c.running++
	}
	switch {
	case p.phase == Polling:
		c.polling++
	case p.phase != Waiting:
	case p.awaits.holdsBack():
		c.heldBack++
	case p.awaits == ForSlot:
		c.slots++
	case p.awaits == ForMajority:
		c.majority++
	}
	return c
}
