package node

import (
	"slices"
	"testing"

	"skep/grid"
)

// Who names the members of a job: its origin; other nodes for want of better.

// offerUnreplicated offers this node an attempt of a job of fastID that has no register.
func offerUnreplicated(r *rig, s *grid.JobSpec, n uint32) {
	r.t.Helper()
	r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
		m.Offer = grid.Offer{ID: attemptAt(n), Spec: s, Class: "a", Lease: r.cfg.Lease}
	})
}

func attemptAt(n uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: replicatedJob}, Attempt: grid.Attempt{Epoch: 1, N: n}}
}

// forgeOffer makes the stranger offer an attempt of fastID's job with invented members.
func (r *rig) forgeOffer(id grid.AttemptID, s *grid.JobSpec) {
	r.t.Helper()
	r.deliver(strangerID, grid.KindOffer, func(m *grid.Message) {
		m.Offer = grid.Offer{ID: id, Spec: s, Class: "a", Lease: r.cfg.Lease, Members: []grid.NodeID{fastID, strangerID,
			{55}}}
	})
}

func connectedRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, nil)
	r.now = 3600e9
	for _, id := range []grid.NodeID{fastID, slowID, strangerID} {
		r.join(id, 1, "linux")
	}
	return r
}

// Regression: an offer that names members for a job without a register is ignored where the origin's attempts are: they
// go on, beats go to the origin, and the sender ends nothing. It redirected the beats, and dropped what ran.
func TestFalseMembersRedirectNothing(t *testing.T) {
	r := connectedRig(t)
	offerUnreplicated(r, spec(nil), 1)
	for _, id := range []grid.AttemptID{{Task: attemptAt(1).Task, Attempt: grid.Attempt{Epoch: 9, N: 1}}, attemptAt(2),
		attemptAt(1)} {
		r.forgeOffer(id, spec(nil))
		if a := append(r.sent(grid.KindAccept), r.sent(grid.KindRefuse)...); len(a) > 0 {
			t.Errorf("attempt %v is answered: %v", id, kindsOf(r.fx.Sends))
		}
	}
	for _, k := range []grid.Kind{grid.KindDrop, grid.KindResultAck} {
		r.deliverFor(strangerID, k, attemptAt(1), nil)
	}
	r.claimOwner(strangerID, strangerID, replicatedJob, 9, true)
	if s, _, ok := r.n.Work(attemptAt(1)); !ok || s != grid.WorkRunning {
		t.Fatalf("the origin's attempt: %v, %v, want that it runs", s, ok)
	}
	if to := r.recipients(grid.KindBeat); !slices.Equal(to, []grid.NodeID{fastID}) {
		t.Errorf("beats go to %v, want the origin", to)
	}
}

// Coming first does not help either: when the origin offers, all that rested on hearsay goes, and the origin's attempt
// runs, even with the same number as one that the other had dropped.
func TestOriginOverrulesHearsay(t *testing.T) {
	for name, before := range map[string]func(r *rig){
		"the same attempt":     func(r *rig) {},
		"dropped by the other": func(r *rig) { r.deliverFor(strangerID, grid.KindDrop, attemptAt(1), nil) },
		"refused to the other": func(r *rig) {
			r.deliverFor(strangerID, grid.KindDrop, attemptAt(1), nil)
			r.forgeOffer(attemptAt(2), spec(func(s *grid.JobSpec) { s.Needs.CPU = 1 << 40 }))
		},
		"a register, made up": func(r *rig) {
			r.writeFrom(strangerID, replicatedJob, spec(nil),
				func(g *grid.RegisterMessage) { g.Members = []grid.NodeID{fastID, strangerID, selfID} })
		},
		"a register that ended": func(r *rig) {
			r.writeFrom(strangerID, replicatedJob, spec(nil), func(g *grid.RegisterMessage) {
				g.Members, g.Done = []grid.NodeID{fastID, strangerID, selfID}, true
			})
		},
	} {
		for _, members := range [][]grid.NodeID{nil, {fastID, slowID, {56}}, three} {
			r := connectedRig(t)
			r.forgeOffer(attemptAt(1), spec(func(s *grid.JobSpec) { s.Command = []string{"evil"} }))
			before(r)
			for n := uint32(1); n <= 2; n++ {
				if n == 1 && name == "refused to the other" {
					continue
				}
				r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
					m.Offer = grid.Offer{ID: attemptAt(n), Spec: spec(nil), Class: "a", Lease: r.cfg.Lease, Members: members}
				})
				if s := r.one(grid.KindAccept); s.To != fastID {
					t.Fatalf("%s, members %d: accepted to %v", name, len(members), s.To.Short())
				}
				w := r.n.worker.Exec().Get(attemptAt(n))
				if w == nil || w.Spec.Command[0] != "true" || r.n.worker.Owner(replicatedJob) != fastID {
					t.Fatalf("%s, members %d: attempt %d is %+v of %v, want the origin's", name, len(members), n, w,
						r.n.worker.Owner(replicatedJob).Short())
				}
			}
			if r.deliverFor(strangerID, grid.KindDrop, attemptAt(2), nil); r.n.worker.Exec().Get(attemptAt(2)) == nil {
				t.Errorf("%s, members %d: the other ends the origin's attempt", name, len(members))
			}
		}
	}
}

// A replica created on hearsay gives way to the origin's, and to no other.
func TestOriginsRegisterOverrulesHearsay(t *testing.T) {
	r := connectedRig(t)
	false3 := []grid.NodeID{fastID, strangerID, selfID}
	if a := r.writeFrom(strangerID, replicatedJob, spec(nil), func(g *grid.RegisterMessage) {
		g.Members, g.Epoch = false3, 7
	}); a != grid.RegisterOK {
		t.Fatalf("the origin may be gone: %v, want it kept", a)
	}
	if a := r.writeFrom(slowID, replicatedJob, spec(nil),
		func(g *grid.RegisterMessage) { g.Members = three }); a == grid.RegisterOK {
		t.Errorf("the message of a third: %v, want it refused", a)
	}
	if a := r.writeFrom(fastID, replicatedJob, spec(nil),
		func(g *grid.RegisterMessage) { g.Members = three }); a != grid.RegisterOK {
		t.Errorf("the origin's: %v, want it kept", a)
	}
	if v, _ := r.n.Job(replicatedJob); !slices.Equal(v.Members, three) {
		t.Errorf("its members are %v, want those that the origin named", v.Members)
	}
	if a := r.writeFrom(strangerID, replicatedJob, spec(nil), func(g *grid.RegisterMessage) {
		g.Members, g.Epoch = false3, 8
	}); a == grid.RegisterOK {
		t.Errorf("the stranger again: %v, want it refused", a)
	}
}
