package heap

import (
	"cmp"
	textbook "container/heap"
	"math/rand/v2"
	"testing"
)

// item knows its index from 1, and 0 when it is in no heap.
type item struct{ key, tie, id, index int }

// byTie orders items of equal keys by a second number, which may be equal as well.
type byTie struct{}

func (byTie) Before(a, b *item) bool { return a.tie < b.tie }

func place(x *item, i int) { x.index = i + 1 }

// reference is a container/heap of the same keys.
type reference []*item

func (r reference) Len() int { return len(r) }
func (r reference) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(r[i].key, r[k].key), cmp.Compare(r[i].tie, r[k].tie)) < 0
}
func (r reference) Swap(i, k int) {
	r[i], r[k] = r[k], r[i]
	r[i].index, r[k].index = i+1, k+1
}
func (r *reference) Push(x any) {
	*r = append(*r, x.(*item))
	(*r)[len(*r)-1].index = len(*r)
}
func (r *reference) Pop() any {
	old := *r
	x := old[len(old)-1]
	*r = old[:len(old)-1]
	x.index = 0
	return x
}

// Elements leave in the order of container/heap, equal ones too, whatever was removed or changed meanwhile.
func TestAgainstContainerHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var h Heap[int, *item, byTie]
		h.Track(place)
		var ref reference
		var in, refIn []*item
		for id := range 300 {
			switch k := r.IntN(10); {
			case k < 5 || h.Len() == 0:
				x := item{key: r.IntN(12), tie: r.IntN(3), id: id} // many are equal
				y := x
				in, refIn = append(in, &x), append(refIn, &y)
				h.Push(x.key, &x)
				textbook.Push(&ref, refIn[len(in)-1])
			case k < 7:
				key, got := h.Pop()
				if want := textbook.Pop(&ref).(*item); got.id != want.id || key != want.key || got.index != 0 {
					t.Fatalf("popped %+v, want %+v", *got, *want)
				}
			case k < 8:
				if x := r.IntN(len(in)); in[x].index > 0 {
					h.Remove(in[x].index - 1)
					textbook.Remove(&ref, refIn[x].index-1)
				}
			default:
				if x := r.IntN(len(in)); in[x].index > 0 {
					in[x].key = r.IntN(12)
					refIn[x].key = in[x].key
					h.Update(in[x].index-1, in[x].key)
					textbook.Fix(&ref, refIn[x].index-1)
				}
			}
			if h.Len() != len(ref) || h.Len() > 0 && first(&h).id != ref[0].id {
				t.Fatalf("%d elements, want %d", h.Len(), len(ref))
			}
			for x := range in {
				if in[x].index != refIn[x].index {
					t.Fatalf("element %d is at %d, want %d", in[x].id, in[x].index, refIn[x].index)
				}
			}
			if len(in) > h.Len() && r.IntN(20) == 0 { // forget those that left
				kept, refKept := in[:0], refIn[:0]
				for x := range in {
					if in[x].index > 0 {
						kept, refKept = append(kept, in[x]), append(refKept, refIn[x])
					}
				}
				in, refIn = kept, refKept
			}
		}
	}
}

func first(h *Heap[int, *item, byTie]) *item {
	_, x := h.First()
	return x
}

// What leaves is not held, and a heap that has grown allocates nothing.
func TestHoldsNothing(t *testing.T) {
	var h Heap[int, *item, Unique[*item]]
	h.Push(1, &item{})
	h.Push(2, &item{})
	h.Pop()
	if h.list[:2][1].x != nil {
		t.Error("an element that left is held")
	}
	var n Heap[int, string, Unique[string]]
	n.Push(7, "x")
	if a := testing.AllocsPerRun(100, func() { n.Push(3, "y"); n.Pop(); n.Update(0, 5) }); a > 0 {
		t.Errorf("%v allocations", a)
	}
}

func BenchmarkHeap(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	keys := make([]int, 1<<12)
	for i := range keys {
		keys[i] = r.IntN(1 << 20)
	}
	b.Run("heap", func(b *testing.B) {
		var h Heap[int, *item, Unique[*item]]
		for i := range 1000 {
			h.Push(keys[i], &item{})
		}
		for i := 0; b.Loop(); i++ {
			key, x := h.Pop()
			h.Push(key+keys[i%len(keys)], x)
		}
	})
	b.Run("container", func(b *testing.B) {
		var h reference
		for i := range 1000 {
			textbook.Push(&h, &item{key: keys[i]})
		}
		for i := 0; b.Loop(); i++ {
			x := textbook.Pop(&h).(*item)
			x.key += keys[i%len(keys)]
			textbook.Push(&h, x)
		}
	})
}
