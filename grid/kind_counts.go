package grid

// KindCounts counts messages by kind, up to the last kind that came: in a large grid most nodes know few.
type KindCounts []uint64

// Add counts a message of a kind.
func (c *KindCounts) Add(k Kind) {
	*c = append(*c, make([]uint64, max(int(k)+1-len(*c), 0))...)
	(*c)[k]++
}
