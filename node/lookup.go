package node

import "iter"

// lookup is a map that is a slice while it is small: most nodes of a large grid never have more entries, and a map
// costs memory of its own.
type lookup[K comparable, V keyed[K]] struct {
	few  []V
	many map[K]V // all entries, beyond smallLookup
}

type keyed[K comparable] interface{ key() K }

const smallLookup = 16

// get returns the entry of a key, or nil.
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

// put adds an entry whose key is new.
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

// drop removes the entry of a key, if any.
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

// all iterates in no order.
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
