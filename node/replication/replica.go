package replication

import (
	"slices"
	"time"

	"skep/grid"
)

// Replica is this node's copy of a job's register, with what it knows of the register's owner and, as the owner, of the
// other members.
type Replica struct {
	Register
	of        *Replicas
	id        grid.JobID
	spec      *grid.JobSpec
	submitted int64 // wall time, Unix nanoseconds

	inputsHeld bool // the job's inputs are stored here, though it was submitted elsewhere

	knownOwner
	ownerTimers
	heard       heard
	replacement replacement

	dirty   bool // in Replicas.dirty
	retired bool // nothing is left to do: removed from Replicas.open
}

// knownOwner is what a member knows of the register's owner.
type knownOwner struct {
	owner             grid.NodeID // as far as known here
	ownerEpoch        uint32      // of owner
	ownerSince        int64       // wall time, Unix nanoseconds
	promisedElsewhere uint32      // highest epoch that any member reported to have promised
	unlisted          bool        // its owner is alive and no longer lists the job in its keepalives
	lastWrite         grid.Time   // when the owner's last write was answered
	campaignAt        grid.Time   // earliest time of this member's next campaign
	campaignBegan     grid.Time   // when its latest campaign began
	// newest claim of a member that says it is the owner and has not written to this node
	rival        grid.OwnerClaim
	rivalChecked grid.Time // when keepalives were last sent because of a claim
	goneSince    grid.Time // since when this member waits for an outcome: see outcome.go; 0 = it does not
}

// ownerTimers are the owner's times of its writes to the other members, by place.
type ownerTimers struct {
	acked        []grid.Time // send time of the last answered write of this epoch
	acceptedAt   []grid.Time // since when the member is known to have accepted this epoch
	writeSent    []grid.Time // first send time of the write under way; 0 = none
	ledSince     grid.Time   // since when this node owns the register, or was started as its owner
	closeNotices int         // number of times that the close was sent to the members
}

// Job returns the ID of the register's job.
func (r *Replica) Job() grid.JobID { return r.id }

// Owner returns the owner of the newest epoch known here, that epoch, and since when it is known: wall time in Unix
// nanoseconds.
func (r *Replica) Owner() (owner grid.NodeID, epoch uint32, since int64) {
	return r.owner, r.ownerEpoch, r.ownerSince
}

// Leads reports whether this node owns the register and the job is not closed.
func (r *Replica) Leads() bool { return r.IsOwner() && !r.State().Done }

// Follows reports whether this node is a member that has accepted that owner's epoch and promised no higher one.
func (r *Replica) Follows(owner grid.NodeID) bool {
	s := r.State()
	return !s.Done && !r.Replaced() && s.Owner == owner && s.Promised == s.Epoch && r.owner == owner
}

// successionRank is the number of members that come before this one if the owner is gone.
func (r *Replica) successionRank() int {
	k := len(r.seats.Members())
	return (r.self - r.Place(r.owner) - 1 + 2*k) % k
}

// describe adds the job's description to a message, for a member that may not know the job. wall is the time now.
func (r *Replica) describe(wall int64, g *grid.RegisterMessage) {
	g.Spec, g.Members, g.Genesis = r.spec, append(g.Members[:0], r.first...), r.state.Genesis
	g.Age = time.Duration(max(wall-r.submitted, 0))
}

// ConvertTimes converts the wall times of entries to ages, and back: no absolute time goes over the wire.
func ConvertTimes(wall int64, entries []grid.Entry) {
	convert := func(t *int64) {
		if *t != 0 {
			*t = max(wall-*t, 1)
		}
	}
	for k := range entries {
		e := &entries[k]
		convert(&e.Placed)
		convert(&e.Began)
		convert(&e.Done)
		e.Failures = slices.Clone(e.Failures) // the register's own are not changed
		for i := range e.Failures {
			convert(&e.Failures[i].Done)
		}
	}
}
