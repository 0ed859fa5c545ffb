package grid

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/requirement"
)

// JobSpec is the specification of a job. It is immutable once built.
type JobSpec struct {
	Name    string
	Class   string   // "" means engine and program, see ClassOf
	Engine  string   // "process"
	Command []string // the program and its arguments; a program sent along is one of Inputs
	Count   uint32   // tasks 0 … Count−1
	Needs   Needs
	Inputs  []File        // put into the work folder before the program starts
	Outputs []string      // patterns in the work folder, collected after the program ended
	Env     []Var         // ordered by name
	Timeout time.Duration // of wall time while it runs; 0 = none
	Retries int32         // further attempts after a lost one; 0 = at most once
	Policy  string        // "" = the node's
	Wait    bool          // wait if no node can run it, rather than fail

	// Network is its tasks' access to the network. With NetworkNone the needs include IsolationBasic at least: only a
	// sandbox can enforce it.
	Network Network

	// Idempotent says that a task may run twice at the same time without harm: a policy with backups may then start a
	// backup attempt.
	Idempotent bool

	TaskData
	Rules Rules // about tasks that fail

	Submitter  Submitter
	Capability CapabilityHash // hash of the capability that opens the job; zero: its access is that of members
	Seal
}

// Seal is what a job's origin has signed, and what it has decided about the records of the job.
type Seal struct {
	// the origin's signed bytes; made and checked by drivers, forwarded unchanged; "" = not signed
	Sealed string

	// Signed says that how each task ends is signed, too: see package chain.
	Signed bool

	// RecordsOffers says that the register has an entry of which tasks may have been offered (OfferedEntry), so that a
	// new owner runs those that were not: see package offered. Only of jobs of which MayRecordOffers.
	RecordsOffers bool
}

// TaskData is what tasks read beside their inputs, what makes one differ from another, and what they wait for.
type TaskData struct {
	Array    *Array      // the values of the tasks; nil = they differ by index only
	Stdin    Stdin       // of each task
	Folders  *Folders    // of the machine; nil = they have their own only
	Terminal Terminal    // of the one task, with StdinStream; it then has no stderr
	After    After       // other jobs that they wait for
	Gang     Gang        // whether they start together
	Outer    Outer       // of a task of another grid
	Secrets  []SecretUse // that the tasks get
}

// Needs are what a node must have for a task.
type Needs struct {
	Resources
	Pin    bool        // the cores are whole processors, which no other task with this is on
	Labels []LabelNeed // all must hold; ordered by key

	Where *requirement.Expression // must hold of the node, too; nil = none

	Optional // ways to run, of which a node must allow one
}

// LabelNeed asks for a label with one of the given values.
type LabelNeed struct {
	Key    string
	Values []string
}

// Label is what a node says about itself: os=linux, arch=amd64, zone=a.
type Label struct{ Key, Value string }

// Var is a variable of the task's environment.
type Var struct{ Name, Value string }

// File is a blob with a place in a work folder.
type File struct {
	Path string // relative, slash-separated, inside the work folder
	Blob BlobID
	Size Bytes
	Exec bool // the owner may execute it
}

// Task is one task that waits for placement.
type Task struct {
	ID      AttemptID
	Spec    *JobSpec
	Class   string
	Arrived Time // at its origin, on the origin's clock
}

// EngineProcess runs a command as a process of the operating system.
const EngineProcess = "process"

// Access says who may see more of a job than its ID, name, submitter, state and counts, and who may cancel it.
type Access string

// The kinds of access.
const (
	AccessMembers Access = "members" // any member of the network
	AccessOwner   Access = "owner"   // whoever has the job's capability
)

// CapabilityHash is the hash of the public key of a job's capability, whose private key its submitter keeps. The zero
// value is none.
type CapabilityHash [32]byte

// IsZero reports whether there is no capability.
func (h CapabilityHash) IsZero() bool { return h == CapabilityHash{} }

// Access returns who may see the job and cancel it.
func (s *JobSpec) Access() Access {
	if s.Capability.IsZero() {
		return AccessMembers
	}
	return AccessOwner
}

