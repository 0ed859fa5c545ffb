package node

import (
	"slices"
	"testing"

	"skep/grid"
)

// A dumb twin: all jobs that are kept, looked through in order.
func TestOldestJobThatTakesRoomIsForgotten(t *testing.T) {
	r, n := grid.NewRand(1, 4), newRig(t, nil).n
	owners := []grid.NodeID{fastID, slowID, {77}}
	var open, kept []*job
	for k := range 1000 {
		id := grid.JobID{Origin: owners[r.IntN(3)], Nonce: [10]byte{byte(k >> 8), byte(k)}}
		j := n.newJob(id, spec(nil), int64(k))
		j.guard = &guard{boss: id.Origin}
		open = append(open, j)
		if some := open[r.IntN(len(open))]; r.IntN(2) == 0 {
			n.charge(some, grid.MiB)
		}
		if r.IntN(3) > 0 {
			i := r.IntN(len(open))
			n.keepOver(open[i])
			kept = append(kept, open[i])
			open = slices.Delete(open, i, i+1)
		}
		if len(kept) == 0 {
			continue
		}
		switch some := kept[r.IntN(len(kept))]; r.IntN(4) {
		case 0: // what it left came late
			n.charge(some, grid.MiB)
		case 1:
			n.charge(some, -some.guard.lent.size)
		case 2:
			if k > 500 {
				first := n.kept.shift(n.cfg.Self)
				n.forgetJob(n.unpack(&first, true), &grid.Effects{})
				kept = kept[1:]
			}
		}
		own, owner := r.IntN(2) == 0, owners[r.IntN(3)]
		want := slices.IndexFunc(kept, func(j *job) bool {
			return j.guard.lent.size > 0 && (!own || j.guard.lent.to == owner)
		})
		if r.IntN(3) > 0 {
			continue
		}
		if did := n.sacrifice(own, owner, &grid.Effects{}); did != (want >= 0) {
			t.Fatalf("job %d: forgot one %v, want place %d", k, did, want)
		}
		if want >= 0 {
			if n.kept.find(kept[want].id) >= 0 || n.jobs.get(kept[want].id) != nil {
				t.Fatalf("job %d: not the one at place %d was forgotten", k, want)
			}
			kept = slices.Delete(kept, want, want+1)
		}
		if n.kept.len() != len(kept) {
			t.Fatalf("job %d: %d are kept, want %d", k, n.kept.len(), len(kept))
		}
	}
	for _, owner := range owners { // what is over and has nothing here is in no list
		for _, j := range n.pair(owner).spare {
			if j.guard.lent.size == 0 || !slices.Contains(kept, j) {
				t.Errorf("job %v can be forgotten to make room: %d bytes", j.id, j.guard.lent.size)
			}
		}
	}
}
