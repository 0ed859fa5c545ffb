//go:build unix

package lpas

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/optimize/convex/lp"

	"skep/internal/cputime"
)

// BenchmarkLPBars measures the solver against named references in the same run, in CPU time (user and
// system, getrusage), each the minimum of several repetitions; a figure over several instances is that
// of the worst one. Run it with
//
//	go test ./lpas -run '^$' -bench Bars -benchtime 1x
//
// glpsol and clp are timed as whole processes that read the problem from an MPS file; their rows are
// left out where they are not installed.
func BenchmarkLPBars(b *testing.B) {
	for range b.N {
		t := &bars{}
		t.gonum(4, 8, 100, 2000, 8)
		t.gonum(8, 32, 200, 500, 5)
		t.gonum(10, 100, 600, 200, 2)
		cold := t.cold("uniform", uniform, 400)
		t.programs(cold)
		t.again("uniform", uniform, 1.0/20)
		t.cold("tied", tied, 0)
		t.again("tied", tied, 0)
		t.merged()
		t.print()
	}
}

// bars holds lines of what, bar, measured, verdict and a note, with tabs between them.
type bars struct{ bytes.Buffer }

// print prints them as all figures of the project are.
func (t *bars) print() {
	for l := range strings.Lines(t.String()) {
		f := strings.Split(strings.TrimSpace(l), "\t")
		if f[3] == "" {
			f[3] = "pass"
		}
		if f[1] == "-" || f[1] == "" {
			f[1] = "reported"
		}
		fmt.Printf("bar: %-58s %10s %-6s bar %-9s %s %s\n", f[0], f[2], "", f[1], f[3], f[4])
	}
}

func verdict(ok bool) string {
	if ok {
		return "pass"
	}
	return "MISS"
}

// least is the CPU time in seconds of one call of f: batches of n calls, the best of reps batches.
func least(reps, n int, f func()) float64 {
	runtime.GC()
	f()
	best := math.Inf(1)
	for range reps {
		start := cputime.Used()
		for range n {
			f()
		}
		best = min(best, (cputime.Used()-start).Seconds()/float64(n))
	}
	return best
}

// gonum: lp.Simplex gets the finished matrix and its slack basis, ours starts cold.
func (t *bars) gonum(n, m int, bar float64, batch, reps int) {
	worst := math.Inf(1)
	var own, other float64
	for seed := range uint64(3) {
		p := uniform(seed+1, n, m)
		var ws Workspace
		var sol Solution
		var basis Basis
		mine := least(5, batch, func() { basis.Reset(); Vertex(p, &basis, &ws, &sol) })
		c, a, rhs, basic := dense(p)
		theirs := least(reps, max(1, batch/200), func() {
			if _, _, err := lp.Simplex(c, a, rhs, 1e-10, basic); err != nil {
				panic(err)
			}
		})
		if theirs/mine < worst {
			worst, own, other = theirs/mine, mine, theirs
		}
	}
	fmt.Fprintf(t, "gonum lp.Simplex over Vertex, %d×%d\t≥ %.0f\t%.0f\t%s\t(%.1f µs, %.0f µs)\n",
		n, m, bar, worst, verdict(worst >= bar), own*1e6, other*1e6)
}

// cold: a first solve of 20×1000 over one evaluation of the dual function on the same matrix.
func (t *bars) cold(name string, gen func(uint64, int, int) *Problem, bar float64) (slowest float64) {
	var worst, unit float64
	pivots := 0
	for seed := range uint64(5) {
		p := gen(seed+1, 20, 1000)
		var ws Workspace
		var sol Solution
		var basis Basis
		mine := least(5, 20, func() { basis.Reset(); Vertex(p, &basis, &ws, &sol) })
		eval := least(5, 1000, func() { Dual(p, sol.Price, &ws) })
		pivots = max(pivots, sol.Pivots)
		if mine/eval > worst {
			worst, unit = mine/eval, eval
		}
		slowest = max(slowest, mine)
	}
	limit, ok := "-", ""
	if bar > 0 {
		limit, ok = fmt.Sprintf("≤ %.0f", bar), verdict(worst <= bar)
	}
	fmt.Fprintf(t, "20×1000 %s cold, over one dual evaluation\t%s\t%.0f\t%s\t(%.1f µs each, %.2f ms, at most %d pivots)\n",
		name, limit, worst, ok, unit*1e6, slowest*1e3, pivots)
	return slowest
}

