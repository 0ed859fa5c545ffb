package quota

import (
	"testing"

	"skep/grid"
	"skep/sparse"
)

// keeper forgets the jobs that it is to evict; each has so many records.
type keeper struct {
	*Accounts
	records int
	evicted []grid.JobID
}

func (k *keeper) Evict(id grid.JobID, _ *grid.Effects) int {
	k.Forget(id)
	k.evicted = append(k.evicted, id)
	return k.records
}

// Jobs that are over go until what is new has room, and no further ones; one step evicts no more than its bounds.
func TestRoomIsMade(t *testing.T) {
	plenty := Amount{Bytes: 1 << 30, Registers: 1000, Tasks: 1 << 30, Offers: 1000}
	lower(t, Amount{Bytes: 1 << 30, Registers: 1000, Tasks: 1 << 30, Offers: 1000}, plenty)
	for _, c := range []struct {
		jobs, need, records, evicted int
		full                         bool
	}{{3, 1, 1, 0, false}, {1000, 1, 1, 1, false}, {1000, 5, 1, 5, false}, {1000, 5, maxRecords, 1, true},
		{1000, 400, 1, maxEvictions, true}} {
		var l Accounts
		who := Parties{alice, alice}
		for i := range c.jobs {
			l.Keep(job(alice, i), who, Amount{Registers: 1})
			l.End(job(alice, i), 0)
		}
		k := keeper{Accounts: &l, records: c.records}
		why := l.MakeRoom(who, Amount{Registers: c.need}, &k, nil)
		if (why != "") != c.full || len(k.evicted) != c.evicted {
			t.Errorf("%+v: %q, %d evicted", c, why, len(k.evicted))
		}
	}
}

func TestLargestJob(t *testing.T) {
	lower(t, Amount{Bytes: 1 << 30, Registers: 2, Tasks: grid.MaxCount + 5, Offers: 1}, All)
	var l Accounts
	who := Parties{alice, alice}
	for i, want := range []uint32{0, grid.MaxCount - 4, 1} {
		if got := l.LargestJob(alice); got != want {
			t.Errorf("with %d jobs a further one may be %d, want %d", i, got, want)
		}
		l.Keep(job(alice, i), who, Amount{Registers: 1, Tasks: 10})
	}
	if got := l.LargestJob(bob); got != 0 {
		t.Errorf("one of another node may be %d", got)
	}
}

// register has the entry of task 0, of epoch 2, and its leaf.
type register struct{}

func (register) Value(i uint32) (*grid.Entry, bool) {
	if i == 0 {
		return &grid.Entry{Epoch: 2}, true
	}
	return nil, false
}

func (register) NeedsLeaf(i uint32) bool { return i >= sparse.Leaf }

func TestEntriesTakeWhatIsNew(t *testing.T) {
	s, one := &grid.JobSpec{Count: 3 * sparse.Leaf}, grid.Bytes((&grid.Entry{}).Weight())
	for _, c := range []struct {
		epoch   uint32
		indices []uint32
		want    grid.Bytes
	}{{2, []uint32{0}, 0}, {3, []uint32{0}, one}, {0, []uint32{0}, 0}, {2, []uint32{1, 2}, 2 * one},
		{2, []uint32{sparse.Leaf, sparse.Leaf + 1}, 2*one + LeafBytes}, {2, []uint32{1 << 30}, 0}} {
		var entries []grid.Entry
		for _, i := range c.indices {
			entries = append(entries, grid.Entry{Index: i, Epoch: 1})
		}
		if got := EntriesBytes(s, entries, c.epoch, register{}); got != c.want {
			t.Errorf("entries %v of epoch %d take %d, want %d", c.indices, c.epoch, got, c.want)
		}
	}
}
