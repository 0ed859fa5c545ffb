package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"skep/grid"
)

// Which checkpoints of an earlier owner a new one believes in. A member that tells of one may have made it up, and the
// task would go on from what it names. So it counts only if this node, as a member, was asked by an owner to keep the
// same, if two members tell the same, or if the workers of the attempt do: they have written it.

// name tells a set from any other of the task, its files among them.
type name struct {
	by   grid.Attempt
	step uint64
	sum  [sha256.Size]byte
}

func (x *set) name() name {
	h := sha256.New()
	var b [9]byte
	for i := range x.files {
		f := &x.files[i]
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(f.Path))))
		h.Write([]byte(f.Path))
		h.Write(f.Blob[:])
		binary.BigEndian.PutUint64(b[:], uint64(f.Size))
		if b[8] = 0; f.Exec {
			b[8] = 1
		}
		h.Write(b[:])
	}
	for _, share := range x.shares { // without any it is the name that earlier versions give
		h.Write(binary.BigEndian.AppendUint32(nil, share))
	}
	return name{x.by, x.step, [sha256.Size]byte(h.Sum(nil))}
}

// Bounds of what is remembered: sets that owners have named, of all and of one owner, and tasks of which members tell.
const (
	maxNamed      = 4096
	maxNamedByOne = 512
	maxClaimed    = 4096
)

// witness remembers the newest set of each task that an owner has asked this node to keep, whether it keeps it or not.
// Invariant: at most one of a task, maxNamed in all and maxNamedByOne of an owner; the oldest go. A restart forgets
// all.
type witness struct {
	list []named // oldest first
}

type named struct {
	owner grid.NodeID
	task  grid.TaskID
	name  name
}

// saw remembers what an owner has named.
func (w *witness) saw(owner grid.NodeID, task grid.TaskID, x name) {
	w.forget(task)
	oldest, count := 0, 0 // of the owner
	for i, n := range slices.Backward(w.list) {
		if n.owner == owner {
			oldest, count = i, count+1
		}
	}
	switch {
	case count >= maxNamedByOne:
		w.list = slices.Delete(w.list, oldest, oldest+1)
	case len(w.list) >= maxNamed:
		w.list = slices.Delete(w.list, 0, 1)
	}
	w.list = append(w.list, named{owner, task, x})
}

// has reports whether an owner has named that set.
func (w *witness) has(task grid.TaskID, x name) bool {
	return slices.ContainsFunc(w.list, func(n named) bool { return n.task == task && n.name == x })
}

// forget forgets what was named of a task.
func (w *witness) forget(task grid.TaskID) {
	w.list = slices.DeleteFunc(w.list, func(n named) bool { return n.task == task })
}

// claims are what members tell an owner of what earlier ones have had them keep: the last of each.
type claims []claim

type claim struct {
	from grid.NodeID
	name name
}

// tell takes what a member tells, and reports whether another one tells the same.
func (c *claims) tell(from grid.NodeID, x name) bool {
	at := slices.IndexFunc(*c, func(o claim) bool { return o.from == from })
	if at < 0 {
		at, *c = len(*c), append(*c, claim{from: from})
	}
	(*c)[at].name = x
	return slices.ContainsFunc(*c, func(o claim) bool { return o.from != from && o.name == x })
}

// believes reports whether what a member tells of an earlier owner's checkpoint counts.
func (s *Store) believes(u *unit, from grid.NodeID, x *set) bool {
	is := x.name()
	if s.witness.has(u.id, is) {
		return true
	}
	if len(u.claims) == 0 {
		if s.claimed >= maxClaimed {
			return false
		}
		s.claimed++
	}
	return u.claims.tell(from, is)
}

// early reports whether this node, as the owner, has made no attempt of a task yet, so that what was kept for earlier
// owners counts, and is not busy with another checkpoint.
func (s *Store) early(u *unit, j *Job, jobs Jobs) bool {
	return jobs.Newest(u.id).Epoch < j.Since && u.given.Epoch < j.Since && u.coming.step == 0 &&
		(u.gather == nil || u.gather.step == 0)
}

// vouched takes from a worker which files of its rank an earlier owner has called usable. When all ranks of the attempt
// have said so of one step, that is what the members keep.
func (s *Store) vouched(u *unit, r *rank, number int, x *grid.Checkpoint, j *Job, jobs Jobs,
	fx *grid.Effects) {
	files, ok := ofRank(number, x.Files)
	if ok = ok && len(x.Shares) <= 1; ok {
		r.sure = set{u.gather.attempt, x.Step, files, x.Shares}
	}
	want := set{by: u.gather.attempt, step: x.Step}
	var workers []grid.NodeID
	for i := range u.gather.ranks {
		r := &u.gather.ranks[i]
		if r.sure.step != x.Step {
			return
		}
		want.files, want.shares = append(want.files, r.sure.files...), append(want.shares, r.sure.shares...)
		workers = append(workers, r.worker)
	}
	if len(want.shares) != len(u.gather.ranks) {
		want.shares = nil
	}
	if !ok || len(want.files) == 0 || len(want.files) > grid.MaxCheckpointFiles || u.gather.vouched >= maxTries ||
		!u.kept.newer(want.by, want.step) || !s.early(u, j, jobs) ||
		s.admit(u, &want, u.id.Job.Origin).Why != grid.WhyNone {
		return
	}
	s.unclaim(u)
	u.gather.vouched++
	u.coming = want
	u.fetch(&want, r.worker, slices.Concat(j.Members, workers), fx)
}

// unclaim forgets what members have told.
func (s *Store) unclaim(u *unit) {
	if len(u.claims) > 0 {
		u.claims = nil
		s.claimed--
	}
}
