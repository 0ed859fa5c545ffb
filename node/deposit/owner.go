package deposit

import (
	"slices"

	"skep/grid"
)

// The owner's side: which members are asked to store which files. Files count as safe once a majority of the members
// has them: whatever majority can be formed later, one of it has them.

// ReplicateInputs begins to have a job's inputs stored by a majority of the members, if it has any.
func (s *Store) ReplicateInputs(now grid.Time, f *Files) {
	if len(f.spec.Inputs) > 0 {
		f.inputCopies = s.newCopies(now, f, f.spec.Inputs, f.HasInputs())
	}
}

// ReplicateOutput begins to have what an attempt left stored by a majority of the members. It is stored here already.
// The result waits for that: see Finish. False: nobody is asked for so much, and the result to be recorded says so.
func (s *Store) ReplicateOutput(now grid.Time, f *Files, id grid.AttemptID, r *grid.Result,
	fx *grid.Effects) (*grid.Result, bool) {
	task := id.Task.Index
	s.OutputStored(f, task, id.Attempt, r)
	c := s.newCopies(now, f, r.Blobs(nil), true)
	if c.tooLarge {
		return c.annotate(f.reg.Members(), r), false
	}
	f.outputs[task].copies = c
	f.replicating = append(f.replicating, task)
	for place := range f.reg.Members() {
		s.request(now, f, place, c, id, r, fx)
	}
	return r, true
}

// IsReplicating reports whether an attempt's result waits for a majority to have its files.
func (f *Files) IsReplicating(id grid.AttemptID) bool {
	x := f.output(id.Task.Index, id.Attempt)
	return x != nil && x.copies != nil
}

// Replicating lists the tasks whose results wait for a majority to have their files, in the order of the results.
func (f *Files) Replicating() []uint32 { return slices.Clone(f.replicating) }

// StopReplicating has a task's result wait no longer, if it does: it is not wanted any more.
func (f *Files) StopReplicating(task uint32) {
	if x := f.outputs[task]; x != nil && x.copies != nil {
		x.copies = nil
		f.replicating = slices.DeleteFunc(f.replicating, func(i uint32) bool { return i == task })
	}
}

// StepDown forgets who has which files: this node is not the owner any more.
func (f *Files) StepDown() {
	f.inputCopies = nil
	for _, task := range f.replicating {
		f.outputs[task].copies = nil
	}
	f.replicating = nil
}

// MemberReplaced forgets what the member at a place has: another node has its place now.
func (f *Files) MemberReplaced(place int) {
	if f.inputCopies != nil {
		f.inputCopies.forget(place)
	}
	for _, task := range f.replicating {
		f.outputs[task].copies.forget(place)
	}
}

// Ask asks each member, as the owner, for the deposits that it has not confirmed and is due to be asked for.
func (s *Store) Ask(now grid.Time, f *Files, fx *grid.Effects) {
	if f.inputCopies == nil && len(f.replicating) == 0 {
		return
	}
	for place := range f.reg.Members() {
		if f.inputCopies != nil {
			s.request(now, f, place, f.inputCopies, InputsID(f.Job()), nil, fx)
		}
		for _, task := range f.replicating {
			x := f.outputs[task]
			s.request(now, f, place, x.copies, grid.AttemptID{Task: grid.TaskID{Job: f.Job(), Index: task}, Attempt: x.attempt},
				x.result, fx)
		}
	}
}

// request asks one member, if it is due. An owner that is not the origin may lack the inputs itself and fetches them.
func (s *Store) request(now grid.Time, f *Files, place int, c *copies, id grid.AttemptID, r *grid.Result,
	fx *grid.Effects) {
	if !c.due(now, place, s.cfg.Retry) {
		return
	}
	switch to := f.reg.Members()[place]; {
	case to == s.cfg.Self:
		c.asked[place] = now
		s.fetchInputs(f, f.Job().Origin, fx)
	case f.reg.HasAccepted(place):
		c.asked[place] = now
		m := fx.Send(to, grid.KindDeposit)
		m.Attempts, m.Result = append(m.Attempts, id), r
	}
}

// Answered takes a member's answer about the inputs (InputsID) or what an attempt left. It reports false if nothing
// waits for it.
func (f *Files) Answered(from grid.NodeID, id grid.AttemptID, refusal grid.Refusal) bool {
	c, place := f.inputCopies, slices.Index(f.reg.Members(), from)
	if id != InputsID(f.Job()) {
		c = nil
		if x := f.output(id.Task.Index, id.Attempt); x != nil {
			c = x.copies
		}
	}
	if c == nil || place < 0 {
		return false
	}
	c.answered(place, from, refusal)
	return true
}

// Finish reports whether a task's result need not wait any longer, and returns it: a majority has its files, or is no
// longer waited for, which its error then says. It does so once.
func (f *Files) Finish(now grid.Time, task uint32) (*grid.Result, bool) {
	x := f.outputs[task]
	if x == nil || x.copies == nil || !x.copies.settle(now) {
		return nil, false
	}
	c, r := x.copies, x.result
	f.StopReplicating(task)
	if !c.withMajority() {
		r = c.annotate(f.reg.Members(), r)
	}
	return r, true
}

// SettleInputs reports whether a submission need not wait for the inputs any longer: a majority has them, or is no
// longer waited for.
func (f *Files) SettleInputs(now grid.Time) bool {
	return f.inputCopies == nil || f.inputCopies.settle(now)
}

// InputsSettled reports what SettleInputs last did.
func (f *Files) InputsSettled() bool { return f.inputCopies == nil || f.inputCopies.settled }

// InputsSafe reports whether a majority is known to have the inputs, or there are none.
func (f *Files) InputsSafe() bool { return f.inputCopies == nil || f.inputCopies.withMajority() }

// InputsAtRisk says who has the inputs, if fewer than a majority and no more are waited for; else "".
func (f *Files) InputsAtRisk() string {
	c := f.inputCopies
	if c == nil || !c.settled || c.withMajority() {
		return ""
	}
	return "its inputs are only with " + c.holders(f.reg.Members()) + ", and without them its tasks cannot run: " + c.why
}
