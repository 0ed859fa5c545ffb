package grid

import "time"

// Effects is what a node wants done after a step, in order. The driver owns the memory and uses it
// again: it appends nothing, carries everything out, and calls Reset.
//
// Durable before visible: nothing else of this or a later step happens before Saves are on disk, but for those of which
// Record.Later says that nothing waits for them, and for messages that wait for none (Kind.Early).
type Effects struct {
	Saves     []Record
	Sends     []Send
	Announces []Message
	Wakes     []Wake
	Fetches   []Fetch
	Starts    []Start
	Stops     []Stop
	Replies   []Reply
	Links     []Link
	Offences  []NodeID // peers that did what no honest one does, once for each time
	Changed   []TaskID // tasks whose state at this origin changed, for whoever watches
}

// Send is a message for one node. Best effort: it may be lost, repeated or overtaken.
type Send struct {
	To  NodeID
	Msg Message
}

// Wake asks for an EvWake at or soon after At. There is no cancelling: a stale wake is ignored.
type Wake struct {
	At    Time
	Timer Timer
}

// Fetch asks for blobs to be brought here from a node (or from whoever has them), and for an EvFetched.
type Fetch struct {
	Attempt AttemptID
	From    NodeID
	Others  []NodeID // asked next; immutable
	Files   []File   // immutable: part of a JobSpec or Result
	Deposit bool     // for a job's register: nothing here runs with them
}

// Start asks for an attempt to be run, and for EvStarted and EvEnded; or, where it comes out at Until or later, for EvLate.
type Start struct {
	Attempt AttemptID
	Spec    *JobSpec
	Until   Time // 0 = there is no such bound
}

// Stop asks for an attempt to be ended, if it runs, and for its folder to be removed. If it was started an EvEnded follows
// all the same, when nothing of it runs any more; how it ended nobody wants to know.
type Stop struct {
	Attempt AttemptID
}

// Reply answers a local caller.
type Reply struct {
	Caller uint64
	Job    JobID
	Err    string // empty = done
}

// Link tells the driver whom to stay connected to.
type Link struct {
	Peer NodeID
	Keep bool // a neighbour to connect to and keep; otherwise no longer one
}

// Send appends a message of the kind and returns it to be filled in.
func (fx *Effects) Send(to NodeID, k Kind) *Message {
	s := grow(&fx.Sends)
	s.To = to
	s.Msg.Reset(k)
	return &s.Msg
}

// Announce appends an announcement of the kind and returns it to be filled in.
func (fx *Effects) Announce(k Kind) *Message {
	m := grow(&fx.Announces)
	m.Reset(k)
	return m
}

// Save appends a record of the kind and returns it to be filled in.
func (fx *Effects) Save(k RecordKind) *Record {
	r := grow(&fx.Saves)
	*r = Record{Kind: k}
	return r
}

// Wake asks for a wake at a time.
func (fx *Effects) Wake(at Time, k TimerKind, key uint64) {
	fx.Wakes = append(fx.Wakes, Wake{At: at, Timer: Timer{Kind: k, Key: key}})
}

// Reply answers a local caller; caller 0 is nobody.
func (fx *Effects) Reply(caller uint64, job JobID, err string) {
	if caller != 0 {
		fx.Replies = append(fx.Replies, Reply{Caller: caller, Job: job, Err: err})
	}
}

// Reset empties fx and keeps its memory.
func (fx *Effects) Reset() {
	fx.Saves = fx.Saves[:0]
	fx.Sends = fx.Sends[:0]
	fx.Announces = fx.Announces[:0]
	fx.Wakes = fx.Wakes[:0]
	fx.Fetches = fx.Fetches[:0]
	fx.Starts = fx.Starts[:0]
	fx.Stops = fx.Stops[:0]
	fx.Replies = fx.Replies[:0]
	fx.Links = fx.Links[:0]
	fx.Offences = fx.Offences[:0]
	fx.Changed = fx.Changed[:0]
}

// grow makes s longer by one and returns the new last element as it was left there, so that the memory
// of its slices is used again.
func grow[T any](s *[]T) *T {
	if len(*s) < cap(*s) {
		*s = (*s)[:len(*s)+1]
	} else {
		var zero T
		*s = append(*s, zero)
	}
	return &(*s)[len(*s)-1]
}

// Wall turns a driver's time into wall time and back: the driver says once what its clock's zero is.
type Wall struct{ Zero time.Time }

// At returns the wall time of t.
func (w Wall) At(t Time) time.Time { return w.Zero.Add(time.Duration(t)) }
