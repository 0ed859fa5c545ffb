package grid

import (
	"fmt"
	"path"
	"strings"
	"time"
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
	// the origin's signed bytes; made and checked by drivers, forwarded unchanged; "" = not signed
	Sealed string
}

// TaskData is what tasks read beside their inputs, what makes one differ from another, and what they wait for.
type TaskData struct {
	Array    *Array   // the values of the tasks; nil = they differ by index only
	Stdin    Stdin    // of each task
	Folders  *Folders // of the machine; nil = they have their own only
	Terminal Terminal // of the one task, with StdinStream; it then has no stderr
	After    After    // other jobs that they wait for
	Gang     Gang     // whether they start together
}

// Needs are what a node must have for a task.
type Needs struct {
	Resources
	Pin    bool        // the cores are whole processors, which no other task with this is on
	Labels []LabelNeed // all must hold; ordered by key
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

// ClassOf returns the class whose rates describe the job's tasks: the one the submitter named, else the engine and the
// program. A program sent along is identified by its content too, not only by its name.
func ClassOf(s *JobSpec) string {
	if s.Class != "" {
		return s.Class
	}
	if len(s.Command) == 0 {
		return s.Engine
	}
	program := path.Clean(s.Command[0])
	name := path.Base(s.Command[0])
	for i := range s.Inputs {
		if in := &s.Inputs[i]; in.Exec && path.Clean(in.Path) == program {
			name += "@" + in.Blob.String()[:8]
			break
		}
	}
	return Clean(strings.ReplaceAll(s.Engine+":"+name, LevelMark, "?"), MaxClass)
}

// ValidClass reports whether a name may be that of a class, and not of a finer level of one.
func ValidClass(name string) bool {
	return len(name) <= MaxClass && Printable(name) && !strings.Contains(name, LevelMark)
}

// Gang says that the tasks of a job start together and run at the same time: task i is rank i. The zero value: they do
// not.
type Gang struct {
	Ranks uint32 // number of tasks; 0 = the job is no gang
}

// MaxRanks bounds the ranks of a gang.
const MaxRanks = 1024

// RankPlace says that a node has so many ranks of a gang: those after the ranks of the places before.
type RankPlace struct {
	Node  NodeID
	Ranks uint32
}

// PlaceOf returns the node that has a rank; zero = none has.
func PlaceOf(places []RankPlace, rank uint32) NodeID {
	for _, p := range places {
		if rank < p.Ranks {
			return p.Node
		}
		rank -= p.Ranks
	}
	return NodeID{}
}

// CheckPlaces returns what is wrong with the places of the job's ranks. They are needed for NetworkGang alone.
func (s *JobSpec) CheckPlaces(places []RankPlace) error {
	if len(places) == 0 && s.Network != NetworkGang {
		return nil
	}
	sum := uint64(0)
	for _, p := range places {
		if sum += uint64(p.Ranks); p.Ranks == 0 || p.Node.IsZero() {
			return fmt.Errorf("%d ranks at node %v: want at least one, and a node", p.Ranks, p.Node)
		}
	}
	if sum != uint64(s.Gang.Ranks) {
		return fmt.Errorf("places for %d ranks: want one for each of %d", sum, s.Gang.Ranks)
	}
	return nil
}

// IsGang reports whether the tasks of the job are the ranks of a gang.
func (s *JobSpec) IsGang() bool { return s.Gang.Ranks > 0 }

// The variables of a rank's environment.
const (
	RankVariable      = "RANK"
	WorldSizeVariable = "WORLD_SIZE"
	LocalRankVariable = "LOCAL_RANK" // among the ranks of the attempt on one node, in the order of the ranks
)

// Reserve is what an owner and a worker say of slots that are kept for ranks of a gang. It is immutable once built.
type Reserve struct {
	Job     JobID
	Attempt Attempt       // that the ranks get if all of them are reserved, the same for all
	Round   uint32        // of the owner's tries; an answer repeats it
	Ranks   uint32        // asked for; 0 = none any more. In an answer: those that are kept, or that could be now
	Needs   Resources     // of one rank
	TTL     time.Duration // after which the worker gives up what was not offered
	Age     time.Duration // of the job, since its submission
	Later   bool          // slots that become free are kept too

	Refusal Refusal // of an answer; WhyNone = all are kept. WhyWounded = those that were kept are not any more
	Holder  JobID   // of an answer: the gang that the slots are kept for instead; zero = none
}

// GangNode is what a node is known to have for ranks of a gang.
type GangNode struct {
	Node     NodeID
	Free     Resources
	Capacity Resources
	Backlog  time.Duration // expected time until a task that came now would start
	RTT      time.Duration // 0 for the owner itself
	Refuses  Refusal       // why it cannot be asked now; WhyNone = it can
}

// Slots returns how many tasks of these needs fit into resources at a time, up to most.
func (r Resources) Slots(need Resources, most int) int {
	n := 0
	for left := r; n < most && left.Fits(need); n++ {
		left = left.Minus(need)
	}
	return n
}

// checkGang rejects rules that are about single tasks: the ranks of a gang are placed, lost and ended together.
func (s *JobSpec) checkGang(p *problems) {
	if s.Network == NetworkGang && (!s.IsGang() || s.Isolation() < IsolationStrict ||
		!s.Needs.HasFeature(GangNetworkLabel)) {
		p.addf("network gang: want gang.ranks with it, isolation strict, and %s among the labels needed", GangNetworkLabel)
	}
	if !s.IsGang() {
		return
	}
	if s.Gang.Ranks > MaxRanks {
		p.addf("gang.ranks %d: want 1 to %d", s.Gang.Ranks, MaxRanks)
	}
	if s.Count != s.Gang.Ranks {
		p.addf("count %d with gang.ranks %d: want the same number: each task is a rank", s.Count, s.Gang.Ranks)
	}
	if s.Array != nil {
		p.addf("array with gang.ranks %d: want one of them: the tasks of a gang differ by their rank", s.Gang.Ranks)
	}
	if s.Idempotent {
		p.addf("idempotent with gang.ranks %d: want none: a single rank is not run twice", s.Gang.Ranks)
	}
	if s.Rules.OnFailure.Retry > 0 {
		p.addf("on_failure.retry %d with gang.ranks %d: want none: a single rank is not run again", s.Rules.OnFailure.Retry,
			s.Gang.Ranks)
	}
	if s.Rules.MaxFailures > 0 {
		p.addf("max_failures %d with gang.ranks %d: want none: the first rank that fails ends the gang",
			s.Rules.MaxFailures, s.Gang.Ranks)
	}
	if s.Rules.MaxRunning > 0 && uint32(s.Rules.MaxRunning) < s.Gang.Ranks {
		p.addf("max_running %d with gang.ranks %d: want none: all ranks run at the same time", s.Rules.MaxRunning,
			s.Gang.Ranks)
	}
	if s.Policy != "" && s.Policy != "local" {
		p.addf("policy %q with gang.ranks %d: want none or local: policies place single tasks", s.Policy, s.Gang.Ranks)
	}
	if s.After.Each() >= 0 {
		p.addf("after_each with gang.ranks %d: want after or after_ok: no rank starts before the others", s.Gang.Ranks)
	}
	for _, v := range s.Env {
		if v.Name == RankVariable || v.Name == WorldSizeVariable || v.Name == LocalRankVariable {
			p.addf("env %q with gang.ranks %d: want another name: each rank has its own", v.Name, s.Gang.Ranks)
		}
	}
}
