package screen

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Design says of each run which parameters are high: +1, else −1.
type Design [][]int

// first are the first rows of [1], by their length.
var first = []string{"++-", "+++-+--", "++-+++---+-", "++++-+-++--+---", "++--++++-+-+----++-"}

// MaxParameters is how many parameters a design can have.
const MaxParameters = 19

// New returns the folded design for so many parameters: for 7, the 16 runs of [2, Table 5.1].
func New(parameters int) (Design, error) {
	if parameters < 1 || parameters > MaxParameters {
		return nil, fmt.Errorf("%d factors: want from 1 to %d", parameters, MaxParameters)
	}
	row := first[slices.IndexFunc(first, func(r string) bool { return len(r) >= parameters })]
	n := len(row)
	var d Design
	for r := range n { // each row is the one before, rotated to the right
		levels := make([]int, parameters)
		for p := range levels {
			levels[p] = -1
			if row[(p-r+n)%n] == '+' {
				levels[p] = 1
			}
		}
		d = append(d, levels)
	}
	low := slices.Repeat([]int{-1}, parameters)
	d = append(d, low)
	for r := range n + 1 {
		inverted := make([]int, parameters)
		for p, x := range d[r] {
			inverted[p] = -x
		}
		d = append(d, inverted)
	}
	return d, nil
}

// Effects are the main effects of what each run came to: the sum where a parameter is high less the sum where it is low
// [2, section 5.3]. Over half the number of runs it is the mean difference between the levels.
func (d Design) Effects(of []float64) []float64 {
	out := make([]float64, len(d[0]))
	for r, levels := range d {
		for p, x := range levels {
			out[p] += float64(x) * of[r]
		}
	}
	return out
}

// Ranks are the places of effects by their size, 1 the largest; equal ones share the mean of theirs.
func Ranks(effects []float64) []float64 {
	order := make([]int, len(effects))
	for k := range order {
		order[k] = k
	}
	size := func(k int) float64 { return math.Abs(effects[k]) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
	out := make([]float64, len(effects))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && size(order[to]) == size(order[from]) {
			to++
		}
		for _, k := range order[from:to] {
			out[k] = float64(from+1+to) / 2
		}
		from = to
	}
	return out
}
