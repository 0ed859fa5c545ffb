package lpas

import (
	"flag"
	"fmt"
	"math"
	"testing"
)

var seedFlag = flag.Int64("seed", -1, "run the random tests of this package on the problem of this seed only")

// eachSeed runs f on n problems. A failure names the seed and the command that repeats it.
func eachSeed(t *testing.T, n uint64, f func(t *testing.T, seed uint64) error) {
	t.Helper()
	from, to := uint64(0), n
	if *seedFlag >= 0 {
		from, to = uint64(*seedFlag), uint64(*seedFlag)+1
	} else if testing.Short() {
		to = n / 10
	}
	failures := 0
	for seed := from; seed < to && failures < 5; seed++ {
		if err := f(t, seed); err != nil {
			failures++
			t.Errorf("seed %d: %v\nrepeat with: go test ./lpas -run '^%s$' -seed %d", seed, err, t.Name(), seed)
		}
	}
}

const tolerance = 1e-8

// The optimality conditions hold, for a first solve and for a second from its basis, which has nothing
// left to do.
func TestConditions(t *testing.T) {
	var ws Workspace
	var sol Solution
	hardest := 0.0
	eachSeed(t, 40000, func(t *testing.T, seed uint64) error {
		p := draw(seed)
		if err := p.Check(); err != nil {
			return err
		}
		var b Basis
		Vertex(p, &b, &ws, &sol)
		if err := verify(p, &sol, tolerance); err != nil {
			return err
		}
		lambda := sol.Lambda
		hardest = max(hardest, float64(sol.Pivots)/float64(ws.limit()))
		Vertex(p, &b, &ws, &sol)
		if sol.Pivots > 0 || math.Abs(sol.Lambda-lambda) > 1e-12*lambda {
			t.Errorf("seed %d: again from the last basis: lambda %v after %v, %d pivots", seed, sol.Lambda, lambda, sol.Pivots)
		}
		return verify(p, &sol, tolerance)
	})
	if hardest > 0.2 {
		t.Errorf("one solve took %.0f %% of the pivots that a solve may take", 100*hardest)
	}
}

// The same optimum as gonum's dense simplex. That one gives up on some degenerate problems ("linear
// solve failed", or a basis that is singular); it has to answer nine of ten.
func TestOracle(t *testing.T) {
	var ws Workspace
	var sol Solution
	asked, answered := 0, 0
	eachSeed(t, 2000, func(t *testing.T, seed uint64) error {
		p := draw(seed)
		var b Basis
		Vertex(p, &b, &ws, &sol)
		if sol.Status != Optimal || ratio(p.Mu) > 1e6 || testing.Short() && len(p.Mu) > 60 {
			return nil // badly scaled for gonum, or too slow under the race detector
		}
		asked++
		want, err := oracle(p)
		if err != nil {
			return nil
		}
		answered++
		if d := sol.Lambda - want; math.Abs(d) > 1e-8*want {
			return fmt.Errorf("lambda %v, gonum %v", sol.Lambda, want)
		}
		return nil
	})
	if *seedFlag < 0 && answered < asked*9/10 {
		t.Errorf("gonum answered %d of %d", answered, asked)
	}
	t.Logf("gonum answered %d of %d", answered, asked)
}

// ratio of the largest and the smallest rate.
func ratio(x []float64) float64 {
	low, high := math.Inf(1), 0.0
	for _, v := range x {
		if v > 0 {
			low, high = min(low, v), max(high, v)
		}
	}
	return high / low
}

// Large problems, uniform and degenerate.
func TestLarge(t *testing.T) {
	var ws Workspace
	var sol Solution
	for _, size := range [][2]int{{10, 100}, {20, 1000}, {40, 20}, {3, 2000}, {50, 1000}} {
		for name, gen := range map[string]func(uint64, int, int) *Problem{"uniform": uniform, "tied": tied} {
			for seed := range uint64(3) {
				p := gen(seed+1, size[0], size[1])
				var b Basis
				Vertex(p, &b, &ws, &sol)
				if err := verify(p, &sol, tolerance); err != nil {
					t.Errorf("%s %v seed %d: %v", name, size, seed+1, err)
				}
			}
		}
	}
}

// With everything tied and a limit that is never reached by pivots that change a price, the rates are
// varied, and the answer is still that of the rates given.
func TestVaried(t *testing.T) {
	var sol Solution
	eachSeed(t, 5000, func(t *testing.T, seed uint64) error {
		p := draw(seed)
		var ws Workspace
		if !ws.load(p, &sol) {
			return nil
		}
		ws.begin(new(Basis))
		ws.vary()
		if !ws.finish() {
			return fmt.Errorf("no end in %d pivots", ws.pivots)
		}
		sol.Status = Optimal
		ws.report(&sol)
		return verify(p, &sol, tolerance)
	})
}
