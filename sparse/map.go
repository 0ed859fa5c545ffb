package sparse

import "iter"

// Map is a map that is a slice while it is small: most nodes of a large grid never have more entries, and a map
// costs memory of its own.
type Map[K comparable, V Keyed[K]] struct {
	few  []V
	many map[K]V // all entries, beyond smallMap
}

// Keyed is an entry that knows its key.
type Keyed[K comparable] interface{ Key() K }

const smallMap = 16

// Get returns the entry of a key, or nil.
func (t *Map[K, V]) Get(k K) V {
	if t.many != nil {
		return t.many[k]
	}
	for _, v := range t.few {
		if v.Key() == k {
			return v
		}
	}
	var none V
	return none
}

// Put adds an entry whose key is new.
func (t *Map[K, V]) Put(v V) {
	if t.many == nil && len(t.few) < smallMap {
		t.few = append(t.few, v)
		return
	}
	if t.many == nil {
		t.many = make(map[K]V, 2*smallMap)
		for _, o := range t.few {
			t.many[o.Key()] = o
		}
		t.few = nil
	}
	t.many[v.Key()] = v
}

// Drop removes the entry of a key, if any.
func (t *Map[K, V]) Drop(k K) {
	if t.many != nil {
		if delete(t.many, k); len(t.many) == 0 {
			t.many = nil
		}
		return
	}
	for i, v := range t.few {
		if v.Key() == k {
			last := len(t.few) - 1
			t.few[i] = t.few[last]
			clear(t.few[last:])
			t.few = t.few[:last]
			return
		}
	}
}

func (t *Map[K, V]) Len() int { return len(t.few) + len(t.many) }

// All iterates in no order.
func (t *Map[K, V]) All() iter.Seq[V] {
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
