package exec

import (
	"slices"
	"time"

	"skep/grid"
)

// Work is an attempt that this node has accepted and whose origin has not released it.
type Work struct {
	ID       grid.AttemptID
	Spec     *grid.JobSpec
	Class    string
	Lease    time.Duration
	State    grid.WorkState
	Result   *grid.Result // of WorkFinished
	Accepted grid.Time
	Expected time.Duration // until its start, as expected when it was accepted
	Started  grid.Time     // of WorkRunning
	Terms
	Report
	turn
	Since grid.Time // of WorkQueued: since when its inputs are here
	Until grid.Time // of WorkQueued, of other owners: end of its start lease

	lostAtStart float64 // when it started: coreShare.lost, or sharers.lost of its bid
	order       int64   // of WorkQueued: position in the queue, with gaps; of WorkFinished: its number
	resendPlace int     // of WorkFinished: place in the resend heap, from 1; 0 = not in it
	sleep       sleep   // of WorkQueued
	ready       bool    // program and inputs are present
	stopping    bool    // told to end while it runs
	class       *class
	shared      *jobSpec // holder of Spec
	before      *Work    // previous of the same job
	after       *Work
}

// sleep says whether queued work is examined by Next.
type sleep uint8

const (
	awake   sleep = iota
	asleep        // the gate rejected it, and it waits for Wake
	dormant       // as asleep, and other work need not wait for it
)

// Report is how finished work is reported to its owner until that has acknowledged it.
type Report struct {
	Due   grid.Time // time of the next resend, if there is one
	Tries int       // how often it was sent

	HandedBack *grid.HandBack // it is given back without a result: this is reported, not Result; nil = it is not
}

// Terms are what its offer says of an attempt.
type Terms struct {
	Stays bool // while it is queued it may not be given away
	Asks  bool // its owner asks for it before it gives it up
	Held  bool // of WorkQueued: it has its slot
	Again bool // it was started before a restart of the node: it is not to be started, but taken over
	lists *lists
}

// lists are those terms of which most offers have none; nil = all are empty.
type lists struct {
	barred []grid.NodeID
	inputs []grid.File
	places []grid.RankPlace
	before grid.Division

	assigned, evidence string
}

// termsOf returns what an offer says.
func termsOf(o *grid.Offer) Terms {
	t := Terms{Stays: o.Stays, Asks: o.Asks}
	if len(o.Barred)+len(o.Inputs)+len(o.Places)+int(o.Before.Ranks)+len(o.Assigned) > 0 {
		t.lists = &lists{slices.Clone(o.Barred), o.Inputs, o.Places, o.Before, o.Assigned, o.Evidence}
	}
	return t
}

// Barred returns the nodes that it may not be given to; forgotten in a restart.
func (t *Terms) Barred() []grid.NodeID {
	if t.lists == nil {
		return nil
	}
	return t.lists.barred
}

// Inputs returns the files left by tasks of other jobs; immutable.
func (t *Terms) Inputs() []grid.File {
	if t.lists == nil {
		return nil
	}
	return t.lists.inputs
}

// Places returns those of all ranks of its gang; immutable.
func (t *Terms) Places() []grid.RankPlace {
	if t.lists == nil {
		return nil
	}
	return t.lists.places
}

// Before returns how the work of its gang was divided, as in grid.Offer.
func (t *Terms) Before() grid.Division {
	if t.lists == nil {
		return grid.Division{}
	}
	return t.lists.before
}

// Assigned returns what its job's owner has signed of it, as in grid.Offer.
func (t *Terms) Assigned() string {
	if t.lists == nil {
		return ""
	}
	return t.lists.assigned
}

// Evidence returns who the first members of its job are, as in grid.Offer.
func (t *Terms) Evidence() string {
	if t.lists == nil {
		return ""
	}
	return t.lists.evidence
}

// Level is the finest level of its class: that of its job, unless the task was demoted to another class.
func (w *Work) Level() string {
	if class, finer := grid.ClassOfLevel(w.shared.level); finer && class == w.Class {
		return w.shared.level
	}
	return w.Class
}

// class counts the queued work of one level of a class and of one speedup, so that the backlog is a sum over classes
// instead of tasks.
type class struct {
	name    string
	speedup float64 // of its work: how many times as fast as the class it runs

	queued int64   // MilliCPU of queued work that needs no counted resources
	least  int64   // of what each of that needs, or less
	holds  *demand // of that which needs some; nil = there was none
	ahead  float64 // part of the queued work, by lines.share
	age    float64 // mean age of running work in seconds, by updateAges
	runs   int     // number of running ones, by updateAges
}

// Law returns the mean of the run times of a class here, in seconds, and their squared coefficient of variation, from
// 0, all equally long, to 1, exponential or more variable.
type Law func(class string) (mean, scv float64)
