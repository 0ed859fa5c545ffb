package grid

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Bounds of what a task says of its progress.
const (
	MaxProgress     = 1e15 // DONE and TOTAL
	MaxProgressText = 128  // bytes of TEXT
	MaxReports      = 64   // reports in a beat
)

// ProgressEvery is the shortest time between two reports of an attempt that are passed on. Lower costs its node an
// event more often; higher makes what people see older.
const ProgressEvery = time.Second

// Progress is how far a task says that it is, in units of its own.
type Progress struct {
	Done, Total float64 // finite, 0 to MaxProgress; Total 0 = not known, and Done may be more than Total
	Text        string  // printable, at most MaxProgressText bytes
	Rejected    uint32  // lines of the attempt that said no progress
}

// Check returns an error for what no node passes on.
func (p *Progress) Check() error {
	if !(p.Done >= 0 && p.Done <= MaxProgress) || !(p.Total >= 0 && p.Total <= MaxProgress) {
		return fmt.Errorf("progress %g of %g: want numbers of 0 to %g", p.Done, p.Total, float64(MaxProgress))
	}
	if len(p.Text) > MaxProgressText || !Printable(p.Text) {
		return fmt.Errorf("progress text %.40q: want at most %d bytes of printable text", p.Text, MaxProgressText)
	}
	return nil
}

// Report is what a worker says of one of the attempts in a beat or a request for start leases, beside that it has it.
type Report struct {
	At          int    // its place among the attempts
	Queued      bool   // it waits there; else it has started
	Suspended   bool   // it has started, and is stopped in place
	Said        bool   // Progress is set
	Place       uint32 // of one that waits: in the order in which work starts there, from 1 to MaxPlace; 0 = not said
	Progress    Progress
	Suspensions *Suspensions // nil = it never was suspended, or that is not said; immutable
	Movable     *Movable     // nil = its worker does not give it up; immutable
}

// MaxPlace bounds the places that a worker tells: beyond, its order changes before it matters, and with fair shares it
// takes long to foresee.
const MaxPlace = MaxReports

// Suspensions are what there is to say of how an attempt was suspended.
type Suspensions struct {
	Times uint32        // at least 1
	Stood time.Duration // in all, until it was said
	By    JobID         // the job for whose task it was last
	Bid   Bid           // of that job
}

// Check returns an error for what no node says.
func (s *Suspensions) Check() error {
	if s.Times == 0 || s.Stood < 0 || s.Stood > MaxTimeout || s.Bid <= 0 || s.Bid > MaxBid {
		return fmt.Errorf("suspended %d times, for %v, by a bid of %v: want once or more, 0 to %v, and more than 0 to %v",
			s.Times, s.Stood, s.Bid, MaxTimeout, MaxBid)
	}
	return nil
}

// Movable is what a worker says of an attempt that it gives up when its owner asks (KindVacate), since it writes
// checkpoints, and its node lets what it suspends move. Run times are those of the attempt alone, at full speed.
type Movable struct {
	Wait time.Duration // expected until it goes on; 0 = it runs
	Ran  time.Duration // for which it has run
	Kept time.Duration // of Ran, until it wrote the newest checkpoint that its owner has called usable
}

// Check returns an error for what no node says.
func (m *Movable) Check() error {
	if m.Wait < 0 || m.Wait > MaxTimeout || m.Kept < 0 || m.Kept > m.Ran || m.Ran > MaxTimeout {
		return fmt.Errorf("movable: goes on in %v, has run %v, kept %v: want 0 to %v, and not more kept than run", m.Wait,
			m.Ran, m.Kept, MaxTimeout)
	}
	return nil
}

// MaxTaskMoves bounds how often a task moves to another node after it has started, whatever its owner's policy says.
const MaxTaskMoves = 8

// MaxSuspensions is how often an attempt is suspended at most.
const MaxSuspensions = 3

// MaxSuspended is for how long an attempt is suspended in all at most: then its worker continues it before anything
// else, and for its owner the time that goes on counts as the worker's.
const MaxSuspended = 10 * time.Minute

// Bounds of checkpoints. MaxCheckpointFiles is also the most of all ranks of a gang together.
const (
	MaxCheckpointFiles = 1024
	MaxCheckpointPath  = 128  // bytes of a path in the folder of a checkpoint
	MaxCheckpointStep  = 1e15 // steps are 1 to this
	MaxClosed          = 4    // closed checkpoints of an attempt that wait at its worker: of more the oldest goes
)

// How a task that is run again finds the checkpoint that it is to begin from. The folder has one for each rank, named
// by its number; a task that is no rank of a gang is rank 0 of its own.
const (
	CheckpointVariable     = "SKEP_CHECKPOINT"      // path of the folder, read-only
	CheckpointStepVariable = "SKEP_CHECKPOINT_STEP" // its step

	// CheckpointFolder is the first element of the paths of such files among the inputs in an offer, STEP/RANK follows.
	CheckpointFolder = ".skep-checkpoint"
)

// The variables of a rank that begins from a checkpoint, about the attempt that has written it.
const (
	CheckpointRanksVariable  = "SKEP_CHECKPOINT_RANKS"  // how many ranks it had
	CheckpointSharesVariable = "SKEP_CHECKPOINT_SHARES" // of the work, of these, with commas between
)

// Division is how an attempt of a gang had divided its work.
type Division struct {
	Ranks  uint32   // 0 = it is not known
	Shares []uint32 // of the work, by rank; nil = it was not divided, or that is not known. Immutable
}

// SplitInputs returns those of the inputs in an offer that other jobs have left, and those of the checkpoint that the
// attempt begins from, as their paths say.
func SplitInputs(files []File) (left, from []File) {
	isFrom := func(f File) bool { return strings.HasPrefix(path.Clean(f.Path), CheckpointFolder+"/") }
	if !slices.ContainsFunc(files, isFrom) {
		return files, nil
	}
	for _, f := range files {
		if isFrom(f) {
			from = append(from, f)
		} else {
			left = append(left, f)
		}
	}
	return left, from
}

// Checkpoint is what is said about a checkpoint of an attempt: by its program to the driver, by its worker to the owner
// of the job (KindCheckpoint), by the owner to the worker (KindCheckpointAck), and between the owner and the members of
// the job's register (KindCheckpointKeep). Steps are what the program calls its checkpoints; 0 = none.
type Checkpoint struct {
	Step   uint64   // taken, to be taken, or to be kept
	Files  []File   // of Step: of one rank, or by members of all, with RANK/ before the path
	Shares []uint32 // of the work, of the same ranks; nil = it is not divided, or not known how
	Closed []uint64 // at the worker: waiting to be taken, ascending; MaxClosed at most
	// of the owner: those up to it are not needed at the worker any more
	Usable  uint64
	Kept    bool    // of a member: it keeps Step, and its owner shall know; else the owner asks it to
	Refusal Refusal // why Step was not taken or is not kept
}
