package chain

import (
	"testing"

	"skep/grid"
)

// Each forged link is refused, and named.
func TestForgedLinks(t *testing.T) {
	w := newWorld()
	first, fourth := grid.Attempt{Epoch: 1, N: 1}, grid.Attempt{Epoch: 4, N: 1}
	second := w.mandate(4, 1, 1, 2)
	entry := func() *grid.Entry { return w.ran(0, 3, 2, first, "", printed()) }
	later := func() *grid.Entry { return w.ran(1, 3, 2, fourth, second, printed()) }
	change := func(e *grid.Entry, how func(*grid.Entry)) *grid.Entry { how(e); return e }
	result := func(e *grid.Entry, how func(*grid.Result)) *grid.Entry {
		copied := *e.Result
		how(&copied)
		e.Result = &copied
		return e
	}
	lost := &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep}
	ended := func(r *grid.Result) *grid.Entry {
		return &grid.Entry{Index: 2, Attempt: first, Worker: w.ids[3], Result: r}
	}
	self := w.owner(0, 1, "")
	for name, c := range map[string]struct {
		e    *grid.Entry
		want Link
	}{
		"exit":               {result(entry(), func(r *grid.Result) { r.Exit = 0 }), Worker},
		"what it printed":    {result(entry(), func(r *grid.Result) { r.Stdout.Inline = []byte("41\n") }), Worker},
		"on stderr":          {result(entry(), func(r *grid.Result) { r.Stdout, r.Stderr = r.Stderr, r.Stdout }), Worker},
		"a long stream":      {result(entry(), func(r *grid.Result) { r.Stderr.Blob[0]++ }), Worker},
		"an output":          {result(entry(), func(r *grid.Result) { r.Outputs = output("a", 2) }), Worker},
		"name of an output":  {result(entry(), func(r *grid.Result) { r.Outputs = output("b", 1) }), Worker},
		"no output":          {result(entry(), func(r *grid.Result) { r.Outputs = nil }), Worker},
		"cause":              {result(entry(), func(r *grid.Result) { r.Cause = grid.TimedOut }), Worker},
		"run time":           {result(entry(), func(r *grid.Result) { r.Wall++ }), Worker},
		"option":             {result(entry(), func(r *grid.Result) { r.Option = 1 }), Worker},
		"no signature":       {result(entry(), func(r *grid.Result) { r.Proof = "" }), Worker},
		"no owner's":         {result(ended(lost), func(r *grid.Result) { r.Proof = "" }), Owner},
		"cut":                {result(entry(), func(r *grid.Result) { r.Proof = r.Proof[:len(r.Proof)-1] }), Worker},
		"another task":       {change(entry(), func(e *grid.Entry) { e.Index = 3 }), Assignment},
		"another attempt":    {change(entry(), func(e *grid.Entry) { e.Attempt.N++ }), Assignment},
		"another epoch":      {change(entry(), func(e *grid.Entry) { e.Attempt.Epoch++ }), Votes},
		"another worker":     {change(entry(), func(e *grid.Entry) { e.Worker = w.ids[4] }), Assignment},
		"assigned to itself": {w.ran(5, 5, 2, first, "", printed()), Votes},
		"not assigned":       {unassigned(w, 5, first), Assignment},
		"a member's own":     {w.ran(2, 2, 2, first, "", printed()), Votes},
		"epoch 0":            {w.ran(0, 3, 2, grid.Attempt{N: 1}, "", printed()), Votes},
		"no votes":           {w.ran(1, 3, 2, fourth, "", printed()), Votes},
		"one vote":           {w.ran(1, 3, 2, fourth, w.mandate(4, 1, 1), printed()), Votes},
		"one vote twice":     {w.ran(1, 3, 2, fourth, w.mandate(4, 1, 1, 1), printed()), Votes},
		"votes of outsiders": {w.ran(1, 3, 2, fourth, w.mandate(4, 1, 1, 4), printed()), Votes},
		"not in order":       {w.ran(1, 3, 2, fourth, w.mandate(4, 1, 2, 1), printed()), Votes},
		"of another epoch":   {w.ran(1, 3, 2, grid.Attempt{Epoch: 5, N: 1}, second, printed()), Votes},
		"for another":        {w.ran(2, 3, 2, fourth, second, printed()), Votes},
		"for an outsider":    {w.ran(5, 3, 2, fourth, w.mandate(4, 5, 1, 2), printed()), Votes},
		"another's voter":    {result(later(), turn(39, 0)), Votes},
		"after a change":     {result(later(), turn(37, 1)), Members},
		"owner says it ran":  {ended(self.ByOwner(2, printed())), Worker},
		"keeper says lost":   {ended(w.owner(2, 1, "").ByOwner(2, lost)), Votes},
		"lost, no votes":     {ended(w.owner(2, 4, w.mandate(4, 2, 2)).ByOwner(2, lost)), Votes},
		"lost, another":      {ended(self.ByOwner(1, lost)), Owner},
		"lost, not so":       {result(ended(self.ByOwner(2, lost)), func(r *grid.Result) { r.Exit++ }), Owner},
		"all are lost":       {forAll(w, lost), Owner},
	} {
		if _, err := w.at(1).Check(c.e); link(t, err) != c.want {
			t.Errorf("%s: %v; want the link of the %s to be wrong", name, err, c.want)
		}
	}
	if _, err := w.at(1).Check(later()); err != nil {
		t.Errorf("what they are made from: %v", err)
	}
}

