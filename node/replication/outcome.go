package replication

import (
	"time"

	"skep/grid"
)

// How a member learns the outcome of a job that others have closed.
//
// A closed register sends all of its entries: they are the outcome. A tombstone (RegisterGone) has no entries, only the
// highest epoch E of the outcome's. Its receiver is no owner any more and never becomes one: it places and runs
// nothing. It goes on asking the other members, and takes from them and from itself
//
//   - an entry that was accepted in E or later: a value that was committed up to E is that of every later epoch;
//   - once a majority has answered with its entries, of each the one of the highest epoch: as a new owner would.
//     Members with a tombstone do not count, so one of this majority has each committed entry.
//
// If an entry is missing then, the job was never closed, and who said so has lied or has lost what it knew: the votes
// count as if it had not answered.
//
// With all entries the job is closed here too. If each other member has answered and something is missing, no member
// has it any more; and after outcomeWait it is given up, although a member that did not answer may have it. The job is
// then forgotten as if it had been evicted here.

// outcomeWait is how long a member waits for members that may have an outcome: overnight, and the next day.
const outcomeWait = 36 * time.Hour

// heardClosed takes the answer of a member's tombstone.
func (r *Register) heardClosed(v *vote, g *grid.RegisterMessage, seq uint64) Outcome {
	if r.closedIn == 0 || g.Epoch < r.closedIn {
		r.closedIn = max(g.Epoch, 1)
	}
	r.depose()
	v.answer, v.complete = g.Answer, true
	r.campaign.merge(g.Entries)
	return r.collectOutcome(seq)
}

// collectOutcome closes the register if all entries of the outcome are known.
func (r *Register) collectOutcome(seq uint64) Outcome {
	granted, answered := uint8(0), 1
	for place, v := range r.campaign.votes {
		if v.complete && v.answer == grid.RegisterOK {
			granted |= 1 << place
		}
		if v.complete || v.answer == grid.RegisterUnknown {
			answered++
		}
	}
	known, final := true, true
	for i := range r.Tasks() {
		f := r.newest(i)
		ended := f != nil && !f.Open() // a closed job has no open entry
		known = known && ended
		final = final && ended && f.Epoch >= r.closedIn
	}
	switch {
	case final || known && r.decides(granted):
	case r.decides(granted): // the tombstone is none
		r.closedIn = 0
		return r.countVotes(seq)
	case answered == len(r.seats.Places()):
		return CampaignGone
	default:
		return CampaignOpen
	}
	for i := range r.Tasks() + 1 {
		if f := r.newest(i); f != nil {
			r.set(i, slot{value: f, committed: true})
		}
	}
	r.close(r.closedIn)
	return CampaignDone
}

// newest returns the entry of the highest epoch, of this member's and the voters'; nil = none has it.
func (r *Register) newest(i uint32) *grid.Entry {
	own, _ := r.Value(i)
	if x := r.campaign.entries.Peek(i); x != nil && *x != nil && (own == nil || own.OlderThan((*x).Epoch, (*x).Round)) {
		return *x
	}
	return own
}

// learnOutcome takes over the outcome that a member knows to be committed. All of it is of one epoch, the highest. A
// member that does not have all of it knows none.
func (r *Register) learnOutcome(v *vote, seq uint64) Outcome {
	for i := range r.Tasks() {
		if f := r.newest(i); f == nil || f.Open() { // a closed job has all of them
			v.answer = grid.RegisterUnknown
			return r.countVotes(seq)
		}
	}
	r.state.Opened = max(r.state.Opened, r.campaign.opened)
	highest := uint32(0)
	for i, f := range r.campaign.entries.All() {
		if *f != nil {
			r.set(i, slot{value: *f, committed: true})
			highest = max(highest, (*f).Epoch)
		}
	}
	r.close(highest)
	return CampaignDone
}

// close closes the register with an outcome of that epoch.
func (r *Register) close(epoch uint32) {
	r.dropCancellation(epoch)
	r.depose()
	r.campaign, r.state.Done = nil, true
}

// AwaitsOutcome reports whether this member has heard that the job is closed, and not how it ended.
func (r *Register) AwaitsOutcome() bool { return r.closedIn > 0 && !r.state.Done }

// givesUpOutcome reports whether this member has waited for an outcome for long enough.
func (r *Replica) givesUpOutcome(now grid.Time) bool {
	if !r.AwaitsOutcome() {
		return false
	}
	if r.goneSince == 0 {
		r.goneSince = max(now, 1)
	}
	return now >= r.goneSince.Add(outcomeWait)
}
