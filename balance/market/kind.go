package market

// Kind is tasks of an owner that are alike.
type Kind struct {
	Tasks int
	Bid   float64
	Aged  float64   // what the first of them bids, having waited; less than Bid counts as Bid
	Age   float64   // seconds since they came
	Alone []float64 // by seller: execution time, seconds; 0 = it is not known, +Inf = it cannot run there
	Fetch []float64 // by seller: seconds until the inputs would be there; nil = they are
	Full  float64   // seconds from now until which a result is worth all; +Inf = for ever
	Zero  float64   // seconds from now from which it is worth nothing; at least Full

	Spend float64 // seconds that its job's budget pays for each task; 0 = any number

	done   int
	closed bool // no seller is left for it
}

// Seller is a node as it has answered.
type Seller struct {
	Ready  float64 // seconds until it has a free slot
	Lead   float64 // seconds that a task takes to get there, and an answer to come back
	Slots  float64 // tasks that it runs at once
	Idle   float64 // slots that are free now
	Price  float64 // lower bids are refused; 0 = none is
	Outbid float64 // the lowest bid that runs and may be suspended; 0 = none
	Bids   float64 // sum of bids of what it has, for each slot
}

// due is when a task is to be sent that is to be there when a slot is free.
func (s *Seller) due() float64 { return max(s.Ready-s.Lead, 0) }

// Deal is a task that a seller gets.
type Deal struct {
	Kind, Seller int
	Free         float64 // seconds until it is to be sent, to be there when its slot is free
	Start, End   float64 // seconds
}

// bid is that of the kind's next task.
func (k *Kind) bid() float64 {
	if k.done == 0 {
		return max(k.Bid, k.Aged)
	}
	return k.Bid
}

// worth is the part of its value that a result has, by when it comes.
func (k *Kind) worth(end float64) float64 {
	switch {
	case end <= k.Full:
		return 1
	case end >= k.Zero:
		return 0
	}
	return (k.Zero - end) / (k.Zero - k.Full)
}
