package grid

import "time"

// Final is how a task ended, as a member of its job's register keeps it. It is immutable once built. The entry
// after the last task stands for the job's cancellation: it has no result.
type Final struct {
	Index   uint32
	Epoch   uint32 // in which it was accepted where it is kept
	Attempt Attempt
	Worker  NodeID
	Lost    int32   // attempts lost before
	Result  *Result // nil of a cancellation
	Placed  int64   // wall time in Unix nanoseconds; in a message, how long ago
	Began   int64
	Done    int64
}

// Register is what the members of a job's register tell each other. Which fields mean something depends on the
// message's kind.
type Register struct {
	Job     JobID
	Epoch   uint32
	Seq     uint64 // drawn by the asker; the answer repeats it
	Answer  RegisterAnswer
	Owner   NodeID        // in answers and takeovers: of Epoch; in a promise that is given: of the highest epoch accepted
	Spec    *JobSpec      // with Members and Age: makes the register where there is none yet
	Members []NodeID      // the origin first
	Age     time.Duration // since submission
	Done    bool          // every task has ended and a majority holds how
	Next    uint32        // in a promise: the first entry asked for; in its answer: the first that is missing
	More    bool          // entries from Next on are to come
	Finals  []Final
	Count   uint32 // of a watch: how many registers of the asker the other holds, as it believes
	Sum     uint64 // and the sum of their hashes
	Room    uint32 // in the answer to a watch: 0 = a further job of any size would be kept here; else the tasks that it may have, and one
}

// RegisterAnswer is what a member says to a write, a promise asked for, or a watch.
type RegisterAnswer uint8

// Answers of a member.
const (
	RegisterOK      RegisterAnswer = iota + 1 // written, promised, all held
	RegisterHigher                            // a higher epoch has been promised: Epoch, and Owner if it has one
	RegisterLive                              // no promise: the owner was heard of not long ago
	RegisterUnknown                           // there is no such register here
	RegisterDone                              // every task has ended; the entries are the outcome
	RegisterDiffers                           // of a watch: something else is held here, so say what you mean one by one
	RegisterFull                              // not written: there is no room here for more of who sends it, or of the job's origin
)

// reset empties g and keeps the memory of its slices.
func (g *Register) reset() {
	clear(g.Finals)
	*g = Register{Members: g.Members[:0], Finals: g.Finals[:0]}
}
