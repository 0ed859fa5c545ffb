package quota

import "skep/grid"

// Estimated memory of what is stored, without what it points to.
const (
	offerBytes  = grid.KiB // an attempt, with its entries in maps and lists
	inputBytes  = grid.Bytes(80)
	stringBytes = grid.Bytes(16)
	placeBytes  = grid.Bytes(36)
)

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
	size := offerBytes + SpecBytes(s) + placeBytes*grid.Bytes(len(places)) + grid.Bytes(4*len(before.Shares))
	for i := range places {
		size += grid.Bytes(4 * len(places[i].Shares))
	}
	return size
}

// SpecBytes estimates the memory of a specification.
func SpecBytes(s *grid.JobSpec) grid.Bytes {
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
	for i := range s.Needs.Labels {
		l := &s.Needs.Labels[i]
		size, strings = size+len(l.Key), strings+2+len(l.Values)
		for _, v := range l.Values {
			size += len(v)
		}
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
