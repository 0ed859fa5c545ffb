package oracle

import (
	"time"

	"skep/grid"
)

// Gangs: all or none. No rank starts before all ranks of its attempt were accepted somewhere; no rank starts with a
// newer attempt once the end of a rank is final. That ranks of an older attempt still run beside those of a newer one
// is not checked: like a single task, a rank goes on at a worker that its owner cannot reach, until it hears of it
// again. A worker gives slots that it keeps for a gang back when their time is over.

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
	ranks := int32(j.spec.Gang.RanksOf(a))
	if k-j.first >= ranks {
		b.fail(i, "starts attempt %v of %s, which has %d ranks", a, b.taskName(k), ranks)
	}
	for x := range ranks {
		if !b.gangs.accepted[taskAttempt{j.first + x, a}] {
			b.fail(i, "starts attempt %v of %s, and %s has no place", a, b.taskName(k), b.taskName(j.first+x))
		}
	}
	if ended, is := b.gangs.ended[n]; is && ended.Less(a) && ended != (grid.Attempt{}) {
		b.fail(i, "starts attempt %v of %s, and a rank has ended with attempt %v", a, b.taskName(k), ended)
	}
}

// longestReserved is the longest time to live of slots that are kept for a gang.
const longestReserved = 10 * time.Second

// checkReserved checks that a node that has taken a step keeps no slots for gangs longer than their time to live.
func (b *Books) checkReserved(i int32) {
	m, ok := b.machines[i].member.(interface {
		Reserved() (cores grid.MilliCPU, first, last grid.Time)
	})
	if !ok {
		return
	}
	now := b.world.Clock(i)
	_, first, last := m.Reserved()
	if last != grid.Never && last > now.Add(longestReserved) {
		b.fail(i, "keeps slots for a gang for another %v: want at most %v", last.Sub(now), longestReserved)
	}
	if first <= now {
		b.fail(i, "keeps slots for a gang, %v after their time was over", now.Sub(first))
	}
}

// noteReserved notes how many cores a node that has taken a step keeps for gangs: they count as busy.
func (b *Books) noteReserved(i int32) {
	x := &b.machines[i]
	m, ok := x.member.(interface {
		Reserved() (cores grid.MilliCPU, first, last grid.Time)
	})
	if b.hindsight == nil || !ok {
		return
	}
	if cores, _, _ := m.Reserved(); cores != x.reserved {
		x.reserved = cores
		b.hindsight.note(b.world.Time(), nodeReserved, i, 0, cores.Cores())
	}
}
