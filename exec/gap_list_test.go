package exec

import (
	"slices"
	"testing"

	"skep/grid"
)

// A list with a gap is as one without, wherever work is removed and added.
func TestGapListIsList(t *testing.T) {
	for seed := range uint64(200) {
		r := grid.NewRand(seed, 1)
		var q gapList
		var want []*Work
		next := int64(0)
		for range 50 + r.IntN(500) {
			w := &Work{order: next}
			next += orderGap
			q.push(w)
			want = append(want, w)
		}
		for range 2000 {
			switch k := r.IntN(12); {
			case k < 5 || len(want) == 0:
				w := &Work{order: next}
				next += orderGap
				q.push(w)
				want = append(want, w)
			case k == 5 && r.IntN(20) == 0:
				at := r.IntN(len(want))
				w := &Work{order: want[at].order - orderGap/2}
				if at > 0 {
					w.order = (want[at-1].order + want[at].order) / 2
				}
				if at > 0 && w.order == want[at-1].order {
					continue
				}
				q.insert(at, w)
				want = slices.Insert(want, at, w)
			case k == 6 && r.IntN(8) == 0:
				if most := r.IntN(100); !slices.Equal(q.head(most), want[:min(len(want), most)]) {
					t.Fatalf("the first %d are others; seed %d", most, seed)
				}
			default:
				at := r.IntN(len(want))
				if k > 8 {
					at = min(len(want)-1, len(want)/3+r.IntN(5))
				}
				q.remove(want[at])
				want = slices.Delete(want, at, at+1)
			}
			if q.Len() != len(want) || q.gap > 0 && (q.at <= 0 || q.at+q.gap >= len(q.list)) {
				t.Fatalf("%d of %d, a gap of %d at %d; seed %d", q.Len(), len(want), q.gap, q.at, seed)
			}
			for i, w := range q.list {
				if empty := i >= q.at && i < q.at+q.gap; empty != (w == nil) {
					t.Fatalf("place %d: %v beside a gap of %d at %d; seed %d", i, w, q.gap, q.at, seed)
				}
			}
			if r.IntN(50) == 0 && !slices.Equal(q.all(), want) {
				t.Fatalf("other work, or in another order; seed %d", seed)
			}
		}
	}
}
