package deposit

import (
	"slices"
	"testing"

	"skep/grid"
)

var self, second, third = grid.NodeID{1}, grid.NodeID{2}, grid.NodeID{3}

// register is a job's register of which this node is a member, as a deposit sees it.
type register struct {
	job      grid.JobID
	owner    grid.NodeID
	ends     map[uint32]*grid.Entry
	accepted [3]bool // by place
}

func (r *register) Job() grid.JobID                     { return r.job }
func (r *register) Members() []grid.NodeID              { return []grid.NodeID{second, self, third} }
func (r *register) Owner() (grid.NodeID, uint32, int64) { return r.owner, 1, 0 }
func (r *register) IsOwner() bool                       { return r.owner == self }
func (r *register) HasAccepted(place int) bool          { return r.accepted[place] }
func (r *register) Value(i uint32) (*grid.Entry, bool)  { return r.ends[i], true }

// end writes the end of a task.
func (r *register) end(task uint32, a grid.Attempt, res *grid.Result) {
	if r.ends == nil {
		r.ends = make(map[uint32]*grid.Entry)
	}
	r.ends[task] = &grid.Entry{Index: task, Epoch: 1, Attempt: a, Worker: third, Result: res}
}

const resultMemory = 1000

// node is a member's store, and what came of the last call.
type node struct {
	t *testing.T
	Store
	fx      grid.Effects
	evicted []*Files
}

func newNode(t *testing.T, quota, limit grid.Bytes) *node {
	t.Helper()
	return &node{t: t, Store: New(Config{Self: self, Quota: quota, Limit: limit,
		ResultBytes: func(*grid.Result) grid.Bytes { return resultMemory }})}
}

// job adds the n-th job of an owner.
func (n *node) job(owner grid.NodeID, k byte, inputs []grid.File) (*Files, *register) {
	r := &register{job: grid.JobID{Origin: owner, Nonce: [10]byte{k}}, owner: owner}
	f := n.NewFiles(&grid.JobSpec{Count: 2, Inputs: inputs}, r)
	return &f, r
}

// ask has the owner ask for the outputs of an attempt, or the inputs, and returns the answer and whether a fetch began.
func (n *node) ask(f *Files, id grid.AttemptID, r *grid.Result) (said *grid.Refusal, fetches bool) {
	n.t.Helper()
	n.fx.Reset()
	n.Asked(f, f.owner(), id, r, false, &n.fx)
	return n.said()
}

// fetched ends a fetch.
func (n *node) fetched(f *Files, id grid.AttemptID, err string) (said *grid.Refusal) {
	n.t.Helper()
	n.fx.Reset()
	n.Fetched(f, id, err, &n.fx)
	said, _ = n.said()
	return said
}

func (n *node) said() (said *grid.Refusal, fetches bool) {
	for c, ok := n.NextChange(); ok; c, ok = n.NextChange() {
		if c.Kind == Evicted {
			n.evicted = append(n.evicted, c.Of)
		}
	}
	for i := range n.fx.Sends {
		if n.fx.Sends[i].Msg.Kind == grid.KindDepositAck {
			said = &n.fx.Sends[i].Msg.Refusal
		}
	}
	return said, len(n.fx.Fetches) == 1
}

// takes checks what is charged, to a payer and in all.
func (n *node) takes(what string, payer grid.NodeID, size grid.Bytes, fetching int) {
	n.t.Helper()
	if a := n.account(payer); a.charged != size || a.fetching != fetching || n.charged != size {
		n.t.Errorf("%s: %d transfers, %d bytes are charged, %d in all; want %d, %d", what, a.fetching, a.charged, n.charged,
			fetching, size)
	}
}

// files makes n files of one size.
func files(k byte, n int, size grid.Bytes) (fs []grid.File) {
	for i := range n {
		fs = append(fs, grid.File{Path: "f", Blob: grid.BlobID{1, k, byte(i), byte(i >> 8)}, Size: size})
	}
	return fs
}

func left(k byte, size grid.Bytes) *grid.Result {
	return &grid.Result{Cause: grid.Exited, Outputs: files(k, 1, size)}
}

func attempt(f *Files, task, n uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: f.Job(), Index: task}, Attempt: grid.Attempt{Epoch: 1, N: n}}
}

