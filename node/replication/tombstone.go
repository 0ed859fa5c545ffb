package replication

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"skep/fifo"
	"skep/grid"
	"skep/sparse"
)

// Tombstones are what this node keeps of closed registers that it has evicted. A member that forgot that a job is over
// would have its replica created anew by the next campaign or write of a member that has not heard so, and would vote
// and accept although it had promised a higher epoch: two owners of one epoch, and committed ends lost. A tombstone
// answers instead; see RegisterGone and outcome.go for what its receiver does.
//
// Invariant: a node has a replica of a job, or a tombstone, or has never been a member that it took part as; until more
// than maxTombstones are here. Then the oldest tombstone of the origin with the most goes, so that one busy origin does
// not displace those of others.
//
// A tombstone takes less than 100 bytes of memory. Its age does not end it: a member may be switched off for months.
type Tombstones struct {
	by       sparse.Map[grid.NodeID, *originTombstones]
	origins  []*originTombstones // in the order in which they came
	count    int
	restored []grid.TombstoneRecord // until Start
}

// maxTombstones bounds the tombstones of a node: 6 MB of memory, as much on disk.
const maxTombstones = 65_536

// originTombstones are those of the jobs of one origin.
type originTombstones struct {
	origin grid.NodeID
	by     fifo.Map[nonce, tombstone] // after a start by the jobs' ends
}

type nonce = [len(grid.JobID{}.Nonce)]byte

// Key returns the origin.
func (o *originTombstones) Key() grid.NodeID { return o.origin }

// tombstone is what is left of a closed register: it votes for nobody and accepts nothing. The promised epoch makes no
// difference any more.
type tombstone struct {
	// the highest of the outcome's entries: an entry that was accepted in this or a later epoch is part of the outcome
	epoch     uint32
	tasks     uint32
	members   [8]byte // see membersHash
	cancelled bool    // the cancellation is part of the outcome
	opened    uint32  // times that the register was opened for a retry
}

// membersHash tells lists of members apart. It is a cryptographic one: who is not a member must not be able to make a
// list with the hash of the true one.
func membersHash(members []grid.NodeID) (h [8]byte) {
	sum := sha256.New()
	for i := range members {
		sum.Write(members[i][:])
	}
	copy(h[:], sum.Sum(nil))
	return h
}

// makeTombstone returns the tombstone of a register that is closed, or of which a member heard that it is.
func makeTombstone(r *Register) tombstone {
	t := tombstone{epoch: r.closedIn, tasks: r.Tasks(), members: membersHash(r.first), opened: r.state.Opened}
	if r.state.Done {
		t.cancelled, _ = r.Cancelled()
		for _, f := range r.Written() {
			t.epoch = max(t.epoch, f.Epoch)
		}
	}
	return t
}

// Answer returns the answer to an owner's write or a member's campaign, and completes it in a. An owner that tells that
// the job is closed tells nothing new.
func (t *tombstone) Answer(kind grid.Kind, g *grid.RegisterMessage, a *grid.RegisterMessage) {
	switch a.Opened = t.opened; {
	case g.Opened > t.opened: // it has promised and cannot say what: it takes no part in what follows
		a.Answer = grid.RegisterUnknown
		return
	case kind == grid.KindWriteAck && g.Done:
		a.Answer = grid.RegisterOK
		return
	}
	a.Answer, a.Epoch = grid.RegisterGone, t.epoch
	if t.cancelled && kind == grid.KindVote {
		a.Entries = append(a.Entries, grid.Entry{Index: t.tasks, Epoch: t.epoch})
	}
}

// find returns the tombstone of a job.
func (t *Tombstones) find(id grid.JobID) (tombstone, bool) {
	if o := t.by.Get(id.Origin); o != nil {
		if x := o.by.Get(id.Nonce); x != nil {
			return *x, true
		}
	}
	return tombstone{}, false
}

func (t *Tombstones) bury(id grid.JobID, x tombstone, ended int64, fx *grid.Effects) {
	t.add(id, x)
	rec := &fx.Save(grid.RecTombstone).Tombstone
	*rec = grid.TombstoneRecord{ID: id, Epoch: x.epoch, Tasks: x.tasks, Cancelled: x.cancelled, Members: x.members,
		Ended: ended, Opened: x.opened}
	t.trim(fx)
}

