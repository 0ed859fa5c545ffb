package migration

import (
	"fmt"
	"math"
	"time"

	"skep/balance"
	"skep/grid"
)

const (
	// Freeze is what a move is expected to take beside the transfer: a program that is told to end has that long.
	Freeze = 5 * time.Second

	// worth is the part of the remaining time by which a task must be done sooner elsewhere, however little a move costs:
	// estimates are wrong by some percent by themselves.
	worth = 0.1

	// leastLeft is the part of a task that is left at the least where only the time that it has run is known: such a time
	// is a mean.
	leastLeft = 0.1

	firstPause = 2 * time.Second // between two looks at a task, doubled each time
	maxPause   = time.Minute

	// settling is how long nothing else moves after a task has: ads do not say yet that a node has it.
	settling = 2 * time.Second

	// perByte is how long a byte takes to a node at the least, in seconds: little may have been measured.
	perByte = 1e-7
)

// Task is what the owner knows of the moves of a task beside their number, in memory alone. The zero value is that of
// one that was not looked at yet.
type Task struct {
	next  grid.Time
	pause time.Duration
	done  float64     // part of the task that attempts before this one have left in a checkpoint, 0 to 1
	kept  float64     // the same with this attempt, when it was weighed
	to    grid.NodeID // zero = it does not move
}

// Looks reports whether a task is to be weighed now, and counts that it was: the pause until the next look is doubled
// each time.
func (t *Task) Looks(now grid.Time) bool {
	if now < t.next {
		return false
	}
	t.pause = min(max(2*t.pause, firstPause), maxPause)
	t.next = now.Add(t.pause)
	return true
}

// Moved records that the attempt was given up, and returns where the task was to go on; zero = anywhere.
func (t *Task) Moved() (to grid.NodeID) {
	to, t.done = t.to, max(t.done, t.kept)
	t.to, t.next, t.pause = grid.NodeID{}, 0, 0
	return to
}

// Turn is the one task of an owner that may move at a time: several that saw the same idle node would all go there. The
// zero value is free.
type Turn struct {
	handle uint64
	until  grid.Time
}

// Free reports whether a task may be asked for.
func (t *Turn) Free(now grid.Time) bool { return now >= t.until }

// Take gives the turn to a task, for so long at most: the question or its answer may be lost.
func (t *Turn) Take(now grid.Time, handle uint64, most time.Duration) {
	t.handle, t.until = handle, now.Add(most)
}

// End ends the turn of a task, if it has it: it has moved, or stays.
func (t *Turn) End(now grid.Time, handle uint64, moved bool) {
	if t.handle != handle || now >= t.until {
		return
	}
	if *t = (Turn{}); moved {
		t.until = now.Add(settling)
	}
}

// Situation is what a verdict rests on.
type Situation struct {
	Here  grid.NodeID
	Whole float64         // seconds that the whole task takes there, alone at full speed; 0 = not known
	Is    *grid.Movable   // what the worker says
	Said  *grid.Progress  // what the task has said; nil = nothing
	Bytes grid.Bytes      // of the checkpoint
	Nodes []balance.State // where it could go on

	Bid    grid.Bid
	Outbid float64 // balance.Movement.Outbid

	// Lacks is how many bytes of the task's inputs are not yet at a node, as far as is known.
	Lacks func(grid.NodeID) float64

	// Transfer is how long moving so many bytes takes to a node with that round trip, in seconds.
	Transfer func(rtt time.Duration, bytes float64) float64
	Name     func(grid.NodeID) string
}

// left returns which part of a task is left, and which part a move repeats: what was done since the checkpoint.
func (s *Situation) left(t *Task) (left, again float64) {
	again = (s.Is.Ran - s.Is.Kept).Seconds() / s.Whole
	if s.Said != nil && s.Said.Total > 0 {
		return 1 - min(s.Said.Done/s.Said.Total, 1), again
	}
	return max(1-t.done-s.Is.Ran.Seconds()/s.Whole, leastLeft), again
}

// outbids reports whether a node is idle, or what runs there is known to bid so little that the task may go there.
func (s *Situation) outbids(n *balance.State) bool {
	return s.Outbid == 0 || n.Ready <= 0 || n.Outbid > 0 && s.Bid.Number() >= s.Outbid*n.Outbid.Number()
}

// Verdict is what follows. The zero value: the task stays.
type Verdict struct {
	To   grid.NodeID
	Text string
}

// Weigh returns where a task is to go on. With f the part of it that is left, g the part since its checkpoint, m the
// time of the whole task at a node and w the time until it could go on there,
//
//	(w_here + f·m_here) − (w_there + (f+g)·m_there) > transfer + freeze
//
// where the checkpoint is transferred and what the node lacks of the inputs, and the left side is more than a tenth of
// its first part. Under PE-T only idle nodes count, and those that the task outbids. Of several nodes it is the one
// where the difference is largest.
func (t *Task) Weigh(s *Situation) (v Verdict) {
	t.to = grid.NodeID{}
	if !(s.Whole > 0) || math.IsInf(s.Whole, 0) {
		return v
	}
	left, again := s.left(t)
	here, best := s.Is.Wait.Seconds()+left*s.Whole, 0.0
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Node == s.Here || !(n.ECT >= n.Ready) || math.IsInf(n.ECT, 0) || !s.outbids(n) {
			continue
		}
		there := max(n.Ready, 0) + (left+again)*(n.ECT-n.Ready)
		bytes := float64(s.Bytes) + s.Lacks(n.Node)
		cost := Freeze.Seconds() + max(s.Transfer(n.RTT, bytes), n.RTT.Seconds()+perByte*bytes)
		if gain := here - there; gain > worth*here && gain-cost > best {
			best, v.To = gain-cost, n.Node
			v.Text = fmt.Sprintf("to %s: done there in %s and %s for the move, here in %s", s.Name(n.Node),
				seconds(there), seconds(cost), seconds(here))
		}
	}
	t.to, t.kept = v.To, min(max(1-left-again, 0), 1-leastLeft)
	return v
}

func seconds(x float64) time.Duration { return grid.Seconds(x).Round(100 * time.Millisecond) }

// MostMade is how many moves an earlier owner can have made that made an attempt of a task: each move is an attempt, of
// the first epoch numbered from 1. How many were made before a later epoch is not known: as many as may be.
func MostMade(a grid.Attempt, before, most uint32) uint8 {
	if a.Epoch > 1 || a.N == 0 {
		before = most
	}
	return uint8(min(before, most))
}
