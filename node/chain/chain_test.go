package chain

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"skep/grid"
)

// world is a job of three members, 0 its origin, and of workers 3 and 4, all with keys; 5 is an outsider.
type world struct {
	keys    []Key
	ids     []grid.NodeID
	job     grid.JobID
	spec    *grid.JobSpec
	members []grid.NodeID
}

func newWorld() *world {
	w := &world{spec: &grid.JobSpec{Count: 10, Seal: grid.Seal{Sealed: "sealed"}}}
	for i := range 6 {
		var seed [ed25519.SeedSize]byte
		binary.BigEndian.PutUint32(seed[:], uint32(i))
		key := ed25519.NewKeyFromSeed(seed[:])
		w.keys = append(w.keys, Key(key))
		w.ids = append(w.ids, grid.NodeID(key.Public().(ed25519.PublicKey)))
	}
	w.members = w.ids[:3]
	w.job = grid.JobID{Origin: w.ids[0], Nonce: [10]byte{1}}
	return w
}

// at is the chain as a node has it.
func (w *world) at(i int) *Chain { return New(w.keys[i], w.ids[i], w.job, w.spec, w.members) }

// owner is the chain as the owner of an epoch has it.
func (w *world) owner(i int, epoch uint32, mandate string) *Chain {
	c := w.at(i)
	c.Own(epoch, mandate)
	return c
}

// mandate is the votes of some members for the owner of an epoch.
func (w *world) mandate(epoch uint32, owner int, voters ...int) string {
	var votes []CastVote
	for _, v := range voters {
		votes = append(votes, CastVote{uint8(v), w.at(v).Vote(epoch, w.ids[owner])})
	}
	return Mandate(votes)
}

func printed() *grid.Result {
	return &grid.Result{Cause: grid.Exited, Exit: 7, Wall: time.Second, CPU: 2, MaxRSS: 3, Waited: 4,
		Stdout: grid.Output{Inline: []byte("42\n"), Size: 3}, Outputs: output("a", 1)}
}

func output(path string, content byte) []grid.File {
	return []grid.File{{Path: path, Blob: grid.BlobID{content}, Size: 9}}
}

// ran is the entry of a task that a worker ran for an owner.
func (w *world) ran(owner, worker int, task uint32, a grid.Attempt, mandate string, r *grid.Result) *grid.Entry {
	given := w.owner(owner, a.Epoch, mandate).Assign(task, a, w.ids[worker])
	id := grid.AttemptID{Task: grid.TaskID{Job: w.job, Index: task}, Attempt: a}
	return &grid.Entry{Index: task, Epoch: a.Epoch, Attempt: a, Worker: w.ids[worker],
		Result: Attest(w.keys[worker], w.ids[worker], id, given, r)}
}

// link is the link that an error is about; 0 = there is no error.
func link(t *testing.T, err error) Link {
	t.Helper()
	var e *Error
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &e):
		t.Fatalf("an error of no link: %v", err)
	}
	return e.Link
}

