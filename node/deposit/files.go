package deposit

import "skep/grid"

// Register is what is asked of a job's register.
type Register interface {
	Job() grid.JobID
	Members() []grid.NodeID                                // by place; their number never changes
	Owner() (owner grid.NodeID, epoch uint32, since int64) // as far as known here; zero = unknown
	IsOwner() bool                                         // this node is the owner
	HasAccepted(place int) bool                            // as far as the owner knows, that member has the job
	Value(task uint32) (end *grid.Entry, committed bool)   // nil = the task has not ended
}

// Files are the files of a replicated job, of which this node is a member: its inputs, and the outputs of its
// tasks.
type Files struct {
	reg    Register
	spec   *grid.JobSpec
	own    bool        // the job was submitted here: it is charged to nobody, and its inputs are here
	payer  grid.NodeID // the node charged for the room; zero = not decided
	size   grid.Bytes  // charged, without what is under way
	ended  uint64      // place among the jobs that ended; 0 = the job has not ended
	inputs state

	outputs     map[uint32]*output // by task; never iterated
	resultBytes grid.Bytes         // of the results in outputs

	inputCopies *copies  // owner only: who has the inputs; nil = there are none
	replicating []uint32 // owner only: the tasks with copies, in the order of their results
}

// output is what one attempt of a task left.
type output struct {
	attempt grid.Attempt
	result  *grid.Result // until the register has it
	size    grid.Bytes
	state   state
	copies  *copies // owner only: who has them, while the result waits for a majority; then nil
}

// state tells whether files are stored here.
type state uint8

const (
	absent state = iota
	fetching
	stored
)

// NewFiles returns the files of a job: of those of others none is here yet.
func (s *Store) NewFiles(spec *grid.JobSpec, r Register) Files {
	return Files{reg: r, spec: spec, own: r.Job().Origin == s.cfg.Self}
}

// InputsID stands for a job's inputs where an attempt ID stands for a task's outputs.
func InputsID(id grid.JobID) grid.AttemptID { return grid.AttemptID{Task: grid.TaskID{Job: id}} }

// Job returns the ID of the job.
func (f *Files) Job() grid.JobID { return f.reg.Job() }

// HasInputs reports whether the job's inputs are stored here.
func (f *Files) HasInputs() bool { return f.own || f.inputs == stored }

// Output returns the attempt of a task whose outputs are stored here, and its result unless the register has it;
// false: none.
func (f *Files) Output(task uint32) (a grid.Attempt, r *grid.Result, found bool) {
	if x := f.outputs[task]; x != nil && x.state == stored {
		return x.attempt, x.result, true
	}
	return a, nil, false
}

// ResultBytes estimates the memory of the results that the register does not have.
func (f *Files) ResultBytes() grid.Bytes { return f.resultBytes }

// Payer returns the node that is charged for the room of the job's files; zero: nothing was charged yet.
func (f *Files) Payer() grid.NodeID { return f.payer }

func (f *Files) owner() grid.NodeID {
	owner, _, _ := f.reg.Owner()
	return owner
}

// decidePayer returns the node to charge. It is fixed at the first call, so that all of a job is charged to one node.
func (f *Files) decidePayer() grid.NodeID {
	f.payer = f.nextPayer()
	return f.payer
}

// nextPayer returns the node to charge: the job's owner, or its origin while the owner is unknown.
func (f *Files) nextPayer() grid.NodeID {
	switch owner := f.owner(); {
	case !f.payer.IsZero():
		return f.payer
	case !owner.IsZero():
		return owner
	}
	return f.Job().Origin
}

// output returns the outputs, stored or under way, of an attempt; nil if none.
func (f *Files) output(task uint32, a grid.Attempt) *output {
	if x := f.outputs[task]; x != nil && x.attempt == a {
		return x
	}
	return nil
}

// put replaces a task's outputs.
func (s *Store) put(f *Files, task uint32, x *output) {
	s.release(f, task)
	if f.outputs == nil {
		f.outputs = make(map[uint32]*output)
	}
	f.outputs[task] = x
	if x.result != nil {
		f.resultBytes += s.cfg.ResultBytes(x.result)
	}
}

// release frees the room of a task's outputs. What is still under way stays charged as a transfer.
func (s *Store) release(f *Files, task uint32) {
	if x := f.outputs[task]; x != nil {
		f.StopReplicating(task)
		s.ResultWritten(f, task)
		delete(f.outputs, task)
		if x.state == stored {
			s.charge(f, -x.size)
		}
	}
}

// ResultWritten drops a task's result: the register has it.
func (s *Store) ResultWritten(f *Files, task uint32) {
	if x := f.outputs[task]; x != nil && x.result != nil {
		f.resultBytes -= s.cfg.ResultBytes(x.result)
		x.result = nil
	}
}

// InputsStored records that the job's inputs are stored here.
func (s *Store) InputsStored(f *Files) {
	f.inputs = stored
	s.charge(f, diskBytes(f.spec.Inputs))
}

// OutputStored records that what an attempt of a task left is stored here.
func (s *Store) OutputStored(f *Files, task uint32, a grid.Attempt, r *grid.Result) {
	x := &output{attempt: a, result: r, size: diskBytes(r.Blobs(nil)), state: stored}
	s.charge(f, x.size)
	s.put(f, task, x)
}

// Release frees all room of a job that is forgotten. What is still under way stays charged as a transfer.
func (s *Store) Release(f *Files) {
	s.charge(f, -f.size)
	*f = Files{reg: f.reg, spec: f.spec, own: f.own}
}
