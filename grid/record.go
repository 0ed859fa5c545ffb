package grid

import "time"

// RecordKind is the kind of a record.
type RecordKind uint8

// What a node keeps on disk. The numbers are on disk: never reuse one.
const (
	RecJob      RecordKind = iota + 1 // a job submitted here
	RecTask                           // where one of its tasks stands, once it is not simply pending
	RecWork                           // an attempt accepted here
	RecClass                          // what was measured of a class here
	RecRegister                       // a job whose register this node is a member of
	RecEntry                          // where one of its tasks stands
)

// Record is one thing to keep, or with Delete to forget. A later record with the same key replaces the
// earlier one. Times are wall time in Unix nanoseconds. The key is the ID of the kind's struct; of a task it
// is the TaskID alone, so that a new attempt replaces the record of the one before.
type Record struct {
	Kind     RecordKind
	Delete   bool
	Later    bool // no effect waits for it: it is on disk with the next that one waits for, or soon; a crash before that loses it
	Job      JobRecord
	Task     TaskRecord
	Work     WorkRecord
	Class    ClassRecord
	Register *RegisterRecord // fresh memory, as the next: there are few beside the others
	Entry    *EntryRecord
}

// JobRecord is a job submitted here.
type JobRecord struct {
	ID        JobID
	Spec      *JobSpec
	Submitted int64
	Cancelled bool
}

// TaskRecord is where a task of such a job stands.
type TaskRecord struct {
	ID     AttemptID // the last attempt made
	State  TaskState
	Worker NodeID  // of the last attempt
	Lost   int32   // attempts lost so far
	Result *Result // of Ended
	Placed int64   // when the last attempt was chosen
	Began  int64   // when the last attempt started to run, as its result tells
	Done   int64   // when its end was saved

	// Copy is the second live attempt of a task of a job that is idempotent, or the last that was one; nil = there never was
	// one. Fresh memory.
	Copy *CopyRecord
}

// CopyRecord is an attempt that was made beside another. Its number is above that of the other, and never used again.
type CopyRecord struct {
	Attempt
	Worker NodeID // zero = it is no longer live
}

// WorkState is where an attempt stands at the node that accepted it.
type WorkState uint8

// An accepted attempt waits, runs, and is finished until its origin has acknowledged the result.
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
	Result *Result // of WorkFinished

	Members []NodeID // of the job's register; nil = it has none
	Owner   NodeID   // of the job, as far as is known here; zero = the origin
	Epoch   uint32   // of that owner
}

// ClassRecord is what was measured of a class.
type ClassRecord struct {
	Class string
	Mean  float64 // decayed mean run time in seconds of one slot here
	Count float64 // decayed number of runs behind it

	// Spread is the decayed squared coefficient of variation of the run times, Spreads the number of runs behind it.
	Spread, Spreads float64
}

// RegisterRecord is a job whose register this node is a member of.
type RegisterRecord struct {
	ID        JobID
	Spec      *JobSpec
	Members   []NodeID // the origin first; immutable
	Submitted int64
	Promised  uint32 // no lower epoch is taken part in
	To        NodeID
	Epoch     uint32 // highest accepted
	Owner     NodeID
	Done      bool
	Held      bool // the job's inputs are here
}

// EntryRecord is where a task of such a job stands; index Count stands for the job's cancellation. It is keyed as a TaskRecord is.
type EntryRecord struct {
	TaskRecord
	Epoch uint32 // in which its end was accepted; 0 = it has not ended here
	Final bool   // a majority is known to hold its end
	Held  bool   // the files that Result names are here; with Epoch 0 it is the result that is about to be written
}