// What honest nodes sign is proved to whoever has the job, and says who did.
func TestHonestChain(t *testing.T) {
	w := newWorld()
	lost := &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Error: "lost"}
	stopped := &grid.Result{Cause: grid.Cancelled, Exit: 130}
	second, all := w.mandate(4, 1, 1, 2), w.mandate(9, 1, 0, 1, 2)
	first, fourth, ninth := grid.Attempt{Epoch: 1, N: 1}, grid.Attempt{Epoch: 4, N: 1}, grid.Attempt{Epoch: 9, N: 1}
	owner := w.owner(1, 4, second)
	ended := func(r *grid.Result) *grid.Entry { return &grid.Entry{Index: 3, Worker: w.ids[4], Result: r} }
	for name, c := range map[string]struct {
		e    *grid.Entry
		want Signed
	}{
		"first owner":      {w.ran(0, 3, 2, first, "", printed()), Signed{w.ids[0], 1, w.ids[3]}},
		"at the owner":     {w.ran(0, 0, 2, first, "", printed()), Signed{w.ids[0], 1, w.ids[0]}},
		"later owner":      {w.ran(1, 4, 9, fourth, second, printed()), Signed{w.ids[1], 4, w.ids[4]}},
		"later owner ran":  {w.ran(1, 1, 9, fourth, second, printed()), Signed{w.ids[1], 4, w.ids[1]}},
		"all have voted":   {w.ran(1, 4, 0, ninth, all, printed()), Signed{w.ids[1], 9, w.ids[4]}},
		"lost":             {ended(w.owner(0, 1, "").ByOwner(3, lost)), Signed{Owner: w.ids[0], Epoch: 1}},
		"lost, later":      {ended(owner.ByOwner(3, lost)), Signed{Owner: w.ids[1], Epoch: 4}},
		"cancelled":        {ended(owner.ByOwner(5, stopped)), Signed{Owner: w.ids[1], Epoch: 4}},
		"entry of no task": {&grid.Entry{Index: 10, Result: stopped}, Signed{}},
		"no result":        {&grid.Entry{Index: 1}, Signed{}},
	} {
		for i := range w.keys {
			if got, err := w.at(i).Check(c.e); err != nil || got != c.want {
				t.Errorf("%s, to node %d: %+v, %v", name, i, got, err)
			}
		}
	}
	if x := owner.ByOwner(6, stopped); x != owner.ByOwner(7, stopped) {
		t.Error("the end of all tasks of a job is signed anew for each")
	}
	if e := w.ran(0, 3, 1, first, "", printed()); owner.ByOwner(1, e.Result) != e.Result {
		t.Error("an owner takes a worker's signature away")
	}
	if s := w.at(0).SignGenesis(); w.at(5).CheckGenesis(s) != nil || w.at(1).CheckGenesis(w.at(1).SignGenesis()) == nil {
		t.Error("who signs the job is not its origin, and it alone")
	}
}

// What an owner adds to the words of an end is not the worker's.
func TestOwnerMayExplainAnEnd(t *testing.T) {
	w := newWorld()
	e := w.ran(0, 3, 2, grid.Attempt{Epoch: 1, N: 1}, "", printed())
	e.Result.Error = "what it left is only here"
	if _, err := w.at(2).Check(e); err != nil {
		t.Error(err)
	}
}

// Only what a program's end is a worker signs: all else is an owner's word.
func TestEachEndHasOneSigner(t *testing.T) {
	w := newWorld()
	for cause := grid.Exited; int(cause) < grid.Causes; cause++ {
		r := &grid.Result{Cause: cause, Exit: 1}
		e := w.ran(0, 3, 2, grid.Attempt{Epoch: 1, N: 1}, "", r)
		ended := &grid.Entry{Index: 2, Attempt: e.Attempt, Worker: e.Worker, Result: w.owner(0, 1, "").ByOwner(2, r)}
		_, byWorker := w.at(1).Check(e)
		_, byOwner := w.at(1).Check(ended)
		if (byWorker == nil) != ByWorker(cause) || (byOwner == nil) == ByWorker(cause) {
			t.Errorf("%s: of the worker: %v; of the owner: %v", cause, byWorker, byOwner)
		}
	}
}

// A rank that its gang's attempt had no use for ended well, as the owner says; one that it had use for did not.
func TestUnusedRanksAreTheOwners(t *testing.T) {
	w := newWorld()
	w.spec = &grid.JobSpec{Count: 4, TaskData: grid.TaskData{Gang: grid.Gang{Ranks: 4, Min: 2}}}
	a := w.spec.Gang.After(grid.Attempt{Epoch: 1}, 3)
	end := func(task uint32, worker grid.NodeID) error {
		_, err := w.at(1).Check(&grid.Entry{Index: task, Attempt: a, Worker: worker,
			Result: w.owner(0, 1, "").ByOwner(task, &grid.Result{Cause: grid.Exited})})
		return err
	}
	if err := end(3, grid.NodeID{}); err != nil {
		t.Error(err)
	}
	if end(2, grid.NodeID{}) == nil || end(3, w.ids[3]) == nil {
		t.Error("an owner makes up the end of a rank that has run")
	}
}
