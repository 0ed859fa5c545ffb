package sparse

import (
	"iter"
	"slices"
)

const (
	leafBits   = 4
	branchBits = 6

	// Leaf is how many elements get their memory together.
	Leaf = 1 << leafBits
)

// List is a list whose elements are made when they are first written, Leaf of them at a time. The zero value has length
// 0.
type List[T any] struct {
	few    []T // all of them, where they fit into one leaf; nil = none is made
	trunk  []*branch[T]
	length uint32
	leaves uint32
}

type branch[T any] [1 << branchBits]*[Leaf]T

// Make returns a list of zero elements. It takes no memory yet.
func Make[T any](length uint32) List[T] { return List[T]{length: length} }

// Len is the number of elements, made or not.
func (l *List[T]) Len() int { return int(l.length) }

// Leaves is how many runs of Leaf elements have been made.
func (l *List[T]) Leaves() int { return int(l.leaves) }

// Peek returns an element, or nil if it was not made: it is zero then.
func (l *List[T]) Peek(i uint32) *T {
	if l.few != nil {
		return &l.few[i]
	}
	b := int(i >> (leafBits + branchBits))
	if b >= len(l.trunk) || l.trunk[b] == nil {
		return nil
	}
	leaf := l.trunk[b][i>>leafBits&(1<<branchBits-1)]
	if leaf == nil {
		return nil
	}
	return &leaf[i&(Leaf-1)]
}

// At returns an element, and makes it if need be. It stays where it is. i must be below Len.
func (l *List[T]) At(i uint32) *T {
	if t := l.Peek(i); t != nil {
		return t
	}
	if i >= l.length {
		panic("sparse: an index is below the length")
	}
	l.leaves++
	if l.length <= Leaf {
		l.few = make([]T, l.length)
		return &l.few[i]
	}
	b := int(i >> (leafBits + branchBits))
	if b >= len(l.trunk) {
		l.trunk = append(slices.Grow(l.trunk, b+1-len(l.trunk)), make([]*branch[T], b+1-len(l.trunk))...)
	}
	if l.trunk[b] == nil {
		l.trunk[b] = new(branch[T])
	}
	leaf := new([Leaf]T)
	l.trunk[b][i>>leafBits&(1<<branchBits-1)] = leaf
	return &leaf[i&(Leaf-1)]
}

// From goes through the elements that were made, from an index on, in order. Elements between them that nobody wrote
// are among them, as zero values, where they share a leaf.
func (l *List[T]) From(first uint32) iter.Seq2[uint32, *T] {
	return func(yield func(uint32, *T) bool) {
		for i := first; i < uint32(len(l.few)); i++ {
			if !yield(i, &l.few[i]) {
				return
			}
		}
		for b := int(first >> (leafBits + branchBits)); b < len(l.trunk); b++ {
			if l.trunk[b] == nil {
				continue
			}
			for k, leaf := range l.trunk[b] {
				if leaf == nil {
					continue
				}
				at := uint32(b)<<(leafBits+branchBits) | uint32(k)<<leafBits
				for e := range leaf {
					if i := at + uint32(e); i >= first && i < l.length && !yield(i, &leaf[e]) {
						return
					}
				}
			}
		}
	}
}

// All goes through all elements that were made: see From.
func (l *List[T]) All() iter.Seq2[uint32, *T] { return l.From(0) }
