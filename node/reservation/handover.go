package reservation

import "skep/grid"

// Owners whose gangs stand in line are told when it is time to ask for slots that become free: when the gang before has
// started, or has ended. They would ask after a random pause else, and the slots would have gone to queued tasks by
// then. They are not told as soon as it has used its slots here: others may not be used yet elsewhere, which an older
// gang would take from it. The first in line is told too when a younger gang begins to fill: so it takes that one's
// slots before there are many, and not in the end, when all that the younger one has waited for would be lost.
//
// What is told is a hint: no slot is kept for a gang before it asks, and it may ask elsewhere.

// maxTold is the number of owners that are told of one hand-over. More would learn sooner that an older gang asks too.
const maxTold = 4

// PassOn records that all ranks that a gang has here have started, or have ended, or that nothing is kept any more.
func (t *Table) PassOn() { t.passed = true }

// HandsOver reports whether those in line are to be told now: while slots are kept they wait.
func (t *Table) HandsOver() bool { return t.passed && len(t.kept) == 0 }

// HandOver tells those in line that may have slots.
func (t *Table) HandOver(now grid.Time, fx *grid.Effects) {
	t.passed = false
	for _, k := range t.inLine(now) {
		t.tell(k, fx)
	}
}

// overtaken tells the first gang in line, if it is older than one that begins to fill.
func (t *Table) overtaken(now grid.Time, by *kept, fx *grid.Effects) {
	if line := t.inLine(now); len(line) > 0 && line[0].before(by) {
		t.tell(line[0], fx)
	}
}

func (t *Table) tell(k *kept, fx *grid.Effects) {
	t.answer(k, grid.Refusal{Why: grid.WhyHandOver}, grid.JobID{}, 0, fx)
}

// inLine returns the first gang in line of each owner that may have later slots now, the first of all first, maxTold at
// most.
func (t *Table) inLine(now grid.Time) (line []*kept) {
	for _, o := range t.owners {
		if why, _ := t.refuses(now, o, true); why != grid.WhyNone {
			continue
		}
		first := -1
		for i := range o.line {
			if w := &o.line[i]; now.Sub(w.asked) < toldFor && (first < 0 || w.before(&o.line[first])) {
				first = i
			}
		}
		if first < 0 {
			continue
		}
		w := &o.line[first]
		line = append(line, &kept{owner: o.id, ask: w.ask, came: w.came})
		for i := len(line) - 1; i > 0 && line[i].before(line[i-1]); i-- { // before is no strict order: nothing sorts by it
			line[i], line[i-1] = line[i-1], line[i]
		}
		line = line[:min(len(line), maxTold)]
	}
	return line
}
