package mapping

import (
	"cmp"
	"slices"

	"skep/grid"
)

// Bidder is a task among those that are mapped together. Bid is what the next task of its job bids by now. A job waits
// since its last task was offered: of a flood that has waited for long one task becomes urgent, not all.
type Bidder[T any] struct {
	Task    T
	Bid     grid.Bid
	Arrived grid.Time // of its job
	Turn    uint64    // of its job
	Index   uint32
}

// SortByBid sorts tasks, the highest bid first, then the oldest.
func SortByBid[T any](tasks []Bidder[T]) {
	slices.SortFunc(tasks, func(a, b Bidder[T]) int {
		return cmp.Or(cmp.Compare(b.Bid, a.Bid), cmp.Compare(a.Arrived, b.Arrived), cmp.Compare(a.Turn, b.Turn),
			cmp.Compare(a.Index, b.Index))
	})
}
