package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node/replication"
)

// owners is a node that is a member of many registers, of a fifth as many owners; each has the next owner as its third
// member.
type owners struct {
	*rig
	count, jobs int
}

func newOwners(t *testing.T, jobs int) *owners {
	t.Helper()
	o := &owners{newRig(t, nil), jobs / 5, jobs}
	for i := range jobs {
		o.write(i, 1, false)
	}
	return o
}

func (o *owners) node(i int) grid.NodeID {
	return grid.NodeID{9, byte(i % o.count >> 8), byte(i % o.count)}
}

func (o *owners) job(i int) grid.JobID {
	return grid.JobID{Origin: o.node(i), Nonce: [10]byte{1, byte(i >> 8), byte(i)}}
}

// write has the owner of a register write to it.
func (o *owners) write(i int, seq uint64, done bool) {
	o.t.Helper()
	o.deliver(o.node(i), grid.KindWrite, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: o.job(i), Epoch: 1, Seq: seq, Spec: spec(nil),
			Members: []grid.NodeID{o.node(i), selfID, o.node(i + 1)}, Done: done}
		if done {
			m.Register.Entries = []grid.Entry{{Attempt: grid.Attempt{Epoch: 1, N: 1}, Worker: o.node(i), Result: exitZero}}
		}
	})
	if a := o.one(grid.KindWriteAck).Msg.Register.Answer; a != grid.RegisterOK {
		o.t.Fatalf("register %d is written to: answer %v", i, a)
	}
}

// keepalive makes an owner send a keepalive for those of its registers that go on.
func (o *owners) keepalive(owner int, goesOn func(i int) bool) {
	o.t.Helper()
	var count uint32
	var sum uint64
	for i := owner; i < o.jobs; i += o.count {
		if goesOn(i) {
			count++
			sum += replication.Hash(o.job(i), 1)
		}
	}
	o.deliver(o.node(owner), grid.KindKeepalive,
		func(m *grid.Message) { m.Register = grid.RegisterMessage{Seq: 1, Count: count, Sum: sum} })
	if a := o.one(grid.KindKeepaliveAck).Msg.Register.Answer; a != grid.RegisterOK {
		o.t.Fatalf("owner %d of %d registers is answered %v", owner, count, a)
	}
}

// Handling a keepalive touches only the registers shared with its sender. There are as many keepalives in a third of a
// lease as owners, and each owner can have any number of registers here.
func TestKeepaliveTouchesOnlySharedRegisters(t *testing.T) {
	o := newOwners(t, 50)
	for _, say := range []func(from int){
		func(i int) { o.keepalive(i, func(int) bool { return true }) },
		func(i int) {
			o.deliver(o.node(i), grid.KindKeepalive, func(m *grid.Message) {
				m.Attempts = []grid.AttemptID{{Task: grid.TaskID{Job: o.job(i)}, Attempt: grid.Attempt{Epoch: 1}}}
			})
			if a := o.one(grid.KindKeepaliveAck); len(a.Msg.Attempts) > 0 {
				t.Errorf("a stored register is listed back")
			}
		},
		func(i int) {
			o.step(grid.Event{Kind: grid.EvPeerUp, Peer: o.node(i), RTT: time.Millisecond, Kinds: grid.AllKinds})
		},
	} {
		for i := range o.count {
			hidden := map[*replication.Replica]replication.Register{}
			for _, r := range o.n.replicas.Open() {
				if r.Place(o.node(i)) < 0 {
					hidden[r], r.Register = r.Register, replication.Register{} // it has no members: acting on it panics
				}
			}
			say(i)
			for r, reg := range hidden {
				r.Register = reg
			}
		}
	}
}

// The registers shared with another node are a subset of the tracked replicas, in the same order: also after some were
// closed, and after a restart. When all are closed no member remains listed.
func TestSharedRegisters(t *testing.T) {
	o := newOwners(t, 200)
	check := func(r *rig, want int) {
		t.Helper()
		if len(r.n.replicas.Open()) != want {
			t.Fatalf("%d registers, want %d", len(r.n.replicas.Open()), want)
		}
		for i := range o.count {
			with := slices.DeleteFunc(slices.Clone(r.n.replicas.Open()),
				func(rep *replication.Replica) bool { return rep.Place(o.node(i)) < 0 })
			if got := r.n.replicas.With(o.node(i)); !slices.Equal(got, with) {
				t.Fatalf("%d in common with node %d, want %d", len(got), i, len(with))
			}
		}
	}
	even := func(i int) bool { return i%2 == 0 }
	allWatch := func() {
		t.Helper()
		for i := range o.count {
			o.keepalive(i, even)
		}
	}
	check(o.rig, o.jobs)
	for i := range o.jobs {
		if !even(i) {
			o.write(i, 2, true)
		}
	}
	allWatch()
	o.pass(o.cfg.Lease/2, grid.TimerRegister)
	check(o.rig, o.jobs/2)
	allWatch()
	o.rig = o.restart()
	for i := range o.count { // a member of five promises nothing before two others have connected
		o.step(grid.Event{Kind: grid.EvPeerUp, Peer: o.node(i), RTT: time.Millisecond, Kinds: grid.AllKinds})
	}
	check(o.rig, o.jobs/2)
	allWatch()
	for i := range o.jobs {
		if even(i) {
			o.write(i, 2, true)
		}
	}
	o.pass(o.cfg.Lease/2, grid.TimerRegister)
	for i := range o.count {
		if left := o.n.replicas.With(o.node(i)); left != nil {
			t.Errorf("%d registers that are over are kept as shared with node %d", len(left), i)
		}
	}
}
