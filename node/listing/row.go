package listing

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
)

// Row is what every member may know of a job. Times are wall time in Unix nanoseconds, 0 = not yet.
type Row struct {
	ID         grid.JobID
	Name       string
	Access     grid.Access
	Submitter  grid.Submitter // zero = its origin is of an older version
	OriginName string         // the origin's name; "" = not known
	Submitted  int64
	Cancelled  bool
	Counts

	// Leads: the node that tells of the job may decide about it: it holds its quorum lease, or alone keeps it.
	Leads bool
	Epoch uint32 // of the job's owner, as far as the node knows

	// Of a job under access members only.
	Class   string
	Done    int64 // when its last task ended
	Exit    int32 // highest exit code of the ended tasks
	Stopped string
	Members []grid.NodeID // of its register; nil = its origin alone
	Owner   grid.NodeID   // zero = its origin alone keeps it
	Since   int64         // when that owner took it
}

// Counts are the tasks of a job.
type Counts struct {
	Count   int // all of them
	Pending int // that wait for placement
	Placed  int // offered to or accepted by a worker
	Ended   int
	Failed  int // of Ended, those with a non-zero exit code
	Running int // of Placed, those that have started
	Retried int // recorded failures after which a task was run again, or is to be

	Held bool // nothing of it has begun, since it waits for other jobs
}

// Over reports whether nothing more can happen to the job.
func (c *Counts) Over() bool { return c.Ended == c.Count }

// State returns the job's state.
func (r *Row) State() State { return r.Counts.State(r.Cancelled) }

// Check returns an error if a row cannot be of a job.
func (r *Row) Check() error {
	c := &r.Counts
	if c.Count < 1 || c.Count > grid.MaxCount {
		return fmt.Errorf("job of %d tasks: want 1 to %d", c.Count, grid.MaxCount)
	}
	for _, n := range [...]int{c.Pending, c.Placed, c.Ended} {
		if n < 0 || n > c.Count {
			return fmt.Errorf("%d of %d tasks: want 0 to all", n, c.Count)
		}
	}
	switch {
	case c.Running < 0 || c.Running > c.Placed:
		return fmt.Errorf("%d of %d placed tasks run: want 0 to all", c.Running, c.Placed)
	case c.Failed < 0 || c.Failed > c.Ended:
		return fmt.Errorf("%d of %d ended tasks failed: want 0 to all", c.Failed, c.Ended)
	case c.Retried < 0:
		return fmt.Errorf("%d failures were retried: want 0 or more", c.Retried)
	case r.Submitted < 0 || r.Done < 0 || r.Since < 0:
		return fmt.Errorf("job of times %d, %d, %d: want none before 1970", r.Submitted, r.Done, r.Since)
	case r.Access != grid.AccessMembers && r.Access != grid.AccessOwner:
		return fmt.Errorf("access %.16q: want %s or %s", r.Access, grid.AccessMembers, grid.AccessOwner)
	case len(r.Members) > grid.MaxMembers:
		return fmt.Errorf("%d members: want at most %d", len(r.Members), grid.MaxMembers)
	}
	return nil
}

// Clean makes the texts of a row printable and cuts them to their bounds.
func (r *Row) Clean() {
	r.Name, r.Class = grid.Clean(r.Name, grid.MaxName), grid.Clean(r.Class, grid.MaxClass)
	r.OriginName, r.Submitter.User = grid.Clean(r.OriginName, grid.MaxName), grid.Clean(r.Submitter.User, grid.MaxUser)
	r.Stopped = grid.Clean(r.Stopped, grid.MaxText)
}

// State is the state of a job.
type State uint8

// The states of a job. A job failed when a task of it did not exit with 0.
const (
	Pending State = iota // no task has a node yet
	Running              // a task is placed or has ended, and not all have ended
	Done                 // all ended with 0
	Failed
	Cancelled
	Held // nothing of it has begun, since it waits for other jobs
	states
)

var stateNames = [states]string{"pending", "running", "done", "failed", "cancelled", "held"}

// String returns the state's name.
func (s State) String() string { return stateNames[s] }

// State returns the state of a job with such tasks.
func (c *Counts) State(cancelled bool) State {
	switch {
	case cancelled:
		return Cancelled
	case c.Held && c.Ended < c.Count:
		return Held
	case c.Ended < c.Count && c.Placed+c.Ended == 0:
		return Pending
	case c.Ended < c.Count:
		return Running
	case c.Failed > 0:
		return Failed
	}
	return Done
}

// States is a set of states, a bit each; none is any.
type States uint8

// ParseStates parses names of states, separated by commas; "" is any.
func ParseStates(text string) (set States, err error) {
	if text == "" {
		return 0, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		at := slices.Index(stateNames[:], strings.TrimSpace(name))
		if at < 0 {
			return 0, fmt.Errorf("%.40q: want one or more of %s, with commas between them", name,
				strings.Join(stateNames[:], ", "))
		}
		set |= 1 << at
	}
	return set, nil
}

// StateNames returns the names of all states.
func StateNames() []string { return slices.Clone(stateNames[:]) }

// String returns the names of the set, with commas between them.
func (s States) String() string {
	var names []string
	for i, name := range stateNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Has reports whether the set has a state.
func (s States) Has(x State) bool { return s == 0 || s&(1<<x) != 0 }
