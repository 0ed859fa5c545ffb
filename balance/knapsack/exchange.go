package knapsack

import (
	"cmp"
	"slices"
)

// Bounds of the exchange: how many changes are looked at with each other, and how many exchanges are made.
const (
	mostChanges   = 256
	mostExchanges = 64
)

// change is a further option for an item, or none, in the place of the one that it has.
type change struct {
	item, option int
	loss         float64 // at the prices, of what the item could have
	gain         float64 // in utility
}

// exchange makes pairs of changes in the best plan that together gain utility and fit: one item gives up what another
// one needs. Changes that lose least at the prices are looked at.
func (s *Solver) exchange() {
	s.now.copy(&s.best)
	for range mostExchanges {
		s.listChanges()
		if !s.exchangeOne() {
			break
		}
		s.improve()
	}
	if s.now.value > s.best.value {
		s.best.copy(&s.now)
	}
}

func (s *Solver) listChanges() {
	p := s.p
	s.changes = s.changes[:0]
	for i, now := range s.now.chosen {
		best, had := 0.0, 0.0
		if o := s.want[i]; o >= 0 {
			best = p.utility[o] - s.priced[o]
		}
		if now >= 0 {
			had = p.utility[now]
			s.changes = append(s.changes, change{i, -1, best, -had})
		}
		for o, to := p.options(i); o < to; o++ {
			if u := p.utility[o]; o != now && u > 0 {
				s.changes = append(s.changes, change{i, o, best - (u - s.priced[o]), u - had})
			}
		}
	}
	slices.SortFunc(s.changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.loss, b.loss), a.item-b.item, a.option-b.option)
	})
	s.changes = s.changes[:min(len(s.changes), mostChanges)]
}

// exchangeOne makes the pair that gains most, and reports whether there is one.
func (s *Solver) exchangeOne() bool {
	var a, b change
	most := slack * s.now.value
	for k, x := range s.changes {
		for _, y := range s.changes[:k] {
			if x.item != y.item && x.gain+y.gain > most && s.roomFor(x, y) {
				a, b, most = x, y, x.gain+y.gain
			}
		}
	}
	if a == b {
		return false
	}
	s.change(a.item, -1)
	s.change(b.item, b.option)
	s.change(a.item, a.option)
	return true
}

// roomFor reports whether both changes fit together.
func (s *Solver) roomFor(x, y change) bool {
	wasX, wasY := s.now.chosen[x.item], s.now.chosen[y.item]
	for _, o := range [...]int{x.option, y.option} {
		if o < 0 {
			continue
		}
		for _, d := range s.p.of(o) {
			used := s.now.used[d.Of] - s.takes(wasX, d.Of) - s.takes(wasY, d.Of)
			if !fits(used+s.takes(x.option, d.Of)+s.takes(y.option, d.Of), s.p.capacity[d.Of]) {
				return false
			}
		}
	}
	return true
}

// takes is what an option takes of a capacity.
func (s *Solver) takes(o, of int) float64 {
	if o >= 0 {
		for _, d := range s.p.of(o) {
			if d.Of == of {
				return d.Amount
			}
		}
	}
	return 0
}
