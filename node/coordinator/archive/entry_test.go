package archive

import (
	"testing"

	"skep/grid"
	"skep/node/coordinator/packed"
)

var self = grid.NodeID{7}

// job is one in memory, of three tasks.
type job struct{ id grid.JobID }

func (j *job) Key() grid.JobID { return j.id }
func (j *job) Size() int       { return 3 }

func id(n byte) grid.JobID { return grid.JobID{Origin: self, Nonce: [10]byte{9: n}} }

// pack packs a job of one task.
func pack(id grid.JobID) Entry[*job] {
	w := packed.Write(self, grid.Wall{}, packed.Summary{ID: id, Spec: &grid.JobSpec{Count: 1}}, new(packed.Buffer))
	w.Task(new(packed.Task))
	return Entry[*job]{Job: w.Job()}
}

// A job is the same one in the list whether it is open or packed; IDs that begin alike are told apart.
func TestAnEntryIsOpenOrPacked(t *testing.T) {
	open, hole := EntryOf(&job{id(1)}, nil), Entry[*job]{}
	for name, c := range map[string]struct {
		e            Entry[*job]
		hole, packed bool
		tasks        int
	}{"open": {open, false, false, 3}, "packed": {pack(id(1)), false, true, 1}} {
		if c.e.Hole() != c.hole || c.e.Packed() != c.packed || c.e.Tasks() != c.tasks || c.e.ID(self) != id(1) ||
			!c.e.Is(id(1)) || c.e.Is(id(2)) {
			t.Errorf("%s: hole %v, packed %v, %d tasks, job %v", name, c.e.Hole(), c.e.Packed(), c.e.Tasks(), c.e.ID(self))
		}
	}
	if !hole.Hole() {
		t.Error("the zero value is no hole")
	}
}

// Jobs change between open and packed in place; the counts follow the list's own changes.
func TestJobsAreFoundInPlace(t *testing.T) {
	var l List[Entry[*job], *Entry[*job]]
	for n := range byte(2 * small) {
		if n%2 == 0 {
			l.Add(self, id(n), pack(id(n)))
		} else {
			l.Add(self, id(n), EntryOf(&job{id(n)}, nil))
		}
	}
	for n := range byte(2 * small) {
		if at := l.Find(id(n)); at < 0 || l.At(at).ID(self) != id(n) {
			t.Fatalf("job %d is at %d", n, at)
		}
	}
	if l.Packed != small || l.Tasks != 4*small || l.Find(id(2*small)) >= 0 {
		t.Errorf("%d are packed, %d tasks", l.Packed, l.Tasks)
	}
	l.Remove(self, l.Find(id(5)))
	if first := l.Shift(self); first.ID(self) != id(0) || l.Len() != 2*small-2 || l.Find(id(5)) >= 0 ||
		l.Packed != small-1 || l.Tasks != 4*small-4 {
		t.Errorf("job %v goes first; %d are left, %d of them packed, of %d tasks", first.ID(self), l.Len(), l.Packed, l.Tasks)
	}
}
