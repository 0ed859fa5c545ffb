package deposit

import (
	"testing"

	"skep/grid"
)

// A transfer that is no longer wanted is not stopped: it is charged until it ends, and no longer.
func TestUnwantedTransferIsChargedUntilItEnds(t *testing.T) {
	r := left(2, grid.MiB)
	for what, unwant := range map[string]func(*node, *Files, *register) *Files{
		"another attempt ended": func(n *node, f *Files, reg *register) *Files {
			reg.end(1, grid.Attempt{Epoch: 1, N: 2}, &grid.Result{Cause: grid.Exited})
			n.Match(f, 1, &n.fx)
			return f
		},
		"the job is forgotten": func(n *node, f *Files, _ *register) *Files {
			n.Release(f)
			return nil
		},
	} {
		for _, err := range []string{"", "it is not there"} {
			n := newNode(t, grid.GiB, grid.GiB)
			f, reg := n.job(second, 1, nil)
			id := attempt(f, 1, 1)
			if said, fetches := n.ask(f, id, r); said != nil || !fetches {
				t.Fatalf("%s: asked to deposit it said %v", what, said)
			}
			f = unwant(n, f, reg)
			n.takes(what, second, diskBytes(r.Outputs), 1)
			n.fetched(f, id, err)
			n.takes(what+", and it has come", second, 0, 0)
			n.fetched(f, id, err) // nobody asked for that
			n.takes(what+", and it has come twice", second, 0, 0)
		}
	}
}

// Regression: more than a certain number of an owner's transfers that were dropped under way made a member refuse all
// others of it, for good.
func TestDroppedTransfersDoNotBlockOwner(t *testing.T) {
	n := newNode(t, grid.GiB, grid.GiB)
	f, _ := n.job(second, 1, nil)
	for i := range uint32(maxFetching + 1) {
		id, next := attempt(f, 1, 1+2*i), attempt(f, 1, 2+2*i)
		if said, fetches := n.ask(f, id, left(1, 1)); said != nil || !fetches {
			t.Fatalf("deposit %d: said %v", i, said)
		}
		if said, fetches := n.ask(f, next, left(1, 2)); said != nil || !fetches {
			t.Fatalf("deposit %d, of the next attempt: said %v", i, said)
		}
		n.fetched(f, id, "")
		n.fetched(f, next, "")
	}
	n.takes("at the end", second, diskBytes(left(1, 2).Outputs), 0)
}

// An owner beyond the bound is to ask again later; others are not held up.
func TestTransfersOfOnePayerAreBounded(t *testing.T) {
	n := newNode(t, grid.GiB, grid.GiB)
	f, _ := n.job(second, 1, nil)
	for i := range uint32(maxFetching) {
		if said, fetches := n.ask(f, attempt(f, i, 1), left(1, 1)); said != nil || !fetches {
			t.Fatalf("deposit %d: said %v", i, said)
		}
	}
	if said, fetches := n.ask(f, attempt(f, maxFetching, 1), left(1, 1)); said == nil || said.Why != grid.WhyQueue ||
		fetches {
		t.Errorf("one more: said %v", said)
	}
	g, _ := n.job(third, 1, nil)
	if said, fetches := n.ask(g, attempt(g, 0, 1), left(1, 1)); said != nil || !fetches {
		t.Errorf("somebody else's: said %v", said)
	}
}

// While files are under way, the same attempt cannot name others.
func TestAnAttemptNamesItsFilesOnce(t *testing.T) {
	n := newNode(t, grid.GiB, grid.GiB)
	f, _ := n.job(second, 1, nil)
	id := attempt(f, 1, 1)
	if _, fetches := n.ask(f, id, left(2, grid.MiB)); !fetches {
		t.Fatal("nothing is fetched")
	}
	n.Release(f) // the job is forgotten, and comes again
	if said, fetches := n.ask(f, id, left(3, grid.MiB)); fetches || said == nil || said.Why != grid.WhyQueue {
		t.Errorf("others: said %v, fetches %v", said, fetches)
	}
	if said, fetches := n.ask(f, id, left(2, grid.MiB)); fetches || said != nil {
		t.Errorf("the same: said %v, fetches %v", said, fetches)
	}
	if said := n.fetched(f, id, ""); said == nil || said.Why != grid.WhyNone {
		t.Errorf("when they are here it says %v", said)
	}
	n.takes("when they are here", second, diskBytes(left(2, grid.MiB).Outputs), 0)
}
