package reservation

import (
	"slices"
	"time"

	"skep/grid"
)

// Bounds of a worker's reservations.
const (
	MaxTTL = 10 * time.Second // of a reservation, whatever is asked for
	minTTL = 100 * time.Millisecond

	maxOwners  = 256 // nodes that asked of which something is remembered
	maxInLine  = 32  // gangs of each
	longInLine = 10 * time.Minute
	wantsFor   = 10 * time.Second       // a gang that asked wants slots for so long
	toldFor    = 30 * time.Second       // and is told so long of slots that are handed over
	minRest    = 100 * time.Millisecond // after slots that were kept in vain
	maxDoubled = 7                      // times, until it is as long as a time to live

	maxAge   = 24 * time.Hour         // that an owner can say of a gang
	sameTime = 500 * time.Millisecond // gangs that came within it are in the order of their jobs' identities
)

// Ledger is the resources of the machine.
type Ledger interface {
	Free() grid.Resources
	Capacity() grid.Resources
	Hold(slot grid.Resources) bool
	Unhold(slot grid.Resources)
}

// kept is the slots that are kept for a gang. Invariants: held + used <= ranks; they are equal unless it fills; of what
// fills nothing is used.
type kept struct {
	owner grid.NodeID
	ask   grid.Reserve // the newest
	came  grid.Time    // when the gang was submitted, as its owner said when it was first heard of
	since grid.Time
	until grid.Time
	held  uint32 // slots taken in the ledger
	used  uint32 // slots that ranks took over
	wound bool   // it has taken slots of a younger gang
}

// fills reports whether it gets slots as they become free.
func (k *kept) fills() bool { return k.held+k.used < k.ask.Ranks }

// before reports whether a goes first. Questions take a different time to each worker, and all must agree on the order:
// where they do not, each of two gangs takes slots of the other one somewhere, and neither gets all.
//
// Of three gangs that came 400 ms after one another each may so go before the next, and the last before the first. They
// can wound each other in turn then, but not wait for each other: owners hold nothing while they wait, slots that are
// asked for later end with the time to live, and the pauses between questions are random.
func (a *kept) before(b *kept) bool { return goesFirst(a.came, &a.ask.Job, b.came, &b.ask.Job) }

func goesFirst(came grid.Time, job *grid.JobID, came2 grid.Time, job2 *grid.JobID) bool {
	if d := came.Sub(came2); d.Abs() > sameTime {
		return d < 0
	}
	return job.Compare(*job2) < 0
}

// Table is the reservations at a worker. The zero value is empty; On gives it its ledger.
type Table struct {
	ledger Ledger
	kept   []*kept // in line: each was put before the first that it goes before
	owners []*owner
	passed bool // it is the next gang's turn, and those in line are not told yet
}

// On returns the table with the ledger that it takes slots from.
func (t *Table) On(l Ledger) *Table {
	t.ledger = l
	return t
}

// Asked answers an owner that asks for slots, or releases those that it has.
func (t *Table) Asked(now grid.Time, from grid.NodeID, q *grid.Reserve, workWaits bool, fx *grid.Effects) {
	t.Expire(now)
	at := t.find(from, q.Job)
	if q.Ranks == 0 {
		if at >= 0 && !earlier(q, &t.kept[at].ask) && t.kept[at].used == 0 {
			t.remove(now, at)
		}
		return
	}
	switch {
	case at < 0:
	case t.kept[at].ask.Round == q.Round: // the answer was lost
		if k := t.kept[at]; !k.fills() {
			t.answer(k, grid.Refusal{}, grid.JobID{}, k.ask.Ranks, fx)
		}
		return
	case earlier(q, &t.kept[at].ask) || t.kept[at].used > 0:
		return
	default:
		t.remove(now, at)
	}
	o := t.owner(from)
	ttl := min(max(q.TTL, minTTL), MaxTTL)
	k := &kept{owner: from, ask: *q, came: o.inLine(now, q), since: now, until: now.Add(ttl)}
	why, holder := t.refuses(now, o, workWaits || q.Later)
	if why == grid.WhyNone {
		why, holder = t.keep(now, k, fx)
	}
	switch {
	case why != grid.WhyNone:
		could := t.ledger.Free().Slots(q.Needs, int(q.Ranks))
		t.answer(k, grid.Refusal{Why: why}, holder, uint32(could), fx)
	case !k.fills():
		t.answer(k, grid.Refusal{}, grid.JobID{}, q.Ranks, fx)
	default:
		t.overtaken(now, k, fx)
	}
}

// earlier reports whether a question of an owner was made before another one. Numbers of rounds wrap around.
func earlier(a, b *grid.Reserve) bool { return int32(a.Round-b.Round) < 0 }

