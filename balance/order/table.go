package order

import (
	"cmp"
	"slices"
)

// The table of lines: by level, then by node, then by user.

// add makes a line.
func (o *Lines[T]) add(k Key) *Line[T] {
	if o.idle > keepLines {
		o.dropIdle()
	}
	v := o.level(k)
	at := slices.IndexFunc(v.pairs, func(p *pair[T]) bool { return p.node == k.Node })
	if at < 0 {
		at = len(v.pairs)
		p := &pair[T]{level: v, node: k.Node, last: never}
		if o.rule.Fair {
			p.used = o.account(owner{node: k.Node, all: true})
		}
		v.pairs = append(v.pairs, p)
	}
	p := v.pairs[at]
	l := &Line[T]{key: k, pair: p, last: never}
	if o.rule.Fair {
		l.used = o.account(owner{node: k.Node, user: k.User})
		l.used.lines++
		p.used.lines++
	}
	p.lines = append(p.lines, l)
	o.lines++
	o.idle++
	if o.index != nil {
		o.index[k] = l
	} else if o.lines > fewLines {
		o.index = make(map[Key]*Line[T])
		o.Each(func(l *Line[T]) { o.index[l.key] = l })
	}
	return l
}

// find returns the line of a key; nil = there is none.
func (o *Lines[T]) find(k Key) (found *Line[T]) {
	if o.index != nil {
		return o.index[k]
	}
	o.Each(func(l *Line[T]) {
		if l.key == k {
			found = l
		}
	})
	return found
}

// level returns the level of a key, made if there is none.
func (o *Lines[T]) level(k Key) *level[T] {
	at, found := slices.BinarySearchFunc(o.levels, k, func(v *level[T], k Key) int {
		return cmp.Or(cmp.Compare(k.Bid, v.bid), cmp.Compare(v.class, k.Class))
	})
	if !found {
		o.levels = slices.Insert(o.levels, at, &level[T]{bid: k.Bid, class: k.Class})
	}
	return o.levels[at]
}

// account returns an account, made if there is none.
func (o *Lines[T]) account(w owner) *account {
	a := o.accounts.find(w)
	if a == nil {
		a = o.accounts.add(w)
	}
	return a
}

// dropIdle drops the lines without work, and the accounts without use.
func (o *Lines[T]) dropIdle() {
	for _, v := range o.levels {
		for _, p := range v.pairs {
			p.lines = slices.DeleteFunc(p.lines, func(l *Line[T]) bool {
				if l.works > 0 {
					return false
				}
				delete(o.index, l.key)
				l.gone = true
				o.lines--
				if l.used != nil {
					l.used.lines--
					p.used.lines--
				}
				return true
			})
		}
		v.pairs = slices.DeleteFunc(v.pairs, func(p *pair[T]) bool { return len(p.lines) == 0 })
	}
	o.levels = slices.DeleteFunc(o.levels, func(v *level[T]) bool { return len(v.pairs) == 0 })
	o.idle = 0
	if len(o.accounts.list) >= o.sweepAt {
		o.accounts.sweep(&o.decay)
		o.sweepAt = max(minSweep, 2*len(o.accounts.list))
	}
}
