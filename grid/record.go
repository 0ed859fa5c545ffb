package grid

import "time"

// RecordKind is the kind of a record.
type RecordKind uint8

// Kinds of records. The numbers are on disk: never reuse one. 1 and 2 were jobs without a register and their tasks.
const (
	RecWork      RecordKind = iota + 3 // an attempt accepted here
	RecClass                           // the measurements of a class here
	RecRegister                        // a job of whose register this node is a member
	RecEntry                           // the state of one of its tasks, once it is not simply pending
	RecTombstone                       // a job of whose register this node was a member, which is over and was evicted

	// a checkpoint of a task, or of all ranks of a gang, that is kept here
	RecCheckpoint
)

// Record is one thing to save, or with Delete to delete. A later record with the same key replaces the earlier one.
// Times are wall time in Unix nanoseconds. The key is the ID of the kind's struct; of an entry it is the TaskID alone,
// so that a new attempt replaces the record of the one before.
type Record struct {
	Kind   RecordKind
	Delete bool
	// no effect waits for it: it is written with the next record that one waits for, or soon; a crash before that loses it
	Later     bool
	Work      WorkRecord
	Class     ClassRecord
	Register  RegisterRecord
	Entry     EntryRecord
	Tombstone TombstoneRecord

	Checkpoint *CheckpointRecord // newly allocated; nil of other kinds
}

// TaskRecord is the state of a task.
type TaskRecord struct {
	ID     AttemptID // the current attempt
	State  TaskState
	Worker NodeID  // of that attempt
	Lost   int32   // attempts lost so far
	Result *Result // of Ended
	Placed int64   // when that attempt was placed
	Began  int64   // when that attempt started to run, as its result says
	Done   int64   // when its end was saved
	Pulls  uint8   // moves: times that it was taken from a queue for an idle node, or of rank 0 that its gang moved
	Moves  uint8   // times that it was given up after it had started, to go on at another node
	Option uint8   // of the job, that attempt runs as, from 1; 0 = it has none, or another owner made the attempt

	// Backup is the backup attempt of a task of an idempotent job, or the last one made; nil = there never was one. Newly
	// allocated.
	Backup *BackupRecord
}

// BackupRecord is a backup attempt. Its number is above that of the attempt that it backs up, and never used again.
type BackupRecord struct {
	Attempt
	Worker NodeID // zero = it is no longer live
}

// WorkState is the state of an attempt at its worker.
type WorkState uint8

// An accepted attempt waits, runs, and is finished until its owner has acknowledged the result.
const (
	WorkQueued WorkState = iota + 1
	WorkRunning
	WorkFinished
)

// WorkRecord is an attempt accepted here.
type WorkRecord struct {
	ID     AttemptID
	Spec   *JobSpec
	Class  string
	Lease  time.Duration
	State  WorkState
	Result *Result     // of WorkFinished
	Stays  bool        // while it is queued it may not be given away
	Asks   bool        // its owner asks for it before it gives it up
	Inputs []File      // as in Offer
	Places []RankPlace // as in Offer
	Before Division    // as in Offer
	Option uint8       // as in Offer

	Assigned string // as in Offer
	Evidence string // as in Offer

	// HandedBack is set of an attempt that was given back to its owner without a result: it is WorkFinished, until the
	// owner has acknowledged that. Newly allocated; nil = it was not.
	HandedBack *HandBack

	Members []NodeID // of the job's register; nil = the origin alone
	Changes uint32   // of the members, as in Offer
	Owner   NodeID   // of the job, as far as known here; zero = the origin
	Epoch   uint32   // of that owner
}

// HandBack is why a worker gives an attempt back that has not started, and never will; or, of WhyMoved, that has, and
// whose process has ended or is told to.
type HandBack struct {
	Why    Why
	Puller NodeID // of WhyPulled: the node that asked for it
}

// ClassRecord is the measurements of a class.
type ClassRecord struct {
	Class string
	Mean  float64 // decayed mean run time in seconds of one slot here
	Count float64 // decayed number of runs behind it

	// Spread is the decayed squared coefficient of variation of the run times, Spreads the number of runs behind it.
	Spread, Spreads float64
}

// RegisterRecord is a job of whose register this node is a member.
type RegisterRecord struct {
	ID        JobID
	Spec      *JobSpec
	Members   []NodeID // as the origin chose them, itself first; immutable
	Submitted int64
	Promised  uint32 // highest epoch voted for: no lower epoch is taken part in
	VotedFor  NodeID
	Epoch     uint32 // highest accepted
	Owner     NodeID
	Done      bool
	Opened    uint32      // as in RegisterState
	Held      bool        // the job's inputs are deposited here
	Set       *Membership // as in RegisterState

	Genesis, Mandate string // as in RegisterState
}

// EntryRecord is the state of a task of such a job; index Count is the job's cancellation, and those above are what it
// waits for (JobSpec.DependencyEntry).
type EntryRecord struct {
	TaskRecord
	Epoch     uint32 // in which its end was accepted; 0 = no end is known here
	Committed bool   // its end is committed
	// the files that Result names are deposited here; with Epoch 0 it is a result not yet written to the register
	Held bool

	// Open is the entry of a failed end after which the task goes on, as the rest of the record says; nil = there is none.
	// Committed is about it then, and Epoch 0. It is immutable.
	Open     *Entry
	Round    uint32 // of the end, as in Entry
	Failures []Failure

	RetriedAt, RetryEpoch uint32 // of the end, as in Entry

	Further uint32 // with Record.Delete only: so many indices that follow are deleted too, where there are records
}

// Deposited returns the attempt and the result whose files Held is about.
func (e *EntryRecord) Deposited() (Attempt, *Result) {
	if e.Open != nil && e.Result == nil {
		return e.Open.Attempt, e.Open.Result
	}
	return e.ID.Attempt, e.Result
}

// SoleRegister returns the record of a job whose origin alone keeps it.
func SoleRegister(id JobID, spec *JobSpec, submitted int64) RegisterRecord {
	return RegisterRecord{ID: id, Spec: spec, Members: []NodeID{id.Origin}, Submitted: submitted, Promised: 1,
		VotedFor: id.Origin,
		Epoch:    1, Owner: id.Origin, Held: len(spec.Inputs) > 0}
}

// SoleEntry returns the record of a task of such a job: its end is committed at once.
func SoleEntry(t *TaskRecord) EntryRecord {
	e := EntryRecord{TaskRecord: *t}
	if t.State == Ended {
		e.Epoch, e.Committed, e.Held = 1, true, true
	}
	return e
}

// TombstoneRecord is what is kept of a closed register that was evicted.
type TombstoneRecord struct {
	ID        JobID
	Epoch     uint32  // the highest of the outcome's entries
	Tasks     uint32  // their number
	Cancelled bool    // the cancellation is part of the outcome
	Members   [8]byte // a hash of the list of members
	Ended     int64   // the job
	Opened    uint32  // as in RegisterState
}

// CheckpointRecord is a checkpoint that is kept here for a job of whose register this node is a member. Its key is the
// task; of a gang that is its first rank.
type CheckpointRecord struct {
	ID    AttemptID // that has written it
	Step  uint64
	Files []File // of all ranks, RANK/ before each path

	Shares []uint32 // of the work, by rank; nil = it was not divided, or not known how
}
