package oracle

import "skep/grid"

// Gangs: all or none. No rank starts before all ranks of its attempt were accepted somewhere; no rank starts with a
// newer attempt once the end of a rank is final. That ranks of an older attempt still run beside those of a newer one
// is not checked: like a single task, a rank goes on at a worker that its owner cannot reach, until it hears of it
// again.

// gangs are the ranks that were accepted, and the final ends. The maps are allocated on first use and never iterated.
type gangs struct {
	accepted map[taskAttempt]bool
	ended    map[int32]grid.Attempt // by job: the attempt of a rank's final end
}

// noteRank notes that a node has accepted a rank.
func (b *Books) noteRank(k int32, a grid.Attempt) {
	if !b.jobs[b.tasks[k].job].spec.IsGang() {
		return
	}
	if b.gangs.accepted == nil {
		b.gangs.accepted = make(map[taskAttempt]bool)
	}
	b.gangs.accepted[taskAttempt{k, a}] = true
}

// noteRankEnded notes that the end of a rank is final.
func (b *Books) noteRankEnded(n int32, a grid.Attempt) {
	if b.jobs[n].spec.IsGang() {
		if b.gangs.ended == nil {
			b.gangs.ended = make(map[int32]grid.Attempt)
		}
		b.gangs.ended[n] = a
	}
}

// checkGang checks the start of a rank.
func (b *Books) checkGang(i, k int32, a grid.Attempt) {
	n := b.tasks[k].job
	j := &b.jobs[n]
	if !j.spec.IsGang() {
		return
	}
	for x := range j.count {
		if !b.gangs.accepted[taskAttempt{j.first + x, a}] {
			b.fail(i, "starts attempt %v of %s, and %s has no place", a, b.taskName(k), b.taskName(j.first+x))
		}
	}
	if ended, is := b.gangs.ended[n]; is && ended.Less(a) && ended != (grid.Attempt{}) {
		b.fail(i, "starts attempt %v of %s, and a rank has ended with attempt %v", a, b.taskName(k), ended)
	}
}
