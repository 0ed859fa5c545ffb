package deposit

import "skep/grid"

// The member's side: files named by a register's owner are fetched and stored here.

// Asked fetches the files that the job's owner names: what an attempt left, or the job's inputs (InputsID). It answers
// when they are stored, and at once if they are or cannot be. full: there is no room in memory for a further result.
func (s *Store) Asked(f *Files, from grid.NodeID, id grid.AttemptID, r *grid.Result, full bool, fx *grid.Effects) {
	refusal, here := grid.Refusal{}, false
	switch {
	case id != InputsID(f.Job()):
		refusal = s.fetchOutput(f, id, r, r.Blobs(nil), from, full, fx)
		here = refusal.Why == grid.WhyNone && f.output(id.Task.Index, id.Attempt).state == stored
	case f.HasInputs() || len(f.spec.Inputs) == 0:
		here = true
	default:
		refusal = s.fetchInputs(f, from, fx)
	}
	if here || refusal.Why != grid.WhyNone {
		answer(from, id, refusal, fx)
	}
}

// fetchInputs starts to fetch a job's inputs, unless they are stored or under way.
func (s *Store) fetchInputs(f *Files, from grid.NodeID, fx *grid.Effects) grid.Refusal {
	if f.inputs != absent {
		return grid.Refusal{}
	}
	refusal := s.fetch(f, InputsID(f.Job()), from, f.spec.Inputs, fx)
	if refusal.Why == grid.WhyNone {
		f.inputs = fetching
	}
	return refusal
}

// fetchOutput starts to fetch what an attempt left, unless it is stored or under way.
func (s *Store) fetchOutput(f *Files, id grid.AttemptID, r *grid.Result, files []grid.File, from grid.NodeID, full bool,
	fx *grid.Effects) grid.Refusal {
	task := id.Task.Index
	if f.output(task, id.Attempt) != nil {
		return grid.Refusal{}
	}
	if v, _ := f.reg.Value(task); v != nil && (v.Attempt == id.Attempt || !v.Open()) {
		if v.Attempt != id.Attempt {
			return grid.Refusal{Why: grid.WhyStale}
		}
		r = nil
	} else if full {
		return grid.Refusal{Why: grid.WhyRoom}
	}
	refusal := s.fetch(f, id, from, files, fx)
	if refusal.Why == grid.WhyNone {
		s.put(f, task, &output{attempt: id.Attempt, result: r, size: diskBytes(files), state: fetching})
		s.changed(ResultAdded, f, 0)
	}
	return refusal
}

// Match aligns what is stored of a task with its end in the register. Missing files are fetched if possible. Nothing
// waits for them, so a refusal is not reported: a majority had them before the end was written, or the end itself names
// who has them.
func (s *Store) Match(f *Files, task uint32, fx *grid.Effects) {
	v, _ := f.reg.Value(task)
	var files []grid.File
	if v.Result != nil {
		files = v.Result.Blobs(nil)
	}
	x := f.outputs[task]
	if x != nil && v.Open() && v.Attempt.Less(x.attempt) { // what a later attempt left, which is not in the register yet
		return
	}
	if x != nil && (x.attempt != v.Attempt || len(files) == 0) {
		s.release(f, task)
	}
	s.ResultWritten(f, task)
	if len(files) == 0 {
		return
	}
	from := f.owner()
	if from == s.cfg.Self {
		from = v.Worker
	}
	id := grid.AttemptID{Task: grid.TaskID{Job: f.Job(), Index: task}, Attempt: v.Attempt}
	s.fetchOutput(f, id, nil, files, from, false, fx)
}

// Fetched continues after a fetch has ended: err says why it failed, "" = the files are here. f is nil if the job is
// not. A member answers the owner that asked for them. It reports whether this node is the owner itself, and waits no
// longer for inputs that it lacked.
func (s *Store) Fetched(f *Files, id grid.AttemptID, err string, fx *grid.Effects) (ownInputs bool) {
	s.endTransfer(id)
	if f == nil {
		return false
	}
	refusal := grid.Refusal{}
	if err != "" {
		refusal = grid.Refusal{Why: grid.WhyFetch, Detail: grid.Clean(err, grid.MaxText)}
	}
	task, inputs := id.Task.Index, id == InputsID(f.Job())
	x := f.output(task, id.Attempt)
	if inputs && f.inputs != fetching || !inputs && (x == nil || x.state != fetching) {
		return false
	}
	switch {
	case inputs && err != "":
		f.inputs = absent
	case inputs:
		s.InputsStored(f)
		s.changed(InputsStored, f, 0)
	case err != "":
		s.release(f, task)
	default:
		x.state = stored
		s.charge(f, x.size)
		s.changed(OutputStored, f, task)
	}
	if owner := f.owner(); !f.reg.IsOwner() && owner != s.cfg.Self && !owner.IsZero() {
		answer(owner, id, refusal, fx)
		return false
	}
	return inputs && f.Answered(s.cfg.Self, id, refusal)
}

func answer(to grid.NodeID, id grid.AttemptID, refusal grid.Refusal, fx *grid.Effects) {
	m := fx.Send(to, grid.KindDepositAck)
	m.Attempts, m.Refusal = append(m.Attempts, id), refusal
}
