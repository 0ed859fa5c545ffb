package node

import (
	"iter"

	"skep/grid"
	"skep/node/coordinator"
	"skep/node/replication"
)

// registers are the replicas of registers as the coordinator asks for them.
type registers struct{ *replication.Replicas }

// Add implements [coordinator.Registers].
func (r registers) Add(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID, s grid.RegisterState) coordinator.Register {
	return r.Replicas.Add(id, spec, submitted, members, s)
}

// Closed implements [coordinator.Registers].
func (r registers) Closed() coordinator.Register { return r.Replicas.Closed() }

// Start implements [coordinator.Registers].
func (r registers) Start(open []coordinator.Register) {
	replicas := make([]*replication.Replica, len(open))
	for i := range open {
		replicas[i] = open[i].(*replication.Replica)
	}
	r.Replicas.Start(replicas)
}

// Open implements [coordinator.Registers].
func (r registers) Open() iter.Seq[grid.JobID] {
	return func(yield func(grid.JobID) bool) {
		for _, x := range r.Replicas.Open() {
			if !yield(x.Job()) {
				return
			}
		}
	}
}

// AnyOpen implements [coordinator.Registers].
func (r registers) AnyOpen() bool { return len(r.Replicas.Open()) > 0 }

// Retire implements [coordinator.Registers].
func (r registers) Retire(done func(coordinator.Register) bool) {
	r.Replicas.Retire(func(x *replication.Replica) bool { return done(x) })
}
