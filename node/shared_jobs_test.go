package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
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
		m.Register = grid.RegisterMessage{Job: o.job(i), Epoch: 1, Seq: seq, Spec: spec(nil), Members: []grid.NodeID{o.node(i), selfID, o.node(i + 1)}, Done: done}
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
	var s registerDigest
	for i := owner; i < o.jobs; i += o.count {
		if goesOn(i) {
			s.count++
			s.sum += registerHash(o.job(i), 1)
		}
	}
	o.deliver(o.node(owner), grid.KindKeepalive, func(m *grid.Message) { m.Register = grid.RegisterMessage{Seq: 1, Count: s.count, Sum: s.sum} })
	if a := o.one(grid.KindKeepaliveAck).Msg.Register.Answer; a != grid.RegisterOK {
		o.t.Fatalf("owner %d of %d registers is answered %v", owner, s.count, a)
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
			hidden := map[*job]*replica{}
			for _, j := range o.n.replicas {
				if j.replica.reg.Place(o.node(i)) < 0 {
					hidden[j], j.replica = j.replica, nil // touching it would panic
				}
			}
			say(i)
			for j, g := range hidden {
				j.replica = g
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
		if len(r.n.replicas) != want {
			t.Fatalf("%d registers, want %d", len(r.n.replicas), want)
		}
		for i := range o.count {
			with := slices.DeleteFunc(slices.Clone(r.n.replicas), func(j *job) bool { return j.replica.reg.Place(o.node(i)) < 0 })
			if got := r.n.jobsWith(o.node(i)); !slices.Equal(got, with) {
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
	o.pass(o.n.cfg.Lease/2, grid.TimerRegister)
	check(o.rig, o.jobs/2)
	allWatch()
	o.rig = o.restart()
	check(o.rig, o.jobs/2)
	allWatch()
	for i := range o.jobs {
		if even(i) {
			o.write(i, 2, true)
		}
	}
	o.pass(o.n.cfg.Lease/2, grid.TimerRegister)
	if left := o.n.sharedWith.len(); left > 0 {
		t.Errorf("%d members of registers that are over are kept", left)
	}
}

// The registers that a member was asked about one by one are forgotten with the keepalive: when the next one is sent,
// or when this node has nothing to send one for and no answer can tell anything.
func TestListedRegistersAreForgotten(t *testing.T) {
	named := func() (*rig, *coMember) {
		r := newMember(t)
		r.takeOver()
		for end := r.now.Add(r.n.cfg.Lease); len(r.sent(grid.KindKeepalive)) == 0; r.pass(time.Second, grid.TimerRegister) {
			if r.now > end {
				t.Fatal("no keepalive in a lease")
			}
		}
		p := r.n.coMember(slowID)
		r.deliver(slowID, grid.KindKeepaliveAck, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Seq: p.keepaliveSeq, Answer: grid.RegisterDiffers}
		})
		if w := r.one(grid.KindKeepalive); len(w.Msg.Attempts) != 1 || len(p.listedJobs) != 1 {
			t.Fatalf("it names %v", w.Msg.Attempts)
		}
		return r, p
	}
	r, p := named()
	for r.pass(r.n.cfg.Lease, grid.TimerRegister); len(r.sent(grid.KindKeepalive)) == 0; r.pass(r.n.cfg.Lease, grid.TimerRegister) {
	}
	if kept := p.listedJobs[:cap(p.listedJobs)]; kept[0] != nil {
		t.Errorf("next keepalive: %d are kept", len(kept))
	}
	r, p = named()
	r.deliver(slowID, grid.KindWrite, func(m *grid.Message) { m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 99, Seq: 1} })
	for end := r.now.Add(2 * r.n.cfg.Lease); r.now < end; {
		r.pass(time.Second)
	}
	if cap(p.listedJobs) > 0 {
		t.Errorf("after the loss of ownership: %d are kept", cap(p.listedJobs))
	}
}
