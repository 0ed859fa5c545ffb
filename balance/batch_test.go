package balance

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skep/grid"
)

// array is tasks of the classes named, one after the other, of one job.
func array(classes ...int) (out []*grid.Task) {
	for k, c := range classes {
		t := task(c)
		t.ID.Task.Index = uint32(k)
		out = append(out, t)
	}
	return out
}

// times makes a world of execution times, and idle nodes or those that are ready at times.
func times(e [][]float64, ready ...float64) (*world, []State) {
	w := &world{}
	for _, row := range e {
		mu, alpha := []float64{}, []float64{}
		for _, x := range row {
			mu, alpha = append(mu, 1/x), append(alpha, 1)
		}
		w.mu, w.alpha = append(w.mu, mu), append(w.alpha, alpha)
	}
	var states []State
	for j := range e[0] {
		s := State{Node: nodeID(j)}
		if j < len(ready) {
			s.Ready = ready[j]
		}
		s.ECT = s.Ready + e[0][j]
		states = append(states, s)
	}
	return w, states
}

func assigned(c []Choice) (nodes []int) {
	for _, x := range c {
		if x.Act != Place {
			nodes = append(nodes, 0)
			continue
		}
		nodes = append(nodes, int(x.Node[1]))
	}
	return nodes
}

// Small tables worked out by hand.
func TestBatchByHand(t *testing.T) {
	inf := math.Inf(1)
	three := [][]float64{{4, 6}, {3, 8}, {5, 5.5}}
	for _, c := range []struct {
		policy string
		e      [][]float64
		ready  []float64
		want   []int // machine of each task
		done   []float64
	}{
		// The least first: b on 1 at 3; then c on 2 at 5.5; then a on 1 at 7.
		{"min_min", three, nil, []int{1, 1, 2}, []float64{7, 3, 5.5}},
		// The largest first: c on 1 at 5; then b, at 8 on either; then a on 2 at 6.
		{"max_min", three, nil, []int{2, 1, 1}, []float64{6, 8, 5}},
		// The largest regret first: b, which loses 5, on 1 at 3; then c, 2.5, on 2; then a.
		{"sufferage", three, nil, []int{1, 1, 2}, []float64{7, 3, 5.5}},
		// a loses 96 and goes first, and b, which loses a half, makes room. min_min does not.
		{"sufferage", [][]float64{{4, 100}, {3, 3.5}}, nil, []int{1, 2}, []float64{4, 3.5}},
		{"min_min", [][]float64{{4, 100}, {3, 3.5}}, nil, []int{1, 1}, []float64{7, 3}},
		// b loses 4 and a only a half, though a's second best is the later one.
		{"sufferage", [][]float64{{10, 10.5}, {1, 5}}, nil, []int{2, 1}, []float64{10.5, 1}},
		// Who has nowhere else to go loses all.
		{"sufferage", [][]float64{{4, inf}, {3, 1000}}, nil, []int{1, 1}, []float64{4, 7}},
		// What waits there already counts.
		{"min_min", [][]float64{{1, 1}, {1, 1}}, []float64{2.5, 0}, []int{2, 2}, []float64{1, 2}},
		{"max_min", [][]float64{{inf, inf}, {1, 2}}, nil, []int{0, 1}, []float64{0, 1}},
	} {
		w, states := times(c.e, c.ready...)
		for k := range states {
			if math.IsInf(states[k].ECT, 1) {
				states[k].ECT = 0 // of no node is it said by the state alone
			}
		}
		for _, name := range []string{c.policy, "x" + c.policy} {
			if name == "xmin_min" || name == "xmax_min" {
				continue
			}
			p := mustMake(t, name, Config{FirstTie: true}, 1)
			w.tell(p)
			classes := []int{}
			for i := range c.e {
				classes = append(classes, i)
			}
			got := p.(Batch).Assign(0, array(classes...), states, nil)
			if !slices.Equal(assigned(got), c.want) {
				t.Errorf("%s of %v: nodes %v, want %v", name, c.e, assigned(got), c.want)
			}
			for i, x := range got {
				if math.Abs(x.ECT-c.done[i]) > 1e-9 {
					t.Errorf("%s of %v: task %d is done at %g, want %g", name, c.e, i+1, x.ECT, c.done[i])
				}
			}
		}
	}
}