// turn sets a byte of the signatures.
func turn(at int, to byte) func(r *grid.Result) {
	return func(r *grid.Result) { r.Proof = r.Proof[:at] + string([]byte{to}) + r.Proof[at+1:] }
}

// unassigned is the end of an attempt that a node was not given, as if its owner needed not sign.
func unassigned(w *world, worker int, a grid.Attempt) *grid.Entry {
	id := grid.AttemptID{Task: grid.TaskID{Job: w.job, Index: 2}, Attempt: a}
	given := assignment(w.at(0).job, id, w.ids[0], w.ids[worker])
	r := printed()
	p := proof{form: byWorker, grant: grant{owner: w.ids[0], epoch: a.Epoch},
		end: string(w.keys[worker].Sign(workerEnd(given.sum(), r)))}
	r.Proof = p.encode()
	return &grid.Entry{Index: 2, Attempt: a, Worker: w.ids[worker], Result: r}
}

// forAll is an end of one task that is signed as that of all.
func forAll(w *world, r *grid.Result) *grid.Entry {
	p := proof{form: byOwnerOf, grant: grant{owner: w.ids[0], epoch: 1},
		end: string(w.keys[0].Sign(ownerEnd(w.at(0).job, 1, wholeJob, r)))}
	signed := *r
	signed.Proof = p.encode()
	return &grid.Entry{Index: 2, Result: &signed}
}

// A chain is that of one job, one specification and one set of members: no signature of it counts in another.
func TestChainsAreApart(t *testing.T) {
	w := newWorld()
	e := w.ran(1, 3, 2, grid.Attempt{Epoch: 4, N: 1}, w.mandate(4, 1, 1, 2), printed())
	signed := w.at(0).SignGenesis()
	for name, how := range map[string]func(*world){
		"job":           func(w *world) { w.job.Nonce[9]++ },
		"specification": func(w *world) { w.spec = &grid.JobSpec{Count: 10, Seal: grid.Seal{Sealed: "another"}} },
		"members":       func(w *world) { w.members = []grid.NodeID{w.ids[0], w.ids[2], w.ids[1]} },
	} {
		other := newWorld()
		how(other)
		if _, err := other.at(1).Check(e); err == nil {
			t.Errorf("an end counts for another %s", name)
		}
		if link(t, other.at(1).CheckGenesis(signed)) != Genesis {
			t.Errorf("the origin's signature counts for another %s", name)
		}
	}
}

// A worker signs for the job whose attempt it has run, whatever it was told with the offer: a node that has it run a
// program of its own gets no end of another job by that.
func TestWorkerSignsForItsJobAlone(t *testing.T) {
	w := newWorld()
	a := grid.Attempt{Epoch: 1, N: 1}
	own := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: w.ids[4], Nonce: [10]byte{2}}, Index: 2}, Attempt: a}
	for _, worker := range []int{0, 3} { // the owner of the other job among them, which signs the assignment with the end
		given := w.owner(0, 1, "").Assign(2, a, w.ids[worker])
		r := Attest(w.keys[worker], w.ids[worker], own, given, printed())
		_, err := w.at(1).Check(&grid.Entry{Index: 2, Attempt: a, Worker: w.ids[worker], Result: r})
		if link(t, err) != Worker {
			t.Errorf("what node %d has run of one job counts as an end of another: %v", worker, err)
		}
	}
}

// An owner gives an attempt of an earlier epoch anew: who offered it may be itself, before a restart. None gives one of
// an epoch that it does not own yet.
func TestEarlierAttemptsAreAssignedAnew(t *testing.T) {
	w := newWorld()
	owner := w.owner(0, 4, w.mandate(4, 0, 1, 2))
	id := grid.AttemptID{Task: grid.TaskID{Job: w.job, Index: 2}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	r := Attest(w.keys[3], w.ids[3], id, owner.Assign(2, id.Attempt, w.ids[3]), printed())
	if err := w.at(1).CheckResult(w.ids[3], id, r); err != nil {
		t.Error(err)
	}
	id.Epoch = 9
	if owner.Assign(2, id.Attempt, w.ids[3]) != "" {
		t.Error("an attempt of a later epoch is assigned")
	}
	given := string(owner.own.append(owner.job[:])) + string(w.keys[0].Sign(assignment(owner.job, id, w.ids[0], w.ids[3])))
	r = Attest(w.keys[3], w.ids[3], id, given, printed())
	if link(t, w.at(1).CheckResult(w.ids[3], id, r)) != Votes {
		t.Error("an owner before has given an attempt of a later epoch")
	}
}

// No bit of what is signed of an end can be turned.
func TestEveryBitCounts(t *testing.T) {
	w := newWorld()
	lost := &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep}
	votes := w.mandate(4, 1, 1, 2)
	for _, e := range []*grid.Entry{w.ran(1, 3, 2, grid.Attempt{Epoch: 4, N: 1}, votes, printed()),
		w.ran(0, 0, 2, grid.Attempt{Epoch: 1, N: 1}, "", printed()),
		{Index: 2, Result: w.owner(1, 4, votes).ByOwner(2, lost)}} {
		c, good := w.at(1), *e.Result
		for bit := range 8 * len(good.Proof) {
			b := []byte(good.Proof)
			b[bit/8] ^= 1 << (bit % 8)
			turned := good
			turned.Proof = string(b)
			e.Result = &turned
			if _, err := c.Check(e); err == nil {
				t.Fatalf("bit %d of %d can be turned", bit, 8*len(good.Proof))
			}
		}
	}
}