// What is stored is charged to the job's owner, under way and after it has come, until another attempt's end is written
// or the job is forgotten; and again after a restart.
func TestStoredFilesAreCharged(t *testing.T) {
	n := newNode(t, grid.GiB, grid.GiB)
	inputs, r := files(1, 2, grid.MiB), left(2, grid.MiB)
	f, reg := n.job(second, 1, inputs)
	in, out := InputsID(f.Job()), attempt(f, 1, 1)
	ins, outs := diskBytes(inputs), diskBytes(r.Outputs)
	if said, fetches := n.ask(f, in, nil); said != nil || !fetches || !slices.Equal(n.fx.Fetches[0].Files, inputs) ||
		!n.fx.Fetches[0].Deposit {
		t.Fatalf("asked for inputs it said %v, fetches %v", said, n.fx.Fetches)
	}
	if said, fetches := n.ask(f, in, nil); said != nil || fetches {
		t.Errorf("asked again while they are under way it said %v, fetches again %v", said, fetches)
	}
	n.takes("inputs under way", second, ins, 1)
	if said := n.fetched(f, in, ""); said == nil || said.Why != grid.WhyNone || !f.HasInputs() {
		t.Errorf("when they are here it said %v", said)
	}
	n.takes("inputs", second, ins, 0)
	n.ask(f, out, r)
	if _, _, found := f.Output(1); found || f.ResultBytes() != resultMemory {
		t.Errorf("under way: stored %v, %d bytes of results", found, f.ResultBytes())
	}
	n.fetched(f, out, "")
	if a, res, found := f.Output(1); !found || a != out.Attempt || res != r {
		t.Errorf("stored: %v, attempt %v", found, a)
	}
	n.takes("inputs and outputs", second, ins+outs, 0)
	if said, fetches := n.ask(f, out, r); said == nil || said.Why != grid.WhyNone || fetches {
		t.Errorf("asked for what is stored it said %v, fetches %v", said, fetches)
	}

	again := newNode(t, grid.GiB, grid.GiB)
	g, _ := again.job(second, 1, inputs)
	again.InputsStored(g)
	again.OutputStored(g, 1, out.Attempt, r)
	again.takes("after a restart", second, ins+outs, 0)

	reg.end(1, grid.Attempt{Epoch: 1, N: 2}, &grid.Result{Cause: grid.Exited})
	n.Match(f, 1, &n.fx)
	n.takes("when another attempt has ended", second, ins, 0)
	if n.Release(f); f.ResultBytes() != 0 || slices.Contains(n.Payers(nil), second) {
		t.Errorf("of a job that is forgotten %d bytes of results are here, and %v are charged for files", f.ResultBytes(),
			n.Payers(nil))
	}
	n.takes("when the job is forgotten", second, 0, 0)
}

// The register's end of a task has its result; the files are fetched from the owner, or from the worker if this node is
// the owner.
func TestEndFetchesWhatIsMissing(t *testing.T) {
	for _, c := range []struct{ owner, from grid.NodeID }{{second, second}, {self, third}} {
		n := newNode(t, grid.GiB, grid.GiB)
		f, reg := n.job(second, 1, nil)
		reg.owner = c.owner
		reg.end(0, grid.Attempt{Epoch: 1, N: 1}, left(1, grid.MiB))
		n.Match(f, 0, &n.fx)
		if _, fetches := n.said(); !fetches || n.fx.Fetches[0].From != c.from || f.ResultBytes() != 0 {
			t.Errorf("owner %v: fetches %+v, and keeps %d bytes of results", c.owner.Short(), n.fx.Fetches, f.ResultBytes())
		}
		if said := n.fetched(f, attempt(f, 0, 1), ""); (said != nil) != (c.owner == second) {
			t.Errorf("owner %v: said %v", c.owner.Short(), said)
		}
	}
}

// A task goes on after a failure that the register has. A later attempt's files are taken, and stay when the register
// tells of the failure again; when it has the later end those of the failed attempt go.
// regression: a new owner's register released what its own next attempt had left, and its result waited for ever
func TestFailureLeavesTheNextAttemptsFiles(t *testing.T) {
	n := newNode(t, grid.GiB, grid.GiB)
	f, reg := n.job(second, 1, nil)
	reg.end(0, grid.Attempt{Epoch: 1, N: 1}, left(1, grid.MiB))
	reg.ends[0].Again = 1
	if said, fetches := n.ask(f, attempt(f, 0, 2), left(2, grid.MiB)); said != nil || !fetches {
		t.Fatalf("the next attempt's files: said %v, fetches %v", said, fetches)
	}
	n.fetched(f, attempt(f, 0, 2), "")
	n.Match(f, 0, &n.fx)
	if a, r, found := f.Output(0); !found || a.N != 2 || r == nil {
		t.Errorf("after the failure was told again, attempt %v is stored, with result %v", a, r)
	}
	reg.end(0, grid.Attempt{Epoch: 1, N: 2}, left(2, grid.MiB))
	n.Match(f, 0, &n.fx)
	if a, r, found := f.Output(0); !found || a.N != 2 || r != nil {
		t.Errorf("with its end in the register, attempt %v is stored, with result %v", a, r)
	}
	if said, _ := n.ask(f, attempt(f, 0, 3), left(3, grid.MiB)); said == nil || said.Why != grid.WhyStale {
		t.Errorf("files of an attempt after the end: said %v", said)
	}
}

