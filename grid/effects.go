package grid

import (
	"math/rand/v2"
	"time"
)

// Effects is what a node wants done after a step, in order. The driver owns the memory and reuses it: it carries
// everything out, and calls Reset.
//
// Durable before visible: no other effect of this or a later step happens before Saves are on disk. Exceptions: records
// with Record.Later delay nothing, and messages with Kind.Early do not wait.
type Effects struct {
	Saves     []Record
	Sends     []Send
	Announces []Message
	Wakes     []Wake
	Fetches   []Fetch
	Starts    []Start
	Suspends  []Suspend
	Stops     []Stop
	Takes     []Take
	Replies   []Reply
	Links     []Link
	Offences  []NodeID // peers that sent what no honest node sends; one entry for each offence
	Changed   []TaskID // tasks whose state at this owner changed, for watchers

	first, firstStart int // number of Sends and Starts when the step began
}

// Begin marks the beginning of a step.
func (fx *Effects) Begin() { fx.first, fx.firstStart = len(fx.Sends), len(fx.Starts) }

// Sent lists what the step has sent so far.
func (fx *Effects) Sent() []Send { return fx.Sends[fx.first:] }

// About returns a message of a kind that lists attempts, with room for another one: the last such to a node in this
// step, or a new one.
func (fx *Effects) About(to NodeID, k Kind) *Message {
	for i := len(fx.Sends) - 1; i >= fx.first; i-- {
		if s := &fx.Sends[i]; s.To == to && s.Msg.Kind == k && len(s.Msg.Attempts) < MaxBeats {
			return &s.Msg
		}
	}
	return fx.Send(to, k)
}

// Send is a message to one node. Best effort: it may be lost, repeated or reordered.
type Send struct {
	To  NodeID
	Msg Message
}

// Wake asks for an EvWake at or soon after At. It cannot be cancelled: a stale wake is ignored.
type Wake struct {
	At    Time
	Timer Timer
}

// Fetch asks for blobs from a node (or from any node that has them), and for an EvFetched.
type Fetch struct {
	Attempt AttemptID
	From    NodeID
	Others  []NodeID // asked next; immutable
	Files   []File   // immutable: part of a JobSpec or Result
	Deposit bool     // for a deposit: no attempt here waits for them
	Step    uint64   // of a checkpoint of the attempt; 0 = of none
}

// Start asks for an attempt to be run, and for EvStarted and EvEnded; or for EvLate if the driver releases it at Until
// or later, and for one to be taken over if nothing of it has run or will.
type Start struct {
	Attempt AttemptID
	Spec    *JobSpec
	Inputs  []File      // beside those of Spec: left by tasks of other jobs
	Until   Time        // 0 = no deadline
	Local   uint32      // of a rank of a gang: its index among those of the attempt on this node
	Places  []RankPlace // as in Offer; immutable
	Before  Division    // as in Offer
	Again   bool        // it was started before the node was, and may run: it is not to be started, but taken over
	Given   *Given      // of a job with secrets: what proves that it was given to this node; nil = nothing does
	Weight  float64     // up to 1, for each core that it needs, where what runs shares the cores; 0 = it does not
}

// Take asks for the files of a closed checkpoint of an attempt that runs to be stored, and for an EvCheckpoint that
// names them. What the attempt has closed up to Known and Keep does not name is removed.
type Take struct {
	Attempt AttemptID
	Step    uint64   // 0 = none is to be taken
	Keep    []uint64 // immutable
	Known   uint64   // the newest that the node has been told of
}

// Suspend asks for an attempt that runs to be stopped in place, or to be continued. Its time limit stands still
// meanwhile. Those of a step are carried out in order, before its Starts.
type Suspend struct {
	Attempt AttemptID
	Resume  bool
}

// Stop asks for an attempt to be ended, if it runs, and for its folder to be removed. If it was started an EvEnded
// follows all the same, when its process has ended; its result does not matter. Those of a step are carried out before
// its Starts, for which they make room: what a step starts and then gives up it does not start (CancelStart).
type Stop struct {
	Attempt AttemptID
}

// Reply answers a local caller.
type Reply struct {
	Caller uint64
	Job    JobID
	Err    string // empty = done
}

// Link tells the driver which peers to stay connected to.
type Link struct {
	Peer NodeID
	Keep bool // connect to it and keep the connection; otherwise release it
}

// Send appends a message of the kind and returns it to be filled in.
func (fx *Effects) Send(to NodeID, k Kind) *Message {
	s := grow(&fx.Sends)
	s.To = to
	s.Msg.Reset(k)
	return &s.Msg
}

// CancelStart takes the start of an attempt back, if this step has asked for it, and reports whether it has: then
// nothing of the attempt will run, and no EvEnded follows.
func (fx *Effects) CancelStart(id AttemptID) bool {
	for i := fx.firstStart; i < len(fx.Starts); i++ {
		if fx.Starts[i].Attempt == id {
			fx.Starts = append(fx.Starts[:i], fx.Starts[i+1:]...)
			return true
		}
	}
	return false
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

// Reply answers a local caller; caller 0 is none.
func (fx *Effects) Reply(caller uint64, job JobID, err string) {
	if caller != 0 {
		fx.Replies = append(fx.Replies, Reply{Caller: caller, Job: job, Err: err})
	}
}

// Reset empties fx and keeps its memory.
func (fx *Effects) Reset() {
	fx.Saves = fx.Saves[:0]
	fx.Sends, fx.first = fx.Sends[:0], 0
	fx.Announces = fx.Announces[:0]
	fx.Wakes = fx.Wakes[:0]
	fx.Fetches = fx.Fetches[:0]
	fx.Starts, fx.firstStart = fx.Starts[:0], 0
	fx.Suspends = fx.Suspends[:0]
	fx.Stops = fx.Stops[:0]
	fx.Takes = fx.Takes[:0]
	fx.Replies = fx.Replies[:0]
	fx.Links = fx.Links[:0]
	fx.Offences = fx.Offences[:0]
	fx.Changed = fx.Changed[:0]
}

// grow makes s longer by one and returns the new last element with its old content, so that the memory of its slices is
// reused.
func grow[T any](s *[]T) *T {
	if len(*s) < cap(*s) {
		*s = (*s)[:len(*s)+1]
	} else {
		var zero T
		*s = append(*s, zero)
	}
	return &(*s)[len(*s)-1]
}

// Wall converts a driver's time to wall time: the driver says once which wall time its clock's zero is.
type Wall struct{ Zero time.Time }

// At returns the wall time of t.
func (w Wall) At(t Time) time.Time { return w.Zero.Add(time.Duration(t)) }

// Rand is the only source of randomness inside a node: a PCG seeded by the driver, so that the same seed and events
// always give the same run. Streams of one seed are independent of each other.
type Rand struct{ *rand.Rand }

// NewRand returns the given stream of a seed.
func NewRand(seed, stream uint64) *Rand { return &Rand{rand.New(rand.NewPCG(seed, stream))} }

// Room returns s with room for one more element. If it has to grow, it grows by an eighth, and by least at the least:
// the lists that a node has of its peers soon reach their final size, and a slice that doubles would stay half empty.
func Room[T any](s []T, least int) []T {
	if len(s) < cap(s) {
		return s
	}
	return append(make([]T, 0, len(s)+max(least, len(s)/8)), s...)
}
