package order

import (
	"cmp"
	"slices"

	"skep/grid"
)

// The table of lines: by level, then by node, then by user.

// find returns the line of a reduced key; nil = there is none.
func (o *Lines[T]) find(k Key) *Line[T] {
	p := o.pairOf(k)
	if p == nil {
		return nil
	}
	for _, l := range p.lines {
		if l.user == k.User {
			return l
		}
	}
	return nil
}

// pairOf returns the pair of a reduced key; nil = there is none.
func (o *Lines[T]) pairOf(k Key) *pair[T] {
	if o.rule.Fair {
		if a := o.accounts.find(k.Node); a != nil {
			return a.pairOf(k.Bid)
		}
		return nil
	}
	if at, found := o.levelAt(k); found {
		return o.levels[at].pairs[0]
	}
	return nil
}

// pairOf returns the pair of a node with a bid; nil = there is none.
func (a *account[T]) pairOf(bid grid.Bid) *pair[T] {
	for p := a.pairs(); p != nil; p = p.next {
		if p.level.bid == bid {
			return p
		}
	}
	return nil
}

// add makes the line of a key for which there is none; one in which it goes with others where there are too many.
func (o *Lines[T]) add(k Key) *Line[T] {
	if o.idle > keepLines || o.idle > 0 && o.lines >= maxLines {
		o.DropIdle()
	}
	if k = o.bound(o.reduce(k)); o.lines > 0 {
		if l := o.find(k); l != nil {
			return l
		}
	}
	p := o.pairOf(k)
	if p == nil {
		p = o.addPair(k)
	}
	l := &Line[T]{pair: p, user: k.User, last: never}
	if p.of != nil {
		if u := p.of.addUser(k.User, o.usedLately); u != nil {
			l.by = u
		}
		p.of.here.lines++
	}
	p.lines = append(p.lines, l)
	o.lines++
	o.idle++
	return l
}

// addPair adds a node's pair to the level of a bid.
func (o *Lines[T]) addPair(k Key) *pair[T] {
	at, found := o.levelAt(k)
	if !found {
		o.levels = slices.Insert(o.levels, at, &level[T]{bid: k.Bid, class: k.Class})
	}
	v := o.levels[at]
	p := &pair[T]{level: v, last: never}
	if o.rule.Fair {
		a := o.accounts.find(k.Node)
		if a == nil {
			o.accounts.sweep(o.usedLately)
			a = o.accounts.add(k.Node)
		}
		a.add(p, o.usedLately)
	}
	v.pairs = append(v.pairs, p)
	return p
}

func (o *Lines[T]) levelAt(k Key) (at int, found bool) {
	return slices.BinarySearchFunc(o.levels, k, func(v *level[T], k Key) int {
		return cmp.Or(cmp.Compare(k.Bid, v.bid), cmp.Compare(v.class, k.Class))
	})
}

// DropIdle drops the lines without work, for who has none often and no need to save allocations: what was used is kept.
func (o *Lines[T]) DropIdle() {
	for _, v := range o.levels {
		for _, p := range v.pairs {
			p.lines = slices.DeleteFunc(p.lines, func(l *Line[T]) bool {
				if l.works > 0 {
					return false
				}
				l.gone = true
				o.lines--
				if p.of != nil {
					p.of.here.lines--
				}
				if l.by != nil {
					l.by.lines--
				}
				return true
			})
		}
		v.pairs = slices.DeleteFunc(v.pairs, func(p *pair[T]) bool {
			if len(p.lines) > 0 {
				return false
			}
			if p.of != nil {
				p.of.remove(p)
			}
			if v.best == p {
				v.best, v.stale = nil, true
			}
			return true
		})
	}
	o.levels = slices.DeleteFunc(o.levels, func(v *level[T]) bool { return len(v.pairs) == 0 })
	if o.idle = 0; o.lines == 0 {
		o.levels, o.open = nil, nil
	}
}
