package sim

import (
	"errors"
	"fmt"
	"time"

	"skep/grid"
	"skep/node"
)

// Config describes a world and what happens in it. The same Config gives the same run. Its functions are called from
// one goroutine, must depend on their arguments only, and draw from the given Rand only.
type Config struct {
	Seed  uint64 // of all randomness in the run
	Nodes int    // 1 to 1<<24

	// Node adjusts the configuration of a node, by index; nil leaves [node.Defaults] with jobs of one member, 4 cores, 4
	// GiB and labels os and arch. Self, Boot and Seed are set by the world afterwards.
	Node func(i int, c *node.Config)

	// Make creates a member; nil = the real node.
	Make func(c node.Config, wall grid.Wall) (Member, error)

	// Hostile returns how a node violates the protocol; nil = no node does. The views of a hostile node are not
	// checked, and its messages are counted apart.
	Hostile func(i int) Behaviour

	// Available returns a node's availability at its start: the share of its cores that other users leave, until a
	// fault changes it, and the share of time that it is up, as its driver would have measured. nil = all.
	Available func(i int) (left, up float64)

	Network Network
	Machine Machine
	Disk    Disk
	Work    []Submission // in order of time
	Faults  []Fault      // in order of time

	// Bound is the time after the last fault and submission within which every job must have ended and every node must
	// have deleted its work records; 0 = 30 minutes.
	Bound time.Duration

	// Rest is how long the world continues after everything is done, so that late messages arrive; 0 = not.
	Rest time.Duration

	// Spread is the time over which the nodes start, evenly; 0 = all at once.
	Spread time.Duration

	// Check is what is checked at every event. A higher level finds more and costs more.
	Check Level

	// NoDigest omits the digest of events and effects, which costs a fifth of an event that does little; Report.Digest
	// is then 0.
	NoDigest bool

	// Hindsight records what [World.Regret] is computed from.
	Hindsight bool

	// Conserves has the run fail if work is not conserved once the last fault has no consequences: a node is idle for
	// long while a task waits that would have ended sooner there. It needs Hindsight, and holds where nodes pull.
	Conserves bool

	Drawn

	// Log gets a line for each step of a node; nil = no log.
	Log func(line string)
}

// Drawn is what belongs to worlds that are drawn at random.
type Drawn struct {
	Repeat string // the command that repeats the run, for the failure's text
	Aims   []Aim  // faults that wait for what nodes do

	// OnlySigned has nothing be checked but that the ends of signed jobs are proved, and that no node panics.
	OnlySigned bool
}

// Level is what is checked at every event.
type Level int8

// Levels of checking; each contains the one before.
const (
	CheckNothing Level = iota - 1
	CheckRecords       // records, attempts, durability: a few nanoseconds each
	CheckViews         // also the views (Jobs, Stats) of the node that took the step
	CheckPoison        // also whether it kept memory that was dead after the step: that memory is overwritten
)

// Member is what the world drives: a [node.Node], or a scripted substitute.
type Member interface {
	Restore(r *grid.Record)
	Step(now grid.Time, ev *grid.Event, fx *grid.Effects)
	Jobs(dst []node.JobView) []node.JobView
	Stats(now grid.Time) node.Stats
}

// Submission is a job submitted to a node. A client that gets no answer because the node is down submits the same job
// again when it is back.
type Submission struct {
	At     time.Duration // since the world began
	Node   int
	Spec   *grid.JobSpec
	Cancel time.Duration // when the client cancels it, if its node is up then; 0 = never
	// it asks the job's owner again for two minutes, until it is answered that nothing of the job can start any more
	RetryCancel bool
	After       []After       // earlier submissions that it waits for, but for those not acknowledged by then
	Size        float64       // of its tasks; 0 = drawn
	Checkpoint  time.Duration // its tasks close those that they have got to each time; 0 = none
	Tells       bool          // with Checkpoint: its tasks say how many of their parts are done
	// when the client cancels the first task, and when it has it run again, as Cancel; 0 = never
	CancelTask, RetryTask time.Duration
	RetryUntil            time.Duration // it has another one run again every 15 s until then
}

// After is an earlier submission that one waits for.
type After struct {
	On   int // its index
	Kind grid.AfterKind
	Path string // of a file that its first task, or each, leaves and that is wanted as an input; "" = none
}

// submissionID returns the identity of submission n: its origin, and a nonce that begins with n.
func submissionID(origin grid.NodeID, n int) grid.JobID {
	id := grid.JobID{Origin: origin}
	put32(id.Nonce[:], uint32(n))
	mix := splitmix(uint64(n) + 1)
	for i := 4; i < len(id.Nonce); i++ {
		id.Nonce[i] = byte(mix >> (8 * i))
	}
	return id
}

const maxNodes = 1 << 24

// check reports all problems of the configuration.
func (c *Config) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("sim: "+format, args...)) }
	if c.Nodes < 1 || c.Nodes > maxNodes {
		bad("nodes %d: want 1 to %d", c.Nodes, maxNodes)
	}
	last := time.Duration(0)
	for i, s := range c.Work {
		if s.At < last {
			bad("submission %d at %v: comes before the one listed before it, at %v", i, s.At, last)
		}
		last = max(last, s.At)
		if s.Node < 0 || s.Node >= c.Nodes {
			bad("submission %d to node %d: want 0 to %d", i, s.Node, c.Nodes-1)
		}
		if s.Spec == nil {
			bad("submission %d: has no job", i)
		}
		if s.Checkpoint < 0 || s.Tells && s.Checkpoint == 0 {
			bad("submission %d: checkpoint after %v: want 0 for none, or more for tasks that tell how far they are", i,
				s.Checkpoint)
		}
	}
	last = 0
	for i := range c.Faults {
		f := &c.Faults[i]
		if f.At < last {
			bad("fault %d (%v) at %v: comes before the one listed before it, at %v", i, f.Kind, f.At, last)
		}
		last = max(last, f.At)
		if err := f.check(c.Nodes); err != nil {
			bad("fault %d: %w", i, err)
		}
	}
	if p := c.Machine.Parallel; p != nil && len(p.Speed) != c.Nodes {
		bad("parallel programs: speeds of %d nodes: want %d", len(p.Speed), c.Nodes)
	}
	errs = append(errs, c.Network.check(), c.Machine.check(), c.Disk.check())
	return errors.Join(errs...)
}

// defaults replaces zero values.
func (c *Config) defaults() {
	if c.Bound == 0 {
		c.Bound = 30 * time.Minute
	}
	if c.Make == nil {
		c.Make = func(cfg node.Config, wall grid.Wall) (Member, error) { return node.New(cfg, wall) }
	}
	if c.Hostile == nil {
		c.Hostile = func(int) Behaviour { return 0 }
	}
	if c.Available == nil {
		c.Available = func(int) (left, up float64) { return 1, 1 }
	}
	c.Network.defaults()
	c.Machine.defaults()
}

// splitmix hashes a counter into 64 bits (the SplitMix64 finaliser).
func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func put32(b []byte, v uint32) {
	b[0], b[1], b[2], b[3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
}

func get32(b []byte) uint32 {
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}
