package balance

import (
	"math"
	"slices"
	"testing"

	"skep/grid"
)

// system2A is System 2.A of [1, section 2.2.1] with one decider: class 1 belongs to the second machine alone,
// class 2 to both.
func system2A() *world {
	return &world{alpha: [][]float64{{2.45, 0}, {2.45, 0}}, mu: [][]float64{{9, 5}, {2, 1}}}
}

// The supports of the worked example, and who is asked: LPAS all of it, the static form nobody.
func TestClusterSupports(t *testing.T) {
	w := system2A()
	for name, want := range map[string][2]int{"lpas": {1, 2}, "lpas_2k": {1, 2}, "lpas_dec_2k": {1, 2},
		"guided_lpas": {1, 2}, "lp_static": {0, 0}, "switching": {2, 2}} {
		p := mustMake(t, name, Config{}, 1)
		w.tell(p)
		for class := range 2 {
			if got := polled(p, w.view(0, class), class); len(got) != want[class] {
				t.Errorf("%s asks %v for class %d, want %d machines", name, got, class+1, want[class])
			}
		}
		if s, ok := p.(Solver); ok && !near(s.Lambda(), 1.0204, 5e-5) {
			t.Errorf("%s: lambda %g, want 1.0204", name, s.Lambda())
		}
	}
}

// LP-Static draws by the shares: of class 2 of System 2.A, 2·1/(2·1 + 1·0.5) = 0.8 for the first machine.
func TestStaticShares(t *testing.T) {
	w := system2A()
	p := mustMake(t, "lp_static", Config{}, 1)
	w.tell(p)
	const n = 50_000
	count := 0
	for range n {
		v := w.view(0, 1)
		p.Poll(0, task(1), v, nil)
		if c := p.Choose(0, task(1), v.Nodes); c.Node == nodeID(0) {
			count++
		}
	}
	if got := float64(count) / n; !near(got, 0.8, 0.01) {
		t.Errorf("%.4f of class 2 on the first machine, want 0.8", got)
	}
}

// The 2/k forms ask two different machines, the first drawn by its share of what they are given.
func TestTwoOfSupport(t *testing.T) {
	w := &world{alpha: even([]float64{4}, 4), mu: [][]float64{{1, 2, 3, 4}}}
	for _, name := range []string{"lpas_2k", "lpas_dec_2k", "guided_lpas_2k"} {
		p := mustMake(t, name, Config{}, 1)
		w.tell(p)
		const n = 40_000
		first := [4]int{}
		for range n {
			v := w.view(0, 0)
			ids := p.Poll(0, task(0), v, nil)
			if len(ids) != 2 || ids[0] == ids[1] {
				t.Fatalf("%s asks %v", name, ids)
			}
			first[int(ids[0][1])-1]++
		}
		for j, k := range first {
			if want := float64(j+1) / 10; !near(float64(k)/n, want, 0.01) {
				t.Errorf("%s: machine %d is drawn first in %.3f, want %.3f", name, j+1, float64(k)/n, want)
			}
		}
	}
}

// What goes to a machine keeps to its share, at all times [1, equation A.8]:
//
//	pi_ij·A_i − (M−1) − √t·Σ_{j'≠j} C  ≤  A_ij  <  pi_ij·A_i + C·√t + 1
func TestGuidedInvariant(t *testing.T) {
	w := &world{alpha: even([]float64{6, 3}, 3), mu: [][]float64{{5, 3, 2}, {2, 2, 4}}}
	for _, name := range []string{"guided_lpas", "guided_lpas_2k", "guided_lpas:0.2"} {
		c := 1.0
		if name == "guided_lpas:0.2" {
			c = 0.2
		}
		p := mustMake(t, name, Config{}, 1)
		w.tell(p)
		r := grid.NewRand(7, 7)
		sent, sum := [2][3]float64{}, [2]float64{}
		for k := range 20_000 {
			now, class := grid.Time(k)*1e8, r.IntN(2)
			v := w.view(0, class)
			v.Nodes[0].ECT /= 1000 // it always looks best
			ids := p.Poll(now, task(class), v, nil)
			var answers []State
			for _, id := range ids {
				answers = append(answers, v.Nodes[find(v, id)])
			}
			ch := p.Choose(now, task(class), answers)
			p.Note(Outcome{Kind: Placed, At: now, Node: ch.Node, Class: className(class)})
			sent[class][int(ch.Node[1])-1]++
			sum[class]++
			slack := c * math.Sqrt(now.Sub(0).Seconds())
			_, weights, _ := p.(*guided).allocation.support(&p.(*guided).rates, className(class))
			total := 0.0
			for _, x := range weights {
				total += x
			}
			nodes, weights, _ := p.(*guided).allocation.support(&p.(*guided).rates, className(class))
			for x, j := range nodes {
				pi, a := weights[x]/total, sent[class][j]
				if a >= pi*sum[class]+slack+1 || a < pi*sum[class]-2-2*slack {
					t.Fatalf("%s, after %d: %g of %g of class %d on machine %d, share %.3f, slack %.2f", name, k+1, a, sum[class],
						class+1, j+1, pi, slack)
				}
			}
		}
	}
}

