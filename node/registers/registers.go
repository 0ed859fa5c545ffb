package registers

import (
	"iter"

	"skep/grid"
	"skep/node/coordinator"
	"skep/node/replication"
)

// Registers are the replicas of registers as the coordinator asks for them.
type Registers struct{ *replication.Replicas }

// Add implements [coordinator.Registers].
func (r Registers) Add(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID,
	s grid.RegisterState) coordinator.Register {
	return r.Replicas.Add(id, spec, submitted, members, s)
}

// Closed implements [coordinator.Registers].
func (r Registers) Closed() coordinator.Register { return r.Replicas.Closed() }

// Start implements [coordinator.Registers].
func (r Registers) Start(open []coordinator.Register) {
	r.Replicas.Start(replicasOf(open))
}

// Open implements [coordinator.Registers].
func (r Registers) Open() iter.Seq[coordinator.Register] {
	return func(yield func(coordinator.Register) bool) {
		for _, x := range r.Replicas.Open() {
			if !yield(x) {
				return
			}
		}
	}
}

// AnyOpen implements [coordinator.Registers].
func (r Registers) AnyOpen() bool { return len(r.Replicas.Open()) > 0 }

// Asking implements [coordinator.Registers].
func (r Registers) Asking() (rs []coordinator.Register) {
	for _, x := range r.Replicas.Asking() {
		rs = append(rs, x)
	}
	return rs
}

// Retire implements [coordinator.Registers].
func (r Registers) Retire(done []coordinator.Register) { r.Replicas.Retire(replicasOf(done)) }

func replicasOf(rs []coordinator.Register) []*replication.Replica {
	replicas := make([]*replication.Replica, len(rs))
	for i := range rs {
		replicas[i] = rs[i].(*replication.Replica)
	}
	return replicas
}
