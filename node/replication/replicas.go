package replication

import (
	"slices"
	"time"

	"skep/fifo"
	"skep/grid"
	"skep/node/chain"
	"skep/node/generation"
	"skep/sparse"
)

// Config is what a node says of itself once.
type Config struct {
	Self  grid.NodeID
	Boot  uint64 // counts the node's starts; kept on disk
	Lease time.Duration

	Signer chain.Signer // for signed jobs; nil = this node keeps none
}

// Replicas are this node's replicas of registers whose jobs are not closed, and what it knows of the other members.
type Replicas struct {
	dirty      []*Replica // they may have something to send
	cfg        Config
	wall       grid.Wall
	rng        *grid.Rand    // jitter of campaigns
	self       []grid.NodeID // the members of every register that this node alone keeps
	open       []*Replica    // those with other members
	shared     sparse.Map[grid.NodeID, *sharedReplicas]
	members    []*coMember
	by         sparse.Map[grid.NodeID, *coMember]
	tombstones Tombstones
	terms      uint64 // times that this node began to own a register, in this boot
	keepalives uint64 // keepalives sent in this boot
	changes    fifo.Queue[grid.RegisterChange]
	questions  []*question // callers' that the members have not answered, oldest first
	written    []uint32    // scratch
	settling   generation.Settling

	outdated map[grid.NodeID]bool // connected nodes that know of no register that is opened again; never iterated
}

// sharedReplicas lists the replicas of the registers that this node and another are both members of. So an owner's
// keepalive costs time in proportion to the shared registers, not to all here.
type sharedReplicas struct {
	peer     grid.NodeID
	replicas []*Replica // those of Replicas.open with that member, in the same order
}

// Key returns the peer.
func (l *sharedReplicas) Key() grid.NodeID { return l.peer }

// NewReplicas returns a node's replicas: none yet.
func NewReplicas(cfg Config, wall grid.Wall, rng *grid.Rand) Replicas {
	return Replicas{cfg: cfg, wall: wall, rng: rng, self: []grid.NodeID{cfg.Self}}
}

// Add adds the replica of a job's register. self must be among members. submitted is wall time in Unix nanoseconds.
func (s *Replicas) Add(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID,
	state grid.RegisterState) *Replica {
	r := &Replica{of: s, id: id, spec: spec, submitted: submitted, knownOwner: knownOwner{owner: state.Owner,
		ownerEpoch: state.Epoch}}
	if len(members) == 1 {
		members = s.self
	} else {
		members = slices.Clone(members)
	}
	signed := s.begin(id, spec, members, &state)
	r.Register = makeRegister(s.cfg.Self, members, spec.Count, spec.Entries()-spec.Count-1, state)
	if r.chain = signed; len(members) == 1 {
		return r
	}
	k := len(r.seats.Places())
	times := make([]grid.Time, 3*k)
	r.acked, r.acceptedAt, r.writeSent = times[:k:k], times[k:2*k:2*k], times[2*k:]
	s.track(r)
	return r
}

// Closed returns the replica of a closed job that this node alone keeps, of which only that is asked.
func (s *Replicas) Closed() *Replica {
	st := grid.RegisterState{Promised: 1, VotedFor: s.cfg.Self, Epoch: 1, Owner: s.cfg.Self, Done: true}
	return &Replica{of: s, Register: makeRegister(s.cfg.Self, s.self, 0, 0, st), knownOwner: knownOwner{owner: s.cfg.Self,
		ownerEpoch: 1}}
}

func (s *Replicas) track(r *Replica) {
	s.open, r.retired = append(s.open, r), false
	for _, id := range r.seats.Places() {
		if id == s.cfg.Self {
			continue
		}
		s.shareWith(r, id)
	}
}

func (s *Replicas) shareWith(r *Replica, id grid.NodeID) {
	l := s.shared.Get(id)
	if l == nil {
		l = &sharedReplicas{peer: id}
		s.shared.Put(l)
	}
	l.replicas = append(l.replicas, r)
}

// Start keeps only the given replicas, in their order: those with other members whose jobs are not closed, after a
// restart.
func (s *Replicas) Start(open []*Replica) {
	for _, r := range s.open {
		r.retired = true
	}
	s.open, s.shared = nil, sparse.Map[grid.NodeID, *sharedReplicas]{}
	for _, r := range open {
		s.track(r)
	}
	s.tombstones.start()
}

// Open lists the replicas with other members whose jobs are not closed; read only.
func (s *Replicas) Open() []*Replica { return s.open }

// With lists the replicas whose jobs are not closed and of which a node is a member too; read only.
func (s *Replicas) With(id grid.NodeID) []*Replica {
	if l := s.shared.Get(id); l != nil {
		return l.replicas
	}
	return nil
}

// Retire removes replicas of which nothing is left to do.
func (s *Replicas) Retire(done []*Replica) {
	if len(done) == 0 {
		return
	}
	for _, r := range done {
		r.retired = true
	}
	s.open = slices.DeleteFunc(s.open, func(r *Replica) bool { return r.retired })
	var empty []grid.NodeID
	for l := range s.shared.All() {
		if l.replicas = slices.DeleteFunc(l.replicas, func(r *Replica) bool { return r.retired }); len(l.replicas) == 0 {
			empty = append(empty, l.peer)
		}
	}
	for _, id := range empty {
		s.shared.Drop(id)
	}
}

// Save saves all of a replica but the entries.
func (r *Replica) Save(fx *grid.Effects) {
	st := &r.state
	fx.Save(grid.RecRegister).Register = grid.RegisterRecord{ID: r.id, Spec: r.spec, Members: r.first,
		Submitted: r.submitted,
		Promised:  st.Promised, VotedFor: st.VotedFor, Epoch: st.Epoch, Owner: st.Owner, Done: st.Done, Opened: st.Opened,
		Genesis: st.Genesis, Mandate: st.Mandate,
		Set:  st.Set,
		Held: len(r.spec.Inputs) > 0 && (r.inputsHeld || r.id.Origin == r.of.cfg.Self)}
}

// HoldInputs records that the job's inputs are stored here. Save follows.
func (r *Replica) HoldInputs() { r.inputsHeld = true }

// nextTerm returns a number above all that this node has written registers with, for BecomeOwner and VoteReceived.
func (s *Replicas) nextTerm() uint64 {
	s.terms++
	return s.cfg.Boot<<40 | s.terms<<20
}
