package replication

import "skep/grid"

// Registers that are opened again, closed or not, for tasks that are to be run again after a final end. What a member
// says of a close is said of the number of openings that it knows (RegisterState.Opened): of an earlier one it is void.
// Nothing else about a register depends on whether it is closed: an epoch has one owner before and after.

// Reopen opens a register for retries, as its owner.
func (r *Register) Reopen() {
	if r.ownership == nil {
		panic("register: its owner opens it")
	}
	r.open(r.state.Opened + 1)
	for k := range r.ownership.progress {
		r.ownership.progress[k].sentDone, r.ownership.progress[k].knowsDone = false, false
	}
}

// DecidedNow reports whether this member decided an entry as the owner, since it became that.
func (r *Register) DecidedNow(i uint32) bool {
	x := r.slots.Peek(i)
	return r.ownership != nil && x != nil && x.decidedNow
}

// openedElsewhere notes that another member has opened the register so often: what is known here of an earlier close is
// void.
func (r *Register) openedElsewhere(times uint32) {
	if times > r.state.Opened {
		r.open(times)
	}
}

// open opens the register.
func (r *Register) open(times uint32) {
	r.commitClosed()
	r.state.Opened, r.state.Done, r.closedIn = times, false, 0
}

// commitClosed marks what a closed register holds of tasks and the cancellation as committed, which it is. How what the
// job waits for has ended may be known to a minority: the job may have been cancelled before that was committed.
func (r *Register) commitClosed() {
	if !r.state.Done {
		return
	}
	for i, x := range r.slots.All() {
		if i <= r.tasks {
			x.committed = x.value != nil
		}
	}
}

// isLate reports whether a write of this member's owner tells of a close before the register was opened here: messages
// overtake each other, and the owner may not know of the opening. It says nothing about what the owner does now.
func (r *Register) isLate(g *grid.RegisterMessage) bool {
	return g.Done && g.Opened < r.state.Opened && g.Epoch == r.state.Epoch
}

// followOpened has the job follow that its register was opened, if it was closed before. The owner of a closed register
// holds no lease: its keepalives do not list it, and a member may have voted for another owner whoever answered them.
func (r *Replica) followOpened(now grid.Time, before *grid.RegisterState) {
	if before.Done && before.Opened < r.state.Opened {
		clear(r.acked)
		for place := range r.acceptedAt { // none, if this node alone has it
			r.acceptedAt[place] = now
		}
		r.trackAgain()
		r.of.changed(grid.RegisterReopened, r)
	}
}

// trackAgain has a replica take part again of which nothing was left to do.
func (r *Replica) trackAgain() {
	if r.closeNotices = 0; r.retired {
		r.of.track(r)
	}
}

// Reopen opens the register again for retries of tasks, closed or not. The owner goes on in its epoch, also one that
// was restarted since. Another member takes part from now on in what has no owner yet, and is to campaign.
func (r *Replica) Reopen(now grid.Time, fx *grid.Effects) {
	before := r.state
	if r.commitClosed(); !r.IsOwner() && r.state.Owner == r.of.cfg.Self {
		r.BecomeOwner(r.of.nextTerm())
	}
	if r.IsOwner() {
		r.Register.Reopen()
		if r.Sole() { // of a closed register nothing was resumed, though it may have been here before this start
			r.heard.restored = true
		}
		r.MarkDirty()
	} else { // the owner may be alive and have no part in what is open again
		r.open(r.state.Opened + 1)
		r.unlisted, r.campaignAt = true, now
	}
	r.Save(fx)
	r.followOpened(now, &before)
}

// Connected says whether a node that is connected now may be told of registers that were opened again
// (grid.FeatureRetries). Of those no other node hears: it would take an entry for final that has been succeeded.
func (s *Replicas) Connected(id grid.NodeID, reopens bool) {
	if delete(s.outdated, id); reopens {
		return
	}
	if s.outdated == nil {
		s.outdated = make(map[grid.NodeID]bool)
	}
	s.outdated[id] = true
}

// Disconnected forgets what Connected said.
func (s *Replicas) Disconnected(id grid.NodeID) { delete(s.outdated, id) }

// mayTell reports whether another member may hear of the register.
func (r *Replica) mayTell(id grid.NodeID) bool { return r.state.Opened == 0 || !r.of.outdated[id] }
