package checkpoint

import (
	"slices"
	"time"

	"skep/grid"
)

// Running are the checkpoints of the attempts that run at this worker.
type Running struct {
	attempts map[grid.AttemptID]*closed // with any; never iterated
	stale    uint64
}

// closed are those of one attempt. Invariant: steps ascend, all above usable, at most grid.MaxClosed besides step.
type closed struct {
	steps  []uint64      // at the driver, the taken one too
	step   uint64        // taken, or being taken; 0 = none. It never falls but to 0
	known  uint64        // the newest that the driver has told
	usable uint64        // not needed any more, up to this one
	files  []grid.File   // of step, if it is taken
	shares []uint32      // of the work: the rank's
	failed *grid.Refusal // why step could not be taken
	taken  bool
	sure   set         // the newest one that an owner has called usable, of this rank; step 0 = none
	told   grid.NodeID // owner that knows of sure

	written []written     // of steps and step
	kept    time.Duration // of sure
}

// written says for how long the attempt had run when it closed a step.
type written struct {
	step uint64
	ran  time.Duration
}

// Event takes what the driver says of an attempt that runs here: it has closed checkpoints, or one is taken or could
// not be. The owner is told. ran is for how long it has run.
func (r *Running) Event(id grid.AttemptID, x *grid.Checkpoint, ran time.Duration, owner grid.NodeID, fx *grid.Effects) {
	a := r.attempts[id]
	if a == nil {
		if r.attempts == nil {
			r.attempts = make(map[grid.AttemptID]*closed)
		}
		a = new(closed)
		r.attempts[id] = a
	}
	if x.Step != 0 && x.Step == a.step && !a.taken {
		if a.taken = true; x.Refusal.Why != grid.WhyNone {
			a.failed = &x.Refusal
		} else {
			a.files, a.shares = x.Files, x.Shares
		}
	}
	before := len(a.steps)
	for _, k := range x.Closed {
		a.known = max(a.known, k)
		if k > a.usable && (len(a.steps) == 0 || k > a.steps[len(a.steps)-1]) {
			a.steps, a.written = append(a.steps, k), append(a.written, written{k, ran})
		}
	}
	if len(a.steps) > before && a.trim() {
		a.tell(id, 0, fx)
	}
	a.written = slices.DeleteFunc(a.written, func(x written) bool {
		return x.step != a.step && !slices.Contains(a.steps, x.step)
	})
	r.Report(id, owner, fx)
}

// Kept returns for how long an attempt had run when it closed the newest checkpoint that an owner has called usable;
// false = there is none.
func (r *Running) Kept(id grid.AttemptID) (time.Duration, bool) {
	if a := r.attempts[id]; a != nil && a.sure.step > 0 {
		return a.kept, true
	}
	return 0, false
}

// trim forgets the oldest of more closed checkpoints than wait here, and reports whether it did.
func (a *closed) trim() (some bool) {
	for {
		waiting := slices.DeleteFunc(slices.Clone(a.steps), func(k uint64) bool { return k == a.step })
		if len(waiting) <= grid.MaxClosed {
			return some
		}
		a.steps = slices.DeleteFunc(a.steps, func(k uint64) bool { return k == waiting[0] })
		some = true
	}
}

// tell has the driver remove what is not needed, and take a checkpoint unless step is 0.
func (a *closed) tell(id grid.AttemptID, step uint64, fx *grid.Effects) {
	fx.Takes = append(fx.Takes, grid.Take{Attempt: id, Step: step, Keep: slices.Clone(a.steps), Known: a.known})
}

// Report tells an attempt's owner of its checkpoints, if there are any.
func (r *Running) Report(id grid.AttemptID, owner grid.NodeID, fx *grid.Effects) {
	a := r.attempts[id]
	if a == nil || owner.IsZero() || len(a.steps) == 0 && !a.vouches(owner) {
		return
	}
	x := &grid.Checkpoint{Closed: slices.Clone(a.steps)}
	if len(x.Closed) > grid.MaxClosed { // the owner has asked for the oldest
		x.Closed = x.Closed[len(x.Closed)-grid.MaxClosed:]
	}
	if a.taken {
		x.Step, x.Files, x.Shares = a.step, a.files, a.shares
		if a.failed != nil {
			x.Refusal = *a.failed
		}
	} else if a.vouches(owner) {
		x.Step, x.Files, x.Shares, x.Usable = a.sure.step, a.sure.files, a.sure.shares, a.sure.step
	}
	m := fx.Send(owner, grid.KindCheckpoint)
	m.Attempts, m.Checkpoint = append(m.Attempts, id), x
}

// vouches reports whether the owner is one that may not know which checkpoint an earlier one has called usable.
func (a *closed) vouches(owner grid.NodeID) bool { return a.sure.step != 0 && a.told != owner }

// Answered takes the owner's answer: what to take, and what is not needed any more. Nothing is taken that is older than
// what was asked for before: an answer is late, or the owner would have the worker store two in turn.
func (r *Running) Answered(owner grid.NodeID, id grid.AttemptID, x *grid.Checkpoint, fx *grid.Effects) {
	a := r.attempts[id]
	if a == nil || x == nil {
		r.stale++
		return
	}
	known, take := len(a.steps), uint64(0)
	if a.taken && a.failed == nil && x.Usable == a.step {
		a.sure = set{id.Attempt, a.step, a.files, a.shares}
		if i := slices.IndexFunc(a.written, func(x written) bool { return x.step == a.step }); i >= 0 {
			a.kept = a.written[i].ran
		}
	}
	if x.Usable >= a.sure.step {
		a.told = owner
	}
	a.usable = max(a.usable, min(x.Usable, grid.MaxCheckpointStep))
	a.steps = slices.DeleteFunc(a.steps, func(k uint64) bool { return k <= a.usable })
	if x.Step > a.step && slices.Contains(a.steps, x.Step) {
		a.step, a.files, a.failed, a.taken, take = x.Step, nil, nil, false, x.Step
	} else if a.step <= a.usable {
		a.step, a.files, a.failed, a.taken = 0, nil, nil, false
	}
	if a.trim() || len(a.steps) < known || take != 0 {
		a.tell(id, take, fx)
	}
}

// Drop forgets an attempt: it runs no more.
func (r *Running) Drop(id grid.AttemptID) { delete(r.attempts, id) }

// Stale is the number of answers about attempts that have closed nothing.
func (r *Running) Stale() uint64 { return r.stale }
