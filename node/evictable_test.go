package node

import (
	"slices"
	"testing"

	"skep/grid"
	"skep/node/replication"
)

// Model test against a linear search through all archived jobs.
func TestOldestEvictableJobIsEvicted(t *testing.T) {
	r, n := grid.NewRand(1, 4), newRig(t, nil).n
	owners := []grid.NodeID{fastID, slowID, {77}}
	var open, kept []*job
	for k := range 1000 {
		id := grid.JobID{Origin: owners[r.IntN(3)], Nonce: [10]byte{byte(k >> 8), byte(k)}}
		j := n.newJob(id, spec(nil), int64(k))
		j.replica = &replica{Replica: new(replication.Replica)}
		open = append(open, j)
		if some := open[r.IntN(len(open))]; r.IntN(2) == 0 {
			n.chargeDeposit(some, grid.MiB)
		}
		if r.IntN(3) > 0 {
			i := r.IntN(len(open))
			n.archiveJob(open[i])
			kept = append(kept, open[i])
			open = slices.Delete(open, i, i+1)
		}
		if len(kept) == 0 {
			continue
		}
		switch some := kept[r.IntN(len(kept))]; r.IntN(4) {
		case 0: // a late output
			n.chargeDeposit(some, grid.MiB)
		case 1:
			n.chargeDeposit(some, -some.replica.deposits.size)
		case 2:
			if k > 500 {
				first := n.archive.shift(n.cfg.Self)
				n.forgetJob(n.unpack(&first, true), &grid.Effects{})
				kept = kept[1:]
			}
		}
		own, owner := r.IntN(2) == 0, owners[r.IntN(3)]
		want := slices.IndexFunc(kept, func(j *job) bool {
			return j.replica.deposits.size > 0 && (!own || j.replica.deposits.payer == owner)
		})
		if r.IntN(3) > 0 {
			continue
		}
		if did := n.evictJob(own, owner, &grid.Effects{}); did != (want >= 0) {
			t.Fatalf("job %d: forgot one %v, want place %d", k, did, want)
		}
		if want >= 0 {
			if n.archive.find(kept[want].id) >= 0 || n.jobs.Get(kept[want].id) != nil {
				t.Fatalf("job %d: not the one at place %d was forgotten", k, want)
			}
			kept = slices.Delete(kept, want, want+1)
		}
		if n.archive.len() != len(kept) {
			t.Fatalf("job %d: %d are kept, want %d", k, n.archive.len(), len(kept))
		}
	}
	for _, owner := range owners { // no finished job without a deposit is in a list
		for _, j := range n.accounts.of(owner).evictable {
			if j.replica.deposits.size == 0 || !slices.Contains(kept, j) {
				t.Errorf("job %v can be forgotten to make room: %d bytes", j.id, j.replica.deposits.size)
			}
		}
	}
}
