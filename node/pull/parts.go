package pull

import (
	"time"

	"skep/grid"
)

// Config is what an exchange is told once.
type Config struct {
	Worker Worker
	Jobs   Jobs
	Peers  Peers
	Rand   *grid.Rand
}

// Worker is this node's own worker.
type Worker interface {
	// Room returns the resources that are free and wanted by nothing here, if the worker takes work, else nothing; and
	// whether work waits for a slot.
	Room() (idle grid.Resources, queued bool)

	// Waiting appends what waits, by job.
	Waiting(now grid.Time, dst []grid.Waiting) []grid.Waiting

	// Yield gives an attempt of a job away, to a node that would be done with it in a time, and reports whether it did.
	Yield(now grid.Time, x *grid.Waiting, to grid.NodeID, there float64, may func(grid.AttemptID) bool,
		fx *grid.Effects) bool

	// NextOverdue is when the next waiting attempt will have waited for longer than predicted; Never = none will.
	NextOverdue(now grid.Time) grid.Time
}

// Jobs are the tasks that wait for their placement here.
type Jobs interface {
	// WaitingCount is the number of tasks that wait.
	WaitingCount() int

	// Waiting appends those that an idle node may get, by job.
	Waiting(now grid.Time, dst []grid.Waiting) []grid.Waiting

	// Grant offers a task of a job, and reports whether it did.
	Grant(now grid.Time, x *grid.Waiting, to grid.NodeID, fx *grid.Effects) bool

	// MayYield reports whether an attempt of a job owned here may be taken from this node's worker, for another node.
	MayYield(now grid.Time, id grid.AttemptID, to grid.NodeID) bool
}

// Peers are the connected nodes.
type Peers interface {
	// WhereWorkWaits are those whose ads say so and that understand a pull; read only, until the next call of this or of
	// WithRoom.
	WhereWorkWaits() []grid.NodeID

	// WithRoom are those that have free resources and no backlog, by their ads, and understand a pull; read only
	// likewise.
	WithRoom() []grid.NodeID

	// Loads are the numbers of both.
	Loads() (waiting, roomy int)

	// Pulls reports whether a node is connected and understands a refusal of a task that was pulled.
	Pulls(id grid.NodeID) bool

	// Free is what a node's ad says that it has free.
	Free(id grid.NodeID) grid.Resources

	// RunTimeAt is the time in seconds in which a node would be done with a task of a level of a class; false = it does
	// not fit, or must not get it now.
	RunTimeAt(now grid.Time, id grid.NodeID, spec *grid.JobSpec, level string) (float64, bool)

	// Cores are those that a node states, as far as it is believed.
	Cores(id grid.NodeID) grid.MilliCPU

	// Counts are the counted resources that a node states to have in all.
	Counts(id grid.NodeID) grid.Counts

	RTT(id grid.NodeID) time.Duration
}
