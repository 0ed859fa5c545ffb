package balance

import (
	"math"

	"skep/grid"
)

// decider is what the policies that weigh nodes have in common: what is known of the nodes, what was
// placed on them lately, and the rules for asking and for choosing.
type decider struct {
	cfg    *Config
	rand   *grid.Rand
	rates  rates
	debits debits

	// The last task that there was nobody to ask for: only then is there nothing left but to wait.
	lonely grid.AttemptID
	alone  bool

	// What the last choice expected of the task alone, for a debit where no rate is known. Seconds.
	expected float64

	scores []float64
	picked []int32 // positions in the view
	marks  []bool
}

// Note keeps rates and placements.
func (d *decider) Note(o Outcome) {
	switch o.Kind {
	case Rates:
		d.rates.put(o.Node, o.Rates, o.Slots)
	case Gone:
		if j, ok := d.rates.lookup(&o.Node); ok {
			d.debits.drop(j)
			d.rates.remove(o.Node)
		}
	case Placed:
		if d.cfg.Debit {
			j := d.known(o)
			d.debits.add(j, o.At, d.cost(j, o.Class))
		}
	case Refused:
		// The charge moves to the time of the refusal: the node had less room than it had said, and
		// only what it says from now on may clear that.
		if j, ok := d.rates.lookup(&o.Node); ok && d.cfg.Debit {
			cost := d.cost(j, o.Class)
			d.debits.newest(j, cost)
			d.debits.add(j, o.At, cost)
		}
	case Finished:
		if j, ok := d.rates.lookup(&o.Node); ok && d.cfg.Debit {
			d.debits.oldest(j, d.cost(j, o.Class))
		}
	}
}

// known returns the index of a node that a task was placed on. Nodes without rates are kept only while
// they are charged: nobody need ever say that they are gone.
func (d *decider) known(o Outcome) int32 {
	if j, ok := d.rates.lookup(&o.Node); ok {
		return j
	}
	for j := range d.rates.ids {
		if j := int32(j); d.rates.live[j] && !d.rates.rated[j] && d.debits.quiet(j, o.At) {
			d.debits.drop(j)
			d.rates.remove(d.rates.ids[j])
		}
	}
	return d.rates.add(o.Node)
}

// cost is by how much a task of a class puts off what comes after it on a node, 1/(mu·slots) seconds.
func (d *decider) cost(j int32, class string) float64 {
	slots := max(d.rates.slots[j], leastSlots)
	if mu, _ := d.rates.execution(j, d.rates.wanted(class)); mu > 0 {
		return 1 / (mu * slots)
	}
	return d.expected / slots
}

// slotsOf is the part of a node that tasks like the one at hand may have, in cores; 1 if that is not known.
func (d *decider) slotsOf(s *State) float64 {
	slots := 1.0
	if j, ok := d.rates.lookup(&s.Node); ok && d.rates.rated[j] {
		slots = max(d.rates.slots[j], leastSlots)
	}
	if s.Most > 0 {
		slots = min(slots, s.Most)
	}
	return slots
}

// charge is what was placed on a node and cannot be in what it said: since then, or less than a round
// trip before. Seconds. Without a round trip, what was placed at the very moment counts as said.
func (d *decider) charge(now grid.Time, s *State) float64 {
	if !d.cfg.Debit {
		return 0
	}
	j, ok := d.rates.lookup(&s.Node)
	if !ok {
		return 0
	}
	return d.debits.since(j, before(s.Heard, s.RTT), now)
}

// meet looks at a view before a task's nodes are picked. It reports whether there is anybody at all.
func (d *decider) meet(t *grid.Task, v View) bool {
	d.alone = len(v.Nodes) == 0
	if d.alone {
		d.lonely = t.ID
	}
	d.scores, d.picked = d.scores[:0], d.picked[:0]
	return !d.alone
}

// soonest chooses the answer with the earliest expected completion.
func (d *decider) soonest(now grid.Time, t *grid.Task, answers []State) Choice {
	if !d.cfg.Debit && d.cfg.NearTie == 0 {
		x := d.place(t, answers, earliest(answers, d.ties()))
		x.Tied = 1
		return x
	}
	d.scores = d.scores[:0]
	for k := range answers {
		s := &answers[k]
		d.scores = append(d.scores, sound(s.ECT)+d.charge(now, s))
	}
	k, tied := drawTied(d.scores, d.cfg.NearTie, d.ties())
	x := d.place(t, answers, k)
	x.Tied = int32(tied)
	return x
}

// Charge implements [Charger].
func (d *decider) Charge(now grid.Time, s *State) float64 { return d.charge(now, s) }

// ties is what equal ones are drawn by; nil to take the first.
func (d *decider) ties() *grid.Rand {
	if d.cfg.FirstTie {
		return nil
	}
	return d.rand
}

// place turns the index of an answer into a choice; −1 asks further nodes, or waits where there are none.
func (d *decider) place(t *grid.Task, answers []State, k int) Choice {
	if k < 0 {
		if d.alone && d.lonely == t.ID {
			return Choice{Act: Wait}
		}
		return Choice{Act: PollMore}
	}
	s := &answers[k]
	d.expected = execution(s)
	return Choice{Act: Place, Node: s.Node, ECT: s.ECT}
}

// execution is the time that a node expects of the task alone, seconds; 0 where it says nothing of use.
func execution(s *State) float64 {
	e := s.ECT - s.Ready
	if !(e > 0) || math.IsInf(e, 1) {
		return 0
	}
	return e
}

// leastSlots keeps a node without capacity from being infinitely slow.
const leastSlots = 1e-3
