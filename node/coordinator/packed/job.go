package packed

import (
	"encoding/binary"
	"strings"

	"skep/grid"
	"skep/node/history"
)

// Job is a job in packed form. Its origin is the node that keeps it. The zero value is none.
type Job struct {
	nonce   uint64        // first 8 bytes of the job's nonce
	spec    *grid.JobSpec // kept unpacked
	text    string
	results *[]*grid.Result // of its tasks, where a result has more than numbers; nil = no such task
}

// Named is the job of that ID without its contents: it is kept elsewhere as long as it can change.
func Named(id grid.JobID) Job { return Job{nonce: prefix(id)} }

func prefix(id grid.JobID) uint64 { return binary.BigEndian.Uint64(id.Nonce[:]) }

// Full reports whether it has its contents.
func (p *Job) Full() bool { return p.spec != nil }

// MayBe reports whether it may be the job of that ID: quick, for the most that are not.
func (p *Job) MayBe(id grid.JobID) bool { return p.nonce == prefix(id) }

// Is reports whether it has the contents of the job of that ID.
func (p *Job) Is(id grid.JobID) bool {
	return p.MayBe(id) && strings.HasPrefix(p.text, string(id.Nonce[:]))
}

// ID returns the ID of a job that was submitted at self.
func (p *Job) ID(self grid.NodeID) grid.JobID {
	id := grid.JobID{Origin: self}
	copy(id.Nonce[:], p.text)
	return id
}

// Tasks is the number of its tasks.
func (p *Job) Tasks() int { return int(p.spec.Count) }

// Summary is what is kept of a job beside its tasks. Times are wall time in Unix nanoseconds where they are numbers.
type Summary struct {
	ID                    grid.JobID
	Spec                  *grid.JobSpec
	Cancelled             bool
	Submitted, Done       int64
	Arrived, QuietAt      grid.Time
	NextFresh, BackupFrom uint32
	Failed, Exit          int32
}

// Task is what is kept of a task.
type Task struct {
	Held                bool        // its worker has not been told yet
	Worker              grid.NodeID // zero = none
	Result              grid.CompactResult
	Attempt, Backup     grid.Attempt // newest ones
	Lost                int32
	Placed, Began, Done int64
	History             history.History
}

// Flags of a packed job or task: which fields are present.
const (
	cancelled = 1 << iota
	held
	hasWorker // the worker is another node; its identity follows
	here      // the worker is this node
	hasResult
	whole // the result is in results, unpacked
)
