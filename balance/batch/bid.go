package batch

// bid is what the next task of a kind bids: the highest goes first, and of equal ones the rule decides. Where all kinds
// bid the same the rule alone does, however long they have waited.
func (m *Mapper) bid(k *Kind) float64 {
	switch {
	case !m.ranked:
		return 0
	case k.done == 0:
		return max(k.Bid, k.Aged)
	}
	return k.Bid
}
