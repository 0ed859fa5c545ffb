package batch

// begin counts the work that the node has before any task is placed.
func (n *Node) begin() { n.work = n.Ready * n.Slots }

// start is when a further task would start: at once on an idle slot, else as soon as 1/s of the work is done.
func (n *Node) start() float64 {
	if n.Idle > 0 {
		return n.Ready
	}
	return max(n.Ready, n.work/n.Slots)
}

// give adds a task of e seconds; one that waits for its inputs holds its slot meanwhile.
func (n *Node) give(e, start float64) {
	n.work += e + max(start-n.start(), 0)
	if n.Idle > 0 {
		n.Idle = max(n.Idle-1, 0)
	}
}