// again: one rate is drawn anew, anywhere in the matrix, and the problem is solved from the last
// basis; the mean over 500 such changes in a row, over the mean of cold solves. Beside it the mean over
// 200 changes of a rate that the optimum uses.
func (t *bars) again(name string, gen func(uint64, int, int) *Problem, bar float64) {
	var worst, worstUsed, warmest float64
	for seed := range uint64(5) {
		p := gen(seed+1, 20, 1000)
		mu := append([]float64(nil), p.Mu...)
		var ws Workspace
		var sol Solution
		var start, basis Basis
		cold := least(5, 20, func() { basis.Reset(); Vertex(p, &basis, &ws, &sol) })
		Vertex(p, &start, &ws, &sol)
		sequence := func(changes int, used bool) float64 {
			one := least(5, 1, func() {
				r := rand.New(rand.NewPCG(seed, 2))
				copy(p.Mu, mu)
				basis.copyFrom(&start)
				Vertex(p, &basis, &ws, &sol)
				for range changes {
					k := r.IntN(len(p.Mu))
					if used {
						d := sol.Delta[r.IntN(len(sol.Delta))]
						k = int(d.Class)*1000 + int(d.Machine)
					}
					p.Mu[k] = 0.1 + 9.9*r.Float64()
					Vertex(p, &basis, &ws, &sol)
				}
			})
			return one / float64(changes+1)
		}
		drawn := sequence(500, false)
		worst, warmest = max(worst, drawn/cold), max(warmest, drawn)
		worstUsed = max(worstUsed, sequence(200, true)/cold)
	}
	limit, ok := "-", ""
	if bar > 0 {
		limit, ok = fmt.Sprintf("≤ 1/%.0f", 1/bar), verdict(worst <= bar)
	}
	fmt.Fprintf(t,
		"20×1000 %s after one rate changed, over cold\t%s\t1/%.1f\t%s\t(%.1f µs; 1/%.1f if the rate was in use)\n",
		name, limit, 1/worst, ok, warmest*1e6, 1/worstUsed)
}

func (b *Basis) copyFrom(o *Basis) {
	b.price = append(b.price[:0], o.price...)
	b.level = append(b.level[:0], o.level...)
	b.owner = append(b.owner[:0], o.owner...)
	b.edges = append(b.edges[:0], o.edges...)
}

// merged reports what grouping saves where there are only ten kinds of machines.
func (t *bars) merged() {
	p := tied(1, 20, 1000)
	var ws Workspace
	var sol Solution
	var basis Basis
	whole := least(5, 10, func() { basis.Reset(); Vertex(p, &basis, &ws, &sol) })
	few := least(5, 10, func() { basis.Reset(); Merged(p, &basis, &ws, &sol) })
	fmt.Fprintf(t, "20×1000 tied cold, Vertex over Merged\t-\t%.1f\t\t(%.2f ms, %.2f ms)\n", whole/few, whole*1e3, few*1e3)
}

// programs times glpsol and clp on the instance of seed 1 against the slowest cold solve.
func (t *bars) programs(cold float64) {
	dir, err := os.MkdirTemp("", "lpas")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "lp.mps")
	p := uniform(1, 20, 1000)
	if err := writeMPS(file, p); err != nil {
		panic(err)
	}
	for _, command := range [][]string{
		{"glpsol", "--freemps", file, "-o", filepath.Join(dir, "out")},
		{"clp", file, "-primalsimplex"},
		{"clp", file, "-barrier"},
	} {
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		best := math.Inf(1)
		for range 2 {
			c := exec.Command(command[0], command[1:]...)
			if out, err := c.CombinedOutput(); err != nil {
				panic(fmt.Sprintf("%v: %v\n%s", command, err, out))
			}
			best = min(best, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds())
		}
		name := command[0]
		if name == "clp" {
			name += " " + command[2]
		}
		fmt.Fprintf(t, "20×1000 uniform, %s over Vertex cold\t> 1\t%.0f\t%s\t(%.0f ms)\n", name, best/cold,
			verdict(best > cold), best*1e3)
	}
}

// Dual evaluates the dual function of the LP at prices y (length N, none negative, not all 0 where
// alpha > 0), with one pass over Mu:
//
//	Σ_j c_j·max_i y_i·mu_ij  /  Σ_i alpha_i·y_i
//
// For every y that is at least lambda*, and its minimum is lambda*. ws is scratch.
func Dual(p *Problem, y []float64, ws *Workspace) float64 {
	n, m := len(p.Alpha), len(p.Cap)
	ws.a = grown(ws.a, m)
	ws.rows = grown(ws.rows, n)
	for i := range ws.rows {
		ws.rows[i] = int32(i)
	}
	maxRows(ws.a, p.Mu, y, ws.rows)
	var worth, demand float64
	for j, c := range p.Cap {
		worth += c * ws.a[j]
	}
	for i, x := range p.Alpha {
		demand += x * y[i]
	}
	return worth / demand
}
