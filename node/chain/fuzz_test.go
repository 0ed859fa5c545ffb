package chain

import (
	"testing"

	"skep/grid"
)

// Whatever bytes come as signatures: they are bounded, they say the same when they are written again, and none that an
// honest node has not made proves anything.
func FuzzProof(f *testing.F) {
	w := newWorld()
	votes := w.mandate(4, 1, 1, 2)
	honest := w.ran(1, 3, 2, grid.Attempt{Epoch: 4, N: 1}, votes, printed())
	own := w.ran(0, 0, 2, grid.Attempt{Epoch: 1, N: 1}, "", printed())
	f.Add(honest.Result.Proof)
	f.Add(own.Result.Proof)
	f.Add(w.owner(1, 4, votes).ByOwner(2, &grid.Result{Cause: grid.Lost}).Proof)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if p, ok := decodeProof(text); ok && (p.encode() != text || len(text) > MaxProof) {
			t.Errorf("%d bytes are written again as %d", len(text), len(p.encode()))
		}
		r := *honest.Result
		r.Proof = text
		if _, err := w.at(2).Check(&grid.Entry{Index: 2, Attempt: honest.Attempt, Worker: honest.Worker, Result: &r}); err ==
			nil && text != honest.Result.Proof {
			t.Error("a forged end is proved")
		}
		if err := w.at(2).CheckOwner(4, w.ids[1], text, true); err == nil && text != votes {
			t.Error("a forged mandate is one")
		}
	})
}

// Whatever bytes come with an offer, a worker signs nothing that proves an end which the owner has not assigned.
func FuzzAssigned(f *testing.F) {
	w := newWorld()
	a := grid.Attempt{Epoch: 1, N: 1}
	honest := w.owner(0, 1, "").Assign(2, a, w.ids[3])
	f.Add(honest)
	f.Add(w.owner(0, 1, "").Assign(2, a, w.ids[0]))
	f.Add("")
	id := grid.AttemptID{Task: grid.TaskID{Job: w.job, Index: 2}, Attempt: a}
	f.Fuzz(func(t *testing.T, text string) {
		r := Attest(w.keys[3], w.ids[3], id, text, printed())
		if len(r.Proof) > MaxProof {
			t.Errorf("a proof of %d bytes: want at most %d", len(r.Proof), MaxProof)
		}
		err := w.at(1).CheckResult(w.ids[3], id, r)
		if (err == nil) != (text == honest) {
			t.Errorf("what the owner has given is proved: %v", err)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	w := newWorld()
	for b.Loop() {
		w.keys[0].Sign(make([]byte, 200))
	}
}

func BenchmarkVerify(b *testing.B) {
	w := newWorld()
	s := w.keys[0].Sign(make([]byte, 200))
	for b.Loop() {
		w.keys[1].Verify(w.ids[0], make([]byte, 200), s)
	}
}

// The cost of the signatures of a task that another node runs: its owner signs, its worker signs, its owner checks.
func BenchmarkTask(b *testing.B) {
	w := newWorld()
	a := grid.Attempt{Epoch: 1, N: 1}
	id := grid.AttemptID{Task: grid.TaskID{Job: w.job, Index: 2}, Attempt: a}
	owner := w.owner(0, 1, "")
	for b.Loop() {
		given := owner.Assign(2, a, w.ids[3])
		if err := owner.CheckResult(w.ids[3], id, Attest(w.keys[3], w.ids[3], id, given, printed())); err != nil {
			b.Fatal(err)
		}
	}
}