// Switching goes by completion until machines are evenly loaded, then by execution until they are not.
func TestSwitching(t *testing.T) {
	w := &world{alpha: even([]float64{1}, 2), mu: [][]float64{{4, 1}}}
	p := mustMake(t, "switching:0.5-0.8", Config{}, 1)
	w.tell(p)
	for _, c := range []struct {
		ready [2]float64
		want  int
	}{
		{[2]float64{2, 0.5}, 1}, // 0.25: the earliest completion
		{[2]float64{2, 1.2}, 1}, // 0.6: still
		{[2]float64{2, 1.7}, 0}, // 0.85: the shortest execution
		{[2]float64{2, 1.1}, 0}, // 0.55: still
		{[2]float64{2, 0.9}, 1}, // 0.45: back
		{[2]float64{0, 0}, 0},   // all idle is even
	} {
		v := w.view(0, 0)
		for j := range v.Nodes {
			v.Nodes[j].Ready, v.Nodes[j].ECT = c.ready[j], c.ready[j]+1/w.mu[0][j]
		}
		p.Poll(0, task(0), v, nil)
		if got := p.Choose(0, task(0), v.Nodes); got.Node != nodeID(c.want) {
			t.Errorf("ready %v: placed on %d, want %d", c.ready, got.Node[1], c.want+1)
		}
	}
}

// With PollMax the soonest few look even under any load. The rest of the view counts with what is known of it, and who
// was asked with what was answered.
func TestSwitchingJudgesByAllNodes(t *testing.T) {
	w := &world{alpha: even([]float64{1}, 8), mu: [][]float64{{4, 1, 1, 1, 1, 1, 1, 1}}}
	for _, c := range []struct {
		nodes           int     // the last ones, of which something else is known than 2 seconds of work
		known, answered float64 // that, and the work at the three that are asked: the two soonest, and one
		want            bool    // the shortest execution
	}{
		{4, 100, 2, false},
		{4, 2, 2, true},
		{4, 1.7, 2, true},
		{4, 1.5, 2, false},
		{2, 0.5, 2, true},
	} {
		p := mustMake(t, "switching:0.6-0.8", Config{PollMax: 2}, 1)
		w.tell(p)
		v := w.view(0, 0)
		for j := range v.Nodes {
			v.Nodes[j].Ready = 2
			if j >= 8-c.nodes {
				v.Nodes[j].Ready = c.known
			}
			v.Nodes[j].ECT = v.Nodes[j].Ready + 1/w.mu[0][j]
		}
		var answers []State
		for _, id := range p.Poll(0, task(0), v, nil) {
			s := v.Nodes[find(v, id)]
			s.Ready = c.answered
			answers = append(answers, s)
		}
		p.Choose(0, task(0), answers)
		if got := p.(*switching).shortest; got != c.want {
			t.Errorf("known %g, answered %g: shortest execution %v, want %v", c.known, c.answered, got, c.want)
		}
	}
}

// FirstTie takes the first of equal ones.
func TestFirstTie(t *testing.T) {
	w := &world{alpha: even([]float64{1}, 5), mu: [][]float64{{1, 2, 2, 2, 1}}}
	for _, name := range []string{"mct", "met", "lpas", "lpas_dec", "kpb:3"} {
		seen := map[bool]map[grid.NodeID]bool{false: {}, true: {}}
		for _, first := range []bool{false, true} {
			p := mustMake(t, name, Config{FirstTie: first}, 1)
			w.tell(p)
			for range 50 {
				v := w.view(0, 0)
				p.Poll(0, task(0), v, nil)
				seen[first][p.Choose(0, task(0), v.Nodes).Node] = true
			}
		}
		if len(seen[true]) != 1 || !seen[true][nodeID(1)] || len(seen[false]) != 3 {
			t.Errorf("%s: %d nodes with FirstTie, %d without; want the second, and three", name, len(seen[true]),
				len(seen[false]))
		}
	}
}

// Guarded counts where the soonest node of the allocation is ahead of its share, and only there.
func TestGuardedCountsWhatIsLeftOut(t *testing.T) {
	p := mustMake(t, "guided_lpas", Config{}, 1)
	for _, j := range []int{0, 1} {
		p.Note(Outcome{Kind: Rates, Node: nodeID(j), Rates: []grid.Rate{{Class: "a", Alpha: 1, Mu: 1}}, Slots: 1})
	}
	v := View{Nodes: []State{{Node: nodeID(0), ECT: 1}, {Node: nodeID(1), ECT: 2}}}
	w := &grid.Task{Class: "a"}
	for n, want := range []uint64{0, 1, 2, 3} { // at time 0 there is no slack: half of each is all that is allowed
		p.Poll(0, w, v, nil)
		if got := p.(Guard).Guarded(); got != want {
			t.Fatalf("after %d tasks on the sooner node: %d left out, want %d", n, got, want)
		}
		p.Note(Outcome{Kind: Placed, Node: nodeID(0), Class: "a"})
	}
}

// A machine that had more than its share is left out; not where it refused what it was to have.
func TestGuidedTakesBackWhatWasRefused(t *testing.T) {
	w := &world{alpha: even([]float64{2.45, 2.45}, 2), mu: [][]float64{{9, 5}, {2, 1}}}
	p := mustMake(t, "guided_lpas", Config{}, 1)
	w.tell(p)
	ask := func(want ...int) {
		t.Helper()
		if got := polled(p, w.view(0, 1), 1); !slices.Equal(got, want) {
			t.Errorf("class 2 asks %v, want %v", got, want)
		}
	}
	ask(1, 2)
	p.Note(Outcome{Kind: Placed, Node: nodeID(1), Class: className(1)})
	ask(1) // machine 2 is to have a fifth of the class, and has all of it
	p.Note(Outcome{Kind: Refused, Node: nodeID(1), Class: className(1)})
	ask(1, 2)
}
