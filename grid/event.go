package grid

import (
	"math"
	"time"

	"skep/internal/indices"
	"skep/requirement"
)

// EventKind is the kind of an event.
type EventKind uint8

// Kinds of events.
const (
	EvStart    EventKind = iota + 1 // the first event, after New and the restored records
	EvMessage                       // Peer sent Msg on the control stream
	EvAnnounce                      // Peer announced Msg to everybody
	EvWake                          // a timer fired; it may be stale
	EvPeerUp                        // Peer is connected: RTT, Kinds, Features
	EvPeerDown                      // Peer's last connection is gone
	EvSubmit                        // a local caller submits Job, Spec
	EvCancel                        // a local caller cancels Job, or Tasks of it
	EvStarted                       // Attempt's process runs
	EvEnded                         // Attempt ended here with Result, which may be missing if it was told to stop
	// the blobs of Attempt that a Fetch asked for, as a Deposit or not, are here, or Err says why not; Step as in Fetch
	EvFetched
	EvDisk      // Low says whether disk space is low
	EvAddrs     // this node may now be dialled at Addrs
	EvLeave     // this node is about to stop and announces so
	EvDrain     // a local caller wants no new work here, and running attempts stopped after Within
	EvUndrain   // a local caller wants the node to take work again
	EvAvailable // other processes leave the share Left of the cores, and the node is up for the share Up of the time
	EvLate      // Attempt was not started: its Start was released too late or, with Err, what it needs is not there now
	EvProgress  // Attempt, which runs here, said how far it is: Progress
	EvRetry     // a local caller has Tasks of Job, which have ended, run again

	// Attempt, which runs here, has closed checkpoints, or one was taken or could not be: Checkpoint
	EvCheckpoint

	EvHour        // it is Hour here; only where the node's expression of what it accepts asks for that
	EvTransferred // Bytes went between this node and Peer, in the time Took
	EvEngine      // Low says whether what runs tasks elsewhere takes none
)

// Event is one event of a node. Which fields are set depends on Kind. It is dead after the step.
type Event struct {
	Kind    EventKind
	Peer    NodeID
	Msg     *Message
	Timer   Timer
	RTT     time.Duration
	Kinds   KindSet
	Caller  uint64 // of EvSubmit, EvCancel, EvRetry, EvDrain and EvUndrain: returned in the Reply
	Job     JobID
	Tasks   indices.Set // of EvCancel and EvRetry; none = all tasks
	Spec    *JobSpec
	Attempt AttemptID
	Result  *Result
	Err     string
	Low     bool
	Deposit bool
	Within  time.Duration
	Addrs   []string
	Observed

	Features FeatureSet // of EvPeerUp

	OfAttempt
}

// OfAttempt is what comes from an attempt. It is immutable.
type OfAttempt struct {
	Progress   *Progress
	Checkpoint *Checkpoint
	Step       uint64 // of EvFetched: of the checkpoint
}

// Observed is what a driver has measured.
type Observed struct {
	Available
	Transfer
	Hour requirement.Hour
}

// Transfer is how long it took to move so much.
type Transfer struct {
	Bytes Bytes
	Took  time.Duration
}

// Bandwidth is what transfers over a link have achieved.
type Bandwidth struct {
	Rate float64       // bytes a second; 0 = there was none
	Age  time.Duration // of the newest
}

// Available is what a machine has for tasks beside what else it does.
type Available struct {
	Left float64 // share of the cores, 0 … 1
	Up   float64 // share of the time, 0 … 1
}

// Timer says what a wake is for.
type Timer struct {
	Kind TimerKind
	Key  uint64 // private to the package that set it
}

// TimerKind is the kind of a timer.
type TimerKind uint8

// Timers, by the package that sets them.
const (
	TimerGossip   TimerKind = iota + 1 // gossip: send what is due
	TimerRefresh                       // gossip: the slow refresh of the own ad and of the neighbours
	TimerSearch                        // discovery: a search's deadline; Key is its ID
	TimerPoll                          // node: a poll's deadline; Key is the task's handle
	TimerOffer                         // node: an offer's answer is due; Key is the task's handle
	TimerLease                         // node: an attempt lease may have expired; Key is the task's handle
	TimerRetry                         // node: place a task again; Key is the task's handle
	TimerBeat                          // node: send beats for running attempts to their owners
	TimerResult                        // node: repeat results that were not acknowledged
	TimerAd                            // node: the own ad may have changed
	TimerRegister                      // node: registers; Key 0 = the periodic tick, else something is due
	TimerDrain                         // node: the drain deadline of running attempts
	TimerBound                         // node: a running attempt may exceed its class's bound
	TimerPull                          // node: look for work to ask for, or to give away
	TimerAwait                         // node: ask again about a job that another one waits for
	TimerGang                          // node: something of a gang is due; Key is its handle
	TimerReserve                       // node: a reservation expires

	// node: checkpoints kept here; what is unanswered is repeated, and what is not needed dropped
	TimerCheckpoint

	TimerDeadline   // node: the deadline of a job may be over
	TimerSettle     // node: peers had time to tell whether the data folder was put back
	TimerReallocate // node: the cores may be allocated anew
	TimerIntake     // node: the window in which offers are gathered closes
)

// Time is the reading of a driver's clock in nanoseconds. It never goes back, goes on in suspend, starts anywhere, and
// means nothing on another node: nothing on the wire is a Time.
type Time int64

// Never is later than every time.
const Never Time = math.MaxInt64

// Add returns t + d, and Never where that would overflow.
func (t Time) Add(d time.Duration) Time {
	if d > 0 && t > Never-Time(d) {
		return Never
	}
	return t + Time(d)
}

// Sub returns t − u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Seconds converts a duration in seconds, as rates and completion times are computed, to a Duration; NaN and what a
// Duration cannot hold become the longest one.
func Seconds(s float64) time.Duration {
	if !(s < float64(math.MaxInt64)/1e9) {
		return math.MaxInt64
	}
	if s < 0 {
		return 0
	}
	return time.Duration(s * 1e9)
}
