package mesh

import "math/bits"

// Program is a mesh program of n×n points.
type Program struct {
	N          int
	PointCost  float64 // work of a point in an iteration, cycles
	ValueBytes float64 // of a message, for each point
	Broadcasts bool    // as Jacobi has, in the place of exchanges between neighbours

	// Eager messages leave when they are sent; others when their receiver waits for them, too.
	Eager bool
}

// Life and Jacobi are the applications of [1, section IV.B].
func Life(n int) Program { return Program{N: n, PointCost: 72, ValueBytes: 4} }

// Jacobi is the other one.
func Jacobi(n int) Program { return Program{N: n, PointCost: 36, ValueBytes: 8, Broadcasts: true} }

type kind uint8

const (
	compute kind = iota
	post         // says that the next message with a tag may come
	send         // starts a message to a rank
	receive      // waits for the next message with a tag
	flush        // waits until all that was sent has left
)

// operation is one step of a rank.
type operation struct {
	kind  kind
	to    int
	tag   int // what the receiver waits for
	bytes float64
	work  float64
}

// Tags of exchanges with neighbours: whom a message comes from.
const (
	fromBefore = iota
	fromAfter
)

// operations are those of each rank in an iteration.
func (p *Program) operations(rows []int) [][]operation {
	out := make([][]operation, len(rows))
	for r, n := range rows {
		out[r] = []operation{{kind: compute, work: p.PointCost * float64(n) * float64(p.N)}}
		if p.Broadcasts {
			continue
		}
		exchange := func(with, mine, theirs int) {
			out[r] = append(out[r], operation{kind: post, tag: mine},
				operation{kind: send, to: with, tag: theirs, bytes: p.ValueBytes * float64(p.N)},
				operation{kind: receive, tag: mine}, operation{kind: flush})
		}
		if r > 0 {
			exchange(r-1, fromBefore, fromAfter)
		}
		if r+1 < len(rows) {
			exchange(r+1, fromAfter, fromBefore)
		}
	}
	if p.Broadcasts {
		for root, n := range rows {
			broadcast(out, root, p.ValueBytes*float64(n))
		}
	}
	return out
}

// broadcast appends a binomial tree. With ranks counted from the root, the parent of v is v without its lowest bit, and
// its children are v plus each power of two below that bit, the largest first.
func broadcast(out [][]operation, root int, bytes float64) {
	p := len(out)
	for v := range p {
		r := (root + v) % p
		low := 1 << bits.Len(uint(p-1))
		if v > 0 {
			out[r] = append(out[r], operation{kind: post, tag: root}, operation{kind: receive, tag: root})
			low = v & -v
		}
		for m := low / 2; m > 0; m /= 2 {
			if v+m < p {
				out[r] = append(out[r], operation{kind: send, to: (root + v + m) % p, tag: root, bytes: bytes},
					operation{kind: flush})
			}
		}
	}
}