// Two clusters of two equal hosts, and a file at one of them that takes ten times as long to bring as a task to run:
// each task that needs it runs there, until that queue is longer than the transfer [4, section 2.2]. Once the file has
// been brought it is there for all.
func TestXSufferageStaysWithTheFile(t *testing.T) {
	var states []State
	for j := range 4 {
		s := State{Node: nodeID(j), ECT: 1, Site: &Site{Cluster: fmt.Sprint("c", j/2)}}
		if j >= 2 {
			s.Fetch = 10
		}
		states = append(states, s)
	}
	tasks := array(make([]int, 40)...)
	count := func(name string) (first, all int) {
		p := mustMake(t, name, Config{FirstTie: true}, 1)
		for i, n := range assigned(p.(Batch).Assign(0, tasks, states, nil)) {
			if n <= 2 {
				all++
				if i < 20 {
					first++
				}
			}
		}
		return first, all
	}
	if first, all := count("xsufferage"); first != 20 || all < 29 || all > 31 {
		t.Errorf("%d of the first 20 tasks are beside the file and %d of 40, want 20 and 30", first, all)
	}
	if first, all := count("sufferage"); first != 10 || all != 20 {
		t.Errorf("without a look at the file %d of 20 and %d of 40, want half", first, all)
	}
	p := mustMake(t, "xsufferage", Config{FirstTie: true}, 1)
	p.(Batch).Assign(0, tasks, states, nil)
	later := grid.Time(11 * time.Second)
	if n := assigned(p.(Batch).Assign(later, tasks[:4], states, nil)); slices.Max(n) != 4 {
		t.Errorf("with the file in both clusters: nodes %v, want all four", n)
	}
}

// What one host of a cluster has is there for the other: the second cluster's first host has the file, and so tasks go
// to both.
func TestHostsOfAClusterShareTheFile(t *testing.T) {
	var states []State
	for j := range 4 {
		s := State{Node: nodeID(j), ECT: 1, Site: &Site{Cluster: fmt.Sprint("c", j/2)}, Fetch: 10}
		if j == 2 {
			s.Fetch = 0
		}
		states = append(states, s)
	}
	p := mustMake(t, "xsufferage", Config{FirstTie: true}, 1)
	if n := assigned(p.(Batch).Assign(0, array(0, 0, 0, 0), states, nil)); !slices.Equal(n, []int{3, 4, 3, 4}) {
		t.Errorf("nodes %v, want those of the second cluster in turn", n)
	}
}

// A node with several slots starts as many at once.
func TestBatchFillsSlots(t *testing.T) {
	for _, name := range []string{"min_min", "max_min", "sufferage", "xsufferage"} {
		p := mustMake(t, name, Config{FirstTie: true}, 1)
		states := []State{{Node: nodeID(0), ECT: 10}, {Node: nodeID(1), ECT: 10, Running: 1}}
		for j, slots := range []float64{1, 4} {
			p.Note(Outcome{Kind: Rates, Node: nodeID(j), Slots: slots, Rates: []grid.Rate{{Class: className(0), Mu: 0.1}}})
		}
		got := p.(Batch).Assign(0, array(0, 0, 0, 0, 0), states, nil)
		if n := assigned(got); !slices.Equal(n, []int{1, 2, 2, 2, 2}) && !slices.Equal(n, []int{1, 2, 2, 2, 1}) {
			t.Errorf("%s: nodes %v, want one on the first and three on the second at once", name, n)
		}
		for k, x := range got[:4] {
			if x.ECT != 10 {
				t.Errorf("%s: task %d is done at %g, want 10", name, k+1, x.ECT)
			}
		}
	}
}

// The dumb twin looks at every task and every node anew each time.
func TestBatchAgainstATwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"min_min", "max_min", "sufferage"}).Draw(t, "policy")
		classes, machines := 3, rapid.IntRange(1, 5).Draw(t, "machines")
		e := make([][]float64, classes)
		for i := range e {
			for range machines {
				e[i] = append(e[i], float64(rapid.IntRange(1, 9).Draw(t, "e")))
			}
		}
		var ready []float64
		for range machines {
			ready = append(ready, float64(rapid.IntRange(0, 9).Draw(t, "ready")))
		}
		w, states := times(e, ready...)
		p, _ := Make(name, &Config{FirstTie: true}, grid.NewRand(1, 1))
		w.tell(p)
		of := rapid.SliceOfN(rapid.IntRange(0, classes-1), 1, 12).Draw(t, "tasks")
		got := assigned(p.(Batch).Assign(0, array(of...), states, nil))
		if want := twin(name, of, e, ready); !slices.Equal(got, want) {
			t.Fatalf("%s of %v, %v, ready %v: nodes %v, want %v", name, of, e, ready, got, want)
		}
	})
}

func twin(name string, of []int, e [][]float64, ready []float64) []int {
	r := slices.Clone(ready)
	out := make([]int, len(of))
	for range of {
		best, key, where := -1, math.Inf(-1), 0
		for i, class := range of {
			if out[i] > 0 {
				continue
			}
			var c []float64
			for j := range r {
				c = append(c, r[j]+e[class][j])
			}
			first := slices.Min(c)
			at := slices.Index(c, first)
			second := math.Inf(1)
			for j := range c {
				if j != at {
					second = min(second, c[j])
				}
			}
			k := map[string]float64{"min_min": -first, "max_min": first, "sufferage": second - first}[name]
			if best < 0 || k > key {
				best, key, where = i, k, at
			}
		}
		r[where] += e[of[best]][where]
		out[best] = where + 1
	}
	return out
}
