package market

import "cmp"

// compareCosts is negative if seller a is better than b for a kind's next task, 0 if they are as good. What a task
// costs is the seller's price for as long as it runs there. Where nothing is asked the seconds decide, which are what a
// budget counts.
func (r *Round) compareCosts(k *Kind, a, b int) int {
	_, endA := r.times(k, a)
	_, endB := r.times(k, b)
	costA, costB := r.cost(k, a), r.cost(k, b)
	switch okA, okB := k.within(endA, a), k.within(endB, b); {
	case okA != okB && okA:
		return -1
	case okA != okB:
		return 1
	case !okA && (costA.Seconds == 0) == (costB.Seconds == 0):
		return cmp.Compare(endA, endB)
	}
	return cmp.Or(costA.Compare(costB), cmp.Compare(endA, endB))
}

func (r *Round) cost(k *Kind, seller int) Cost {
	return Cost{Price: r.sellers[seller].Price, Seconds: k.Alone[seller]}
}

// within reports whether a task that ends then at a seller meets its deadline, at which its worth begins to fall, and
// takes no more than its part of the budget. It may, where it is not known how long it runs.
func (k *Kind) within(end float64, seller int) bool {
	return end <= k.Full && (k.Spend <= 0 || k.Alone[seller] <= k.Spend)
}

// Cost is what a task costs at a seller: its price, for as long as it runs there. Where nothing is asked the seconds
// decide, which are what a budget counts.
type Cost struct {
	Price   float64
	Seconds float64 // 0 = it is not known how long it runs: it may cost any amount
	Busy    bool    // no slot is free for it
}

// Compare is negative if c is better, 0 if they are as good: of sellers with a free slot before others, then lower.
func (c Cost) Compare(o Cost) int {
	switch {
	case c.Busy != o.Busy && o.Busy:
		return -1
	case c.Busy != o.Busy:
		return 1
	case c.Seconds == 0 && o.Seconds == 0:
		return cmp.Compare(c.Price, o.Price)
	case c.Seconds == 0:
		return 1
	case o.Seconds == 0:
		return -1
	}
	return cmp.Or(cmp.Compare(c.Price*c.Seconds, o.Price*o.Seconds), cmp.Compare(c.Seconds, o.Seconds))
}
