package node

import "iter"

// lookup finds things by their keys. While they are few they are looked through: most nodes of a large grid never have
// more, and a map takes a room of its own.
type lookup[K comparable, V keyed[K]] struct {
	few  []V
	many map[K]V // all of them, once they are more
}

type keyed[K comparable] interface{ key() K }

const smallLookup = 16

// get returns the one of that key, or nil.
func (t *lookup[K, V]) get(k K) V {
	if t.many != nil {
		return t.many[k]
	}
	for _, v := range t.few {
		if v.key() == k {
			return v
		}
	}
	var none V
	return none
}

// put takes one up; there is none of its key yet.
func (t *lookup[K, V]) put(v V) {
	if t.many == nil && len(t.few) < smallLookup {
		t.few = append(t.few, v)
		return
	}
	if t.many == nil {
		t.many = make(map[K]V, 2*smallLookup)
		for _, o := range t.few {
			t.many[o.key()] = o
		}
		t.few = nil
	}
	t.many[v.key()] = v
}

// drop takes the one of that key out, if it is there.
func (t *lookup[K, V]) drop(k K) {
	if t.many != nil {
		if delete(t.many, k); len(t.many) == 0 {
			t.many = nil
		}
		return
	}
	for i, v := range t.few {
		if v.key() == k {
			last := len(t.few) - 1
			t.few[i] = t.few[last]
			clear(t.few[last:])
			t.few = t.few[:last]
			return
		}
	}
}

func (t *lookup[K, V]) len() int { return len(t.few) + len(t.many) }

// all goes through them, in no order.
func (t *lookup[K, V]) all() iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range t.few {
			if !yield(v) {
				return
			}
		}
		for _, v := range t.many {
			if !yield(v) {
				return
			}
		}
	}
}
