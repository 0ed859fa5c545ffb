package grid

import (
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

	Submitter  Submitter
	Capability CapabilityHash // hash of the capability that opens the job; zero: its access is that of members
	// the origin's signed bytes; made and checked by drivers, forwarded unchanged; "" = not signed
	Sealed string
}

// Needs are what a node must have for a task.
type Needs struct {
	Resources
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
