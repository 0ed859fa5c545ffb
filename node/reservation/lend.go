package reservation

import "skep/grid"

// lender returns the first gang that waits for more slots and has some; nil = there is none.
func (t *Table) lender() *kept {
	for _, k := range t.kept {
		if k.fills() && k.held > 0 {
			return k
		}
	}
	return nil
}

// Lendable returns the slots of the first gang that waits for more, how many that are, and how many it lacks; 0 = there
// is none.
func (t *Table) Lendable() (slot grid.Resources, held, lacking int) {
	if k := t.lender(); k != nil {
		return k.ask.Needs, int(k.held), int(k.ask.Ranks - k.held)
	}
	return grid.Resources{}, 0, 0
}

// Lend gives slots of that gang back, for a task with that need.
func (t *Table) Lend(need grid.Resources) {
	if k := t.lender(); k != nil {
		for ; k.held > 0 && !t.ledger.Free().Fits(need); k.held-- {
			t.ledger.Unhold(k.ask.Needs)
		}
	}
}