// refuses returns why an owner gets no slots, however many are free, and the gang that it has them for.
//
// Slots that become free are refused during a rest whoever wants some: tasks that wait at other nodes may, and this
// worker does not know of them.
func (t *Table) refuses(now grid.Time, o *owner, othersWant bool) (grid.Why, grid.JobID) {
	for _, x := range t.kept {
		if x.owner == o.id {
			return grid.WhyShare, x.ask.Job
		}
	}
	if now < o.restUntil && (othersWant || t.wantedBy(now, o.id)) {
		return grid.WhyShare, grid.JobID{}
	}
	return grid.WhyNone, grid.JobID{}
}

// keep keeps the slots that are asked for, if they are free, or are once younger gangs have given theirs; it returns
// why not, and who holds them.
func (t *Table) keep(now grid.Time, k *kept, fx *grid.Effects) (grid.Why, grid.JobID) {
	room, need, most := t.ledger.Free(), k.ask.Needs, int(k.ask.Ranks)
	fits := func() bool { return room.Slots(need, most) == most }
	victims := 0
	for i := len(t.kept) - 1; i >= 0 && !fits() && k.before(t.kept[i]); i-- {
		if x := t.kept[i]; x.used == 0 {
			for range x.held {
				room = room.Plus(x.ask.Needs)
			}
			victims++
		}
	}
	older := slices.IndexFunc(t.kept, func(x *kept) bool { return x.before(k) })
	later := k.ask.Later && t.ledger.Capacity().Slots(need, most) == most
	switch {
	case fits() || later && (older < 0 || !t.kept[older].fills()):
	case older >= 0:
		return grid.WhyReserved, t.kept[older].ask.Job
	default:
		return grid.WhyBusy, grid.JobID{}
	}
	for i := len(t.kept) - 1; i >= 0 && victims > 0; i-- {
		if x := t.kept[i]; x.used == 0 {
			t.giveBack(i)
			k.wound = true
			t.answer(x, grid.Refusal{Why: grid.WhyWounded}, k.ask.Job, 0, fx)
			victims--
		}
	}
	at := slices.IndexFunc(t.kept, k.before)
	if at < 0 {
		at = len(t.kept)
	}
	t.kept = slices.Insert(t.kept, at, k)
	t.fill(k)
	return grid.WhyNone, grid.JobID{}
}

// fill takes what is free for a gang, and reports whether it has all then.
func (t *Table) fill(k *kept) bool {
	for k.held < k.ask.Ranks && t.ledger.Hold(k.ask.Needs) {
		k.held++
	}
	return !k.fills()
}

// Fill gives slots that have become free to the gangs that wait for some, in line, and tells the owners of those that
// have all.
func (t *Table) Fill(fx *grid.Effects) {
	for _, k := range t.kept {
		if k.fills() && t.fill(k) {
			t.answer(k, grid.Refusal{}, grid.JobID{}, k.ask.Ranks, fx)
		}
	}
}

// Take has an offered rank take over a slot of just its needs that is kept for it, and reports whether there is one.
func (t *Table) Take(now grid.Time, from grid.NodeID, id grid.AttemptID, needs grid.Resources) bool {
	t.Expire(now)
	at := t.find(from, id.Task.Job)
	if at < 0 || t.kept[at].ask.Attempt != id.Attempt || t.kept[at].ask.Needs != needs || t.kept[at].fills() {
		return false
	}
	k := t.kept[at]
	k.held--
	if k.used++; k.held == 0 {
		t.kept = slices.Delete(t.kept, at, at+1)
		t.owner(from).forget(id.Task.Job)
	}
	return true
}

// Cores is how many cores the slots have together that are taken in the ledger.
func (t *Table) Cores() (sum grid.MilliCPU) {
	for _, k := range t.kept {
		sum += grid.MilliCPU(k.held) * k.ask.Needs.CPU
	}
	return sum
}

// Len is the number of gangs for which slots are kept.
func (t *Table) Len() int { return len(t.kept) }

// giveBack gives a gang's slots back.
func (t *Table) giveBack(at int) {
	k := t.kept[at]
	for ; k.held > 0; k.held-- {
		t.ledger.Unhold(k.ask.Needs)
	}
	t.kept = slices.Delete(t.kept, at, at+1)
}

// remove gives the slots of a gang back that it has released or not used in time. Its owner rests if it had them in
// vain. One that is wounded may ask again at once: who wounds it keeps the slots, and it comes next.
func (t *Table) remove(now grid.Time, at int) {
	k := t.kept[at]
	t.giveBack(at)
	if k.used == 0 {
		t.owner(k.owner).rest(now, k)
	}
	if len(t.kept) == 0 {
		t.PassOn()
	}
}

// answer tells the owner of a gang what became of its question.
func (t *Table) answer(k *kept, why grid.Refusal, holder grid.JobID, ranks uint32, fx *grid.Effects) {
	fx.Send(k.owner, grid.KindReserveAck).Reserve = &grid.Reserve{Job: k.ask.Job, Attempt: k.ask.Attempt,
		Round: k.ask.Round, Ranks: ranks, Needs: k.ask.Needs, Refusal: why, Holder: holder}
}
