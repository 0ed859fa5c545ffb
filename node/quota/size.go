package quota

import (
	"cmp"

	"skep/grid"
	"skep/sparse"
)

// Estimated memory of what is stored, without what it points to; its size on disk is smaller.
const (
	jobBytes    = 4 * grid.KiB // a job and its register, with their entries in maps and lists
	offerBytes  = grid.KiB     // an attempt, with its entries in maps and lists
	inputBytes  = grid.Bytes(80)
	stringBytes = grid.Bytes(16)
	placeBytes  = grid.Bytes(36)
	optionBytes = 1024 // the spec of an option beside that of its job
)

const (
	// LeafBytes is a leaf of tasks and of entries.
	LeafBytes = sparse.Leaf * grid.Bytes(240)

	// EndBytes is the entry of a task that ended without having run.
	EndBytes = grid.Bytes(700)

	typicalJobBytes = jobBytes + 64*grid.KiB // a job of ordinary size
)

// JobBytes estimates the memory of a job without its tasks and their entries.
func JobBytes(s *grid.JobSpec) grid.Bytes { return jobBytes + specBytes(s) }

// JobAmount is what a job takes of which nothing is written yet.
func JobAmount(s *grid.JobSpec) Amount {
	return Amount{Bytes: JobBytes(s), Registers: 1, Tasks: int(s.Count)}
}

// Register is what a job's register has of its entries.
type Register interface {
	Value(i uint32) (entry *grid.Entry, final bool)
	NeedsLeaf(i uint32) bool
}

// EntriesBytes estimates what a register takes more once it has these entries of an epoch, or of a vote (epoch 0). One
// that it has already costs nothing.
func EntriesBytes(s *grid.JobSpec, entries []grid.Entry, epoch uint32, r Register) (bytes grid.Bytes) {
	last := ^uint32(0)
	for k := range entries {
		f := &entries[k]
		if f.Index >= s.Entries() {
			continue
		}
		if v, _ := r.Value(f.Index); v != nil && !v.OlderThan(cmp.Or(epoch, f.Epoch), f.Round) {
			continue
		}
		bytes += grid.Bytes(f.Weight())
		if leaf := f.Index / sparse.Leaf; leaf != last && r.NeedsLeaf(f.Index) {
			bytes, last = bytes+LeafBytes, leaf
		}
	}
	return bytes
}

// PartiesOf names who answers for what a node sends about a job: the sender, and the origin only for what it sends
// itself. Whoever has seen a job has the origin's signature of it, and could use up the origin's quota with copies.
func PartiesOf(id grid.JobID, from grid.NodeID) Parties {
	who := Parties{Sender: from}
	if from == id.Origin {
		who.Origin = id.Origin
	}
	return who
}

// AttemptBytes estimates the memory of an attempt with its specification, the places of its gang's ranks, and the
// shares that those of an attempt before had.
func AttemptBytes(s *grid.JobSpec, places []grid.RankPlace, before grid.Division) grid.Bytes {
	size := offerBytes + specBytes(s) + placeBytes*grid.Bytes(len(places)) + grid.Bytes(4*len(before.Shares))
	for i := range places {
		size += grid.Bytes(4 * len(places[i].Shares))
	}
	return size
}

// specBytes estimates the memory of a specification.
func specBytes(s *grid.JobSpec) grid.Bytes {
	size := 2*len(s.Sealed) + len(s.Name) + len(s.Class) + len(s.Policy)
	strings := len(s.Command) + len(s.Outputs) + 2*len(s.Env)
	for _, w := range s.Command {
		size += len(w)
	}
	for _, w := range s.Outputs {
		size += len(w)
	}
	for i := range s.Env {
		size += len(s.Env[i].Name) + len(s.Env[i].Value)
	}
	for i := range s.Inputs {
		size += len(s.Inputs[i].Path)
	}
	size += arrayBytes(s.Array)
	labels := func(needs []grid.LabelNeed) {
		for i := range needs {
			l := &needs[i]
			size, strings = size+len(l.Key), strings+2+len(l.Values)
			for _, v := range l.Values {
				size += len(v)
			}
		}
	}
	labels(s.Needs.Labels)
	for i := range s.Needs.Options { // of each there may be a spec of its own, with all labels
		labels(s.Needs.Options[i].Labels)
		labels(s.Needs.Options[i].Labels)
		labels(s.Needs.Labels)
		size += optionBytes
	}
	return grid.Bytes(size) + grid.Bytes(strings)*stringBytes + grid.Bytes(len(s.Inputs))*inputBytes
}

// Estimated memory of an axis of an array, of a range of indices and of an input that some tasks have.
const (
	axisBytes      = 120
	rangeBytes     = 12
	taskInputBytes = 12
)

func arrayBytes(a *grid.Array) (size int) {
	if a == nil {
		return 0
	}
	for i := range a.Axes {
		x := &a.Axes[i]
		size += axisBytes + len(x.Name) + len(x.Lines) + rangeBytes*len(x.Indices)
		for _, v := range x.Values {
			size += int(stringBytes) + len(v)
		}
	}
	return size + taskInputBytes*len(a.Inputs)
}

// ResultBytes estimates the memory of a result.
func ResultBytes(r *grid.Result) grid.Bytes { return grid.Bytes(128 + r.Weight()) }
