package deposit

import (
	"slices"
	"testing"

	"skep/grid"
)

// Model test against a linear search through all jobs that have ended.
func TestOldestEvictableFiles(t *testing.T) {
	rng := grid.NewRand(1, 4)
	n := newNode(t, grid.GiB, grid.GiB)
	payers := []grid.NodeID{second, third, {77}}
	var open, ended []*Files
	check := func(at int) (of grid.NodeID, all, one *Files) {
		t.Helper()
		of = payers[rng.IntN(3)]
		for _, f := range ended {
			if f.size == 0 {
				continue
			}
			if all == nil {
				all = f
			}
			if one == nil && f.payer == of {
				one = f
			}
		}
		if got := n.oldest(); got != all {
			t.Fatalf("job %d: the oldest of all is %+v, want %+v", at, got, all)
		}
		if got := n.account(of).oldest(); got != one {
			t.Fatalf("job %d: the oldest of %v is %+v, want %+v", at, of.Short(), got, one)
		}
		return of, all, one
	}
	for k := range 1000 {
		f, reg := n.job(payers[rng.IntN(3)], 0, nil)
		reg.job.Nonce = [10]byte{byte(k >> 8), byte(k)}
		open = append(open, f)
		if rng.IntN(2) == 0 {
			n.charge(open[rng.IntN(len(open))], grid.MiB)
		}
		if rng.IntN(3) > 0 {
			i := rng.IntN(len(open))
			n.Ended(open[i])
			ended = append(ended, open[i])
			open = slices.Delete(open, i, i+1)
		}
		if len(ended) == 0 {
			continue
		}
		switch some := ended[rng.IntN(len(ended))]; rng.IntN(5) {
		case 0: // a late output
			n.charge(some, grid.MiB)
		case 1:
			n.charge(some, -some.size)
		case 2:
			if k > 500 { // forgotten for another reason
				n.Release(ended[0])
				ended = ended[1:]
			}
		case 3:
			if k%50 == 0 { // a restart
				slices.SortFunc(ended, func(a, b *Files) int { return a.Job().Compare(b.Job()) })
				n.Reorder(slices.Values(ended))
			}
		}
		if _, all, _ := check(k); rng.IntN(3) == 0 && all != nil {
			n.Release(all)
			ended = slices.DeleteFunc(ended, func(f *Files) bool { return f == all })
			check(k)
		}
	}
	for _, payer := range payers { // nothing that takes no room is in a list
		for _, f := range n.account(payer).evictable {
			if f.size == 0 || !slices.Contains(ended, f) {
				t.Errorf("job %v can make room: %d bytes", f.Job(), f.size)
			}
		}
	}
}

// The oldest jobs that have ended make room: those of the payer itself if it has its half, else anybody's. Others never
// do.
func TestWhoMakesRoom(t *testing.T) {
	other := grid.NodeID{77}
	for _, c := range []struct {
		what    string
		stored  []grid.NodeID // whose jobs have files here, in the order of their ends; of two at most
		ended   bool
		evicted int // place among stored; -1 = nothing is evicted
		refused bool
	}{
		{"there is room", []grid.NodeID{third, second}, true, -1, false},
		{"the payer has its half", []grid.NodeID{third, second, second}, true, 1, false},
		{"all is used", []grid.NodeID{other, third, third, other}, true, 0, false},
		{"the payer has its half, of jobs that go on", []grid.NodeID{third, second, second}, false, -1, true},
		{"all is used, by jobs that go on", []grid.NodeID{other, third, third, other}, false, -1, true},
	} {
		inputs := files(1, 1, grid.MiB)
		n := newNode(t, 4*diskBytes(inputs), grid.GiB)
		var stored, want []*Files
		for k, owner := range c.stored {
			f, _ := n.job(owner, byte(k), inputs)
			n.ask(f, InputsID(f.Job()), nil)
			n.fetched(f, InputsID(f.Job()), "")
			if c.ended {
				n.Ended(f)
			}
			stored = append(stored, f)
		}
		if c.evicted >= 0 {
			want = stored[c.evicted:][:1]
		}
		f, _ := n.job(second, 99, inputs)
		said, fetches := n.ask(f, InputsID(f.Job()), nil)
		if fetches == c.refused || (said != nil) != c.refused || !slices.Equal(n.evicted, want) {
			t.Errorf("%s: said %v, evicted %v", c.what, said, n.evicted)
		}
		if n.charged > 4*diskBytes(inputs) {
			t.Errorf("%s: %d bytes are charged", c.what, n.charged)
		}
	}
}

// A job that goes on after it had ended makes no room any more, also with what is stored for it from then on.
func TestAJobThatGoesOnMakesNoRoom(t *testing.T) {
	inputs := files(1, 1, grid.MiB)
	for _, stored := range []bool{true, false} { // before it ends
		n := newNode(t, 2*diskBytes(inputs), grid.GiB)
		f, _ := n.job(second, 1, inputs)
		store := func() {
			n.ask(f, InputsID(f.Job()), nil)
			n.fetched(f, InputsID(f.Job()), "")
		}
		if stored {
			store()
		}
		n.Ended(f)
		if n.Reopened(f); !stored {
			store()
		}
		next, _ := n.job(second, 2, inputs)
		said, fetches := n.ask(next, InputsID(next.Job()), nil)
		if fetches || said == nil || said.Why != grid.WhyRoom || len(n.evicted) > 0 || !f.HasInputs() {
			t.Errorf("stored before its end %v: said %v, evicted %v; want that there is no room", stored, said, n.evicted)
		}
	}
}
