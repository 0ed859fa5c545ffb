package allocator

import "math"

// Kind is tasks that are alike: they can run in the same ways.
type Kind struct {
	Tasks  int
	Waited float64 // seconds since they came
	Bid    float64 // of each
	Aged   float64 // what the first of them bids, having waited; less than Bid counts as Bid
	Ways   []Way

	done    int
	length  float64 // on the node that is fastest for it, without a speedup; seconds
	soonest float64 // when the first would be done, seconds from now on
	best    float64 // most utility for a core
}

// Way is a way in which the tasks of a kind can run: on a node, as an option of their job.
type Way struct {
	Node    int
	Option  uint8   // number of the option; 0 = the job has none
	Cores   float64 // that it takes, above 0
	Counted float64 // part that it takes of the counted resources of the node that it needs; 0 = it needs none
	Ready   float64 // time from now on before which it cannot begin there, seconds
	Alone   float64 // execution time there, seconds; +Inf where it cannot run
	Fetch   float64 // of Alone, or before it: time for its inputs, seconds
	Speedup float64 // by which Alone is shorter than usual, above 0
	Worth   float64 // of a completion, relative to that of other options

	utility float64 // of any task but the first
	first   float64 // utility of the first
	end     float64 // when it would be done if it were placed first, seconds from now on
	tie     int     // place among equal ones
}

// Utility is what the way was worth to the first task of its kind, in the last cycle, as if it were taken first.
func (w *Way) Utility() float64 { return w.first }

// Node is a node that tasks are placed on.
type Node struct {
	Ready float64 // time from now on until it starts a further task, seconds
	Slots float64 // cores
	Idle  float64 // cores on which nothing runs
	Tie   int     // place among nodes that are equal

	work    float64 // core-seconds that it was given, with those before
	counted float64 // part of its counted resources that is left for what begins next
}

func (n *Node) begin() { n.work, n.counted = n.Ready*n.Slots, 1 }

// start is when so many cores would be free: at once if they are idle, else as soon as the work is done.
func (n *Node) start(cores float64) float64 {
	if fits(cores, n.Idle) {
		return n.Ready
	}
	return max(n.Ready, n.work/n.Slots)
}

// give adds a task, and returns when it starts.
func (n *Node) give(w *Way) (start float64) {
	start = w.start(n)
	n.work += w.Alone * min(w.Cores, n.Slots)
	n.Idle, n.counted = max(n.Idle-w.Cores, 0), n.counted-w.Counted
	return start
}

// start is when a further task would begin.
func (w *Way) start(n *Node) float64 {
	at := max(n.start(w.Cores), w.Ready)
	if !fits(w.Counted, n.counted) {
		at = max(at, n.work/n.Slots)
	}
	return at
}

// fits allows for the rounding of sums.
func fits(used, free float64) bool { return used <= free*(1+1e-9) }

// Placement is a task's place.
type Placement struct {
	Kind, Node       int
	Option           uint8
	Free, Start, End float64 // when the node has room for it, when it begins and is done, seconds from now on
}

// density is utility for a core.
func (w *Way) density(utility float64) float64 {
	return utility / max(w.Cores, math.SmallestNonzeroFloat32)
}