// Submitter is who submitted a job: the subject of rights, limits and log lines. The zero value is unknown: the job is
// from an older version.
type Submitter struct {
	Node NodeID // the job's origin
	User string // of its operating system, as that node determined; "" = it could not
}

// check rejects a user's name that would be displayed as something else.
func (s *Submitter) check(p *problems) {
	p.text("submitter.user", s.User, MaxUser)
	if !Printable(s.User) {
		p.addf("submitter.user %+q: want printable text", s.User)
	}
}

// Budget is the node-seconds that the attempts of all tasks of a job may take together: the sum of the times that they
// run, of a gang of all its ranks, also of attempts that were lost and of backup attempts. The job's owner heeds it. It
// is a whole number of seconds, so that no rounding of a client can go beyond it. 0 = any number.
type Budget int64

// MaxBudget is what a time on the wire can hold: 1.2 million node-hours.
const MaxBudget = Budget((1<<62 - 1) / int64(time.Second))

// Some reports whether there is a budget.
func (b Budget) Some() bool { return b > 0 }

// Time is the budget as time of one node.
func (b Budget) Time() time.Duration { return time.Duration(b) * time.Second }

// Spend is the seconds that the job's budget pays for each of its tasks; 0 = it has none.
func (s *JobSpec) Spend() float64 { return float64(s.Rules.Budget) / float64(max(s.Count, 1)) }

func (b Budget) check(p *problems) {
	if b < 0 || b > MaxBudget {
		p.addf("budget.node_seconds %d: want 1 to %d, or none", b, MaxBudget)
	}
}

// Membership is who keeps a register, once that is not those whom the job's origin chose. It is immutable once built.
// Each change puts one node in the place of a member; the changes are numbered.
type Membership struct {
	Number  uint32   // of the change that led to it; 0 = none, the origin's choice
	Epoch   uint32   // in which it was accepted; of two for one number that of the higher epoch counts
	Members []NodeID // by place
	At      uint32   // the place that has changed
	// a further node: the one that was replaced, until the change is settled (a majority of the members before and one of
	// those after it have it); or, with Joining, one that is given the record and is no member yet. Zero = none
	Extra   NodeID
	Joining bool
	Links   string // of a signed job: all changes, each with the signatures of those that have agreed to it
}

// Changes is the number of changes; nil = none.
func (m *Membership) Changes() uint32 {
	if m == nil {
		return 0
	}
	return m.Number
}

// Settled reports whether the members alone decide.
func (m *Membership) Settled() bool { return m.Extra.IsZero() || m.Joining }

// Same reports whether two are of the same change, accepted in the same epoch and as far settled.
func (m *Membership) Same(o *Membership) bool {
	if m == nil || o == nil {
		return m == o
	}
	return m.Number == o.Number && m.Epoch == o.Epoch && m.Extra == o.Extra && m.Joining == o.Joining
}

// Check reports what is wrong with a membership that another node has stated.
func (m *Membership) Check() error {
	k := len(m.Members)
	switch {
	case k < 3 || k > MaxMembers || k%2 == 0:
		return fmt.Errorf("membership of %d: want 3 or %d", k, MaxMembers)
	case int(m.At) >= k:
		return fmt.Errorf("membership changed at place %d: want less than %d", m.At, k)
	case m.Joining && m.Extra.IsZero(), m.Number == 0 && !m.Joining:
		return errors.New("membership: want the number of a change, or who joins")
	case slices.Contains(m.Members, m.Extra):
		return fmt.Errorf("membership: %s is in it twice", m.Extra.Short())
	case len(m.Links) > MaxLinks:
		return fmt.Errorf("membership: %d bytes of signed changes: want at most %d", len(m.Links), MaxLinks)
	}
	for i, id := range m.Members {
		if id.IsZero() || slices.Contains(m.Members[:i], id) {
			return fmt.Errorf("membership: place %d: want one other node in each", i)
		}
	}
	return nil
}