// A request that cannot be met is answered at once with the reason; nothing is charged.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		what string
		why  grid.Why
		ask  func(n *node, f *Files, reg *register)
	}{
		{"a full disk", grid.WhyDisk, func(n *node, f *Files, _ *register) {
			n.LowDisk(true)
			n.ask(f, attempt(f, 0, 1), left(1, grid.MiB))
		}},
		{"too large", grid.WhyRoom, func(n *node, f *Files, _ *register) { n.ask(f, attempt(f, 0, 1), left(1, 3*grid.MiB)) }},
		{"the end of another attempt", grid.WhyStale, func(n *node, f *Files, reg *register) {
			reg.end(0, grid.Attempt{Epoch: 1, N: 2}, &grid.Result{Cause: grid.Exited})
			n.ask(f, attempt(f, 0, 1), left(1, grid.MiB))
		}},
		{"no memory for the result", grid.WhyRoom, func(n *node, f *Files, _ *register) {
			n.Asked(f, second, attempt(f, 0, 1), left(1, grid.MiB), true, &n.fx)
		}},
		{"not to be had", grid.WhyFetch, func(n *node, f *Files, _ *register) {
			n.ask(f, attempt(f, 0, 1), left(1, grid.MiB))
			n.fetched(f, attempt(f, 0, 1), "it is not there")
		}},
	} {
		n := newNode(t, grid.GiB, 2*grid.MiB)
		f, reg := n.job(second, 1, nil)
		c.ask(n, f, reg)
		if said, fetches := n.said(); said == nil || said.Why != c.why || fetches {
			t.Errorf("%s: said %v, fetches %v", c.what, said, fetches)
		}
		n.takes(c.what, second, 0, 0)
	}
}

// What was submitted here is charged to nobody, and fetched whatever its size.
func TestOwnJobsAreNotCharged(t *testing.T) {
	n := newNode(t, 0, 0)
	f, reg := n.job(self, 1, files(1, 1, grid.MiB))
	reg.owner = second
	if !f.HasInputs() {
		t.Error("it lacks its inputs")
	}
	if said, fetches := n.ask(f, attempt(f, 0, 1), left(1, grid.GiB)); said != nil || !fetches {
		t.Errorf("said %v, fetches %v", said, fetches)
	}
	n.fetched(f, attempt(f, 0, 1), "")
	if _, _, found := f.Output(0); !found || n.charged != 0 || !f.Payer().IsZero() {
		t.Errorf("stored %v, %d bytes are charged to %v", found, n.charged, f.Payer().Short())
	}
}

// A payer whose jobs name more than its quota is refused, whatever they name, and gets no more than half of the total.
func TestOnePayerCannotFillTheDisk(t *testing.T) {
	const half = 64 * grid.MiB
	n := newNode(t, 2*half, 16*grid.MiB)
	most := func() {
		t.Helper()
		if c := n.charged; c > half || c != n.account(second).charged || c < 0 {
			t.Fatalf("%d bytes are charged to one payer, of at most %d", c, half)
		}
	}
	var first *Files
	refused := 0
	for k := range byte(250) {
		inputs := files(k, 1, 3*grid.MiB)
		switch k % 5 {
		case 1:
			inputs = files(k, 1, 1<<50)
		case 2:
			inputs = files(k, 1000, 1<<62) // the sum overflows
		case 3:
			inputs = files(k, grid.MaxFiles, 1) // small files take room too
		}
		f, _ := n.job(second, k, inputs)
		if k == 0 {
			first = f
		}
		said, fetches := n.ask(f, InputsID(f.Job()), nil)
		if (said == nil) != fetches || said != nil && said.Why != grid.WhyRoom {
			t.Fatalf("job %d: said %v, fetches %v", k, said, fetches)
		}
		if said != nil {
			refused++
		} else if k%5 == 1 || k%5 == 2 {
			t.Fatalf("job %d: deposits %d files of %d bytes", k, len(inputs), inputs[0].Size)
		}
		most()
	}
	if refused < 200 {
		t.Errorf("%d of 250 refused", refused)
	}
	// Failed fetches and ended jobs free their room.
	n.fetched(first, InputsID(first.Job()), "it is not there")
	most()
	f, _ := n.job(second, 251, files(251, 1, 3*grid.MiB))
	if _, fetches := n.ask(f, InputsID(f.Job()), nil); !fetches {
		t.Errorf("what did not come still takes room: %d bytes", n.charged)
	}
	n.fetched(f, InputsID(f.Job()), "")
	n.Ended(f)
	g, _ := n.job(second, 252, files(252, 1, 3*grid.MiB))
	if _, fetches := n.ask(g, InputsID(g.Job()), nil); !fetches || !slices.Equal(n.evicted, []*Files{f}) {
		t.Errorf("a job that has ended keeps its room: %d bytes", n.charged)
	}
	most()
	if h, _ := n.job(third, 1, files(1, 1, 3*grid.MiB)); h != nil {
		if _, fetches := n.ask(h, InputsID(h.Job()), nil); !fetches {
			t.Error("another payer has no room")
		}
	}
}