// trim removes the tombstones beyond the bound.
func (t *Tombstones) trim(fx *grid.Effects) {
	for t.count > maxTombstones {
		o := slices.MaxFunc(t.origins, func(a, b *originTombstones) int { return cmp.Compare(a.by.Len(), b.by.Len()) })
		oldest, _ := o.by.Oldest()
		t.drop(grid.JobID{Origin: o.origin, Nonce: oldest}, fx)
	}
}

func (t *Tombstones) add(id grid.JobID, x tombstone) {
	o := t.by.Get(id.Origin)
	if o == nil {
		o = &originTombstones{origin: id.Origin}
		t.by.Put(o)
		t.origins = append(t.origins, o)
	}
	if known := o.by.Get(id.Nonce); known != nil {
		*known = x
		return
	}
	o.by.Add(id.Nonce, x)
	t.count++
}

// drop removes a job's tombstone. That is quick for the oldest of its origin.
func (t *Tombstones) drop(id grid.JobID, fx *grid.Effects) {
	o := t.by.Get(id.Origin)
	o.by.Remove(id.Nonce)
	t.count--
	rec := fx.Save(grid.RecTombstone)
	rec.Delete, rec.Tombstone.ID = true, id
	if o.by.Len() == 0 {
		t.by.Drop(id.Origin)
		t.origins = slices.DeleteFunc(t.origins, func(x *originTombstones) bool { return x == o })
	}
}

// start takes the restored tombstones over, oldest first.
func (t *Tombstones) start() {
	slices.SortFunc(t.restored, func(a, b grid.TombstoneRecord) int {
		return cmp.Or(cmp.Compare(a.Ended, b.Ended), a.ID.Compare(b.ID))
	})
	for i := range t.restored {
		x := &t.restored[i]
		t.add(x.ID, tombstone{epoch: x.Epoch, tasks: x.Tasks, members: x.Members, cancelled: x.Cancelled, opened: x.Opened})
	}
	t.restored = nil
}

// Bury leaves the tombstone of a replica that this node is about to forget; ended is when its job ended, wall time in
// Unix nanoseconds. A register that this node alone has needs none: nobody else knows of it.
func (r *Replica) Bury(ended int64, fx *grid.Effects) {
	if !r.Sole() {
		r.of.tombstones.bury(r.id, makeTombstone(&r.Register), ended, fx)
	}
}

// RestoreTombstone takes a record of an earlier run.
func (s *Replicas) RestoreTombstone(r *grid.TombstoneRecord) {
	s.tombstones.restored = append(s.tombstones.restored, *r)
}

// Buried reports whether this node has evicted a job that is over.
func (s *Replicas) Buried(id grid.JobID) bool {
	_, found := s.tombstones.find(id)
	return found
}

// BuriedWith reports whether this node has evicted a job that is over and has these members.
func (s *Replicas) BuriedWith(id grid.JobID, members []grid.NodeID) bool {
	t, found := s.tombstones.find(id)
	return found && membersHash(members) == t.members
}

// BuriedFor reports whether there is a tombstone of a job of which there is no replica, and the answer to a register
// message about the job. A message that names other members than the tombstone gets the answer of a node that is no
// member: a forged replica may have left the tombstone. It is removed when the job's origin names other members.
func (s *Replicas) BuriedFor(from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) (grid.RegisterAnswer, bool) {
	t, found := s.tombstones.find(g.Job)
	switch {
	case !found:
		return 0, false
	case len(g.Members) == 0 || membersHash(g.Members) == t.members:
		return grid.RegisterGone, true
	case from != g.Job.Origin:
		return grid.RegisterUnknown, true
	}
	s.tombstones.drop(g.Job, fx)
	return 0, false
}

// Refuse answers a register message about a job of which there is no replica.
func (s *Replicas) Refuse(to grid.NodeID, kind grid.Kind, g *grid.RegisterMessage, a grid.RegisterAnswer,
	fx *grid.Effects) {
	m := answer(nil, to, kind, g, a, fx)
	if t, found := s.tombstones.find(g.Job); found && a == grid.RegisterGone {
		t.Answer(kind, g, m)
	}
}
