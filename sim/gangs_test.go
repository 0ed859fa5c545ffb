package sim

import (
	"fmt"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// Gangs that each need more than half of a grid, submitted at once to a few origins, beside single tasks.
const (
	gangNodes = 8
	gangCores = 4 // of a node
	gangRun   = 2 * time.Second
)

// crowdOfGangs is a world of eight nodes of four cores, on which single tasks of a second on average ask for so much of
// the cores for a time. From second 10 on the origins submit gangs in turn, of 17 to 20 ranks of a core, with a gap
// between two gangs.
func crowdOfGangs(seed uint64, origins, each int, gap time.Duration, load float64, span time.Duration) Config {
	r := grid.NewRand(seed, 16)
	c := Config{Seed: seed, Nodes: gangNodes, Bound: 2 * time.Hour,
		Network: Network{Latency: Uniform(time.Millisecond, 5*time.Millisecond)},
		Machine: Machine{Sizes: map[string]Distribution{"single": Exponential()}},
		Node:    func(_ int, n *node.Config) { n.Capacity.CPU = gangCores * grid.CPU }}
	single, gangs, came := spec("single", 1, grid.CPU), 0, 10*time.Second
	every := float64(time.Second) / (load * gangNodes * gangCores)
	for at := float64(2 * time.Second); at < float64(span); at += every {
		for ; gangs < origins*each && at >= float64(came); gangs, came = gangs+1, came+gap {
			g := spec("gang", uint32(17+gangs%4), grid.CPU)
			g.Gang.Ranks = g.Count
			c.Work = append(c.Work, Submission{At: came, Node: gangs % origins, Spec: g, Size: gangRun.Seconds()})
		}
		c.Work = append(c.Work, Submission{At: time.Duration(at), Node: r.IntN(gangNodes), Spec: single})
	}
	return c
}

// crowdFigures are of the gangs of a world.
type crowdFigures struct {
	makespan time.Duration // from the submission of the first of them until the last of them has ended
	serial   time.Duration // the time that all of them take one after another: none runs beside another one
	wait     time.Duration // longest time of one until its end, without its run time
	ended    int
}

func runCrowd(c Config) (f crowdFigures, err error) {
	w, err := New(c)
	if err != nil {
		return f, err
	}
	if _, err := w.Run(); err != nil {
		return f, err
	}
	first := time.Duration(0)
	for i := range c.Work {
		s := &c.Work[i]
		if !s.Spec.IsGang() {
			continue
		}
		f.serial += gangRun
		t := w.books.Task(i, 0)
		if t.State != grid.Ended || t.Result.Exit != 0 {
			return f, fmt.Errorf("gang %d: %+v", i, t)
		}
		f.ended++
		if f.ended == 1 {
			first = s.At
		}
		f.makespan = max(f.makespan, time.Duration(t.Ended)-first)
		f.wait = max(f.wait, time.Duration(t.Ended)-s.At-gangRun)
	}
	return f, nil
}

// Several origins whose gangs exclude each other starve none, and lose little against one origin which places all: the
// short form of the bar, whose whole form is [barGangs]. All gangs come at once here; the whole form has them come one
// after another too.
func TestGangsOfManyOrigins(t *testing.T) {
	many, err := runCrowd(crowdOfGangs(1, 4, 5, 0, 0.9, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	one, err := runCrowd(crowdOfGangs(1, 1, 20, 0, 0.9, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("four origins: makespan %v, longest wait %v; one: makespan %v, longest wait %v; serially %v", many.makespan,
		many.wait, one.makespan, one.wait, many.serial)
	if many.ended != 20 || one.ended != 20 {
		t.Errorf("%d and %d gangs ended: want 20", many.ended, one.ended)
	}
	if 2*many.makespan > 3*one.makespan {
		t.Errorf("%v for four origins: want at most 1.5 times the %v of one", many.makespan, one.makespan)
	}
	if many.wait > 10*many.serial {
		t.Errorf("a gang waited for %v: want at most ten times the %v that all take one after another", many.wait,
			many.serial)
	}
}

// A single task that runs for ten minutes at the node that all gangs ask for later slots first delays them little.
func TestLongTaskStarvesNoGangs(t *testing.T) {
	const most = 2 * time.Minute
	c := crowdOfGangs(2, 4, 5, 0, 0.9, time.Minute)
	long := spec("long", 1, grid.CPU)
	long.Policy = "local"
	c.Work = append([]Submission{{At: 2 * time.Second, Spec: long, Size: 600}}, c.Work...)
	f, err := runCrowd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("makespan %v, longest wait %v", f.makespan, f.wait)
	if f.ended != 20 || f.makespan > most {
		t.Errorf("%d gangs ended, makespan %v: want 20, and at most %v", f.ended, f.makespan, most)
	}
}

// barGangs is the whole form: 4 origins with 20 gangs each against one with 80, submitted at once and with gaps.
func barGangs() {
	many, err := runCrowd(crowdOfGangs(1, 4, 20, 0, 0.9, 10*time.Minute))
	one, err1 := runCrowd(crowdOfGangs(1, 1, 80, 0, 0.9, 10*time.Minute))
	report("gangs of 4 origins with 20 each that end", float64(many.ended), "", "80", err == nil && many.ended == 80)
	wait := many.wait.Seconds() / many.serial.Seconds()
	report("longest wait of one over the run time of all", wait, "", "≤ 10", err == nil && wait <= 10)
	ratio := many.makespan.Seconds() / one.makespan.Seconds()
	report("makespan of these over that of one origin with 80", ratio, "", "≤ 1.5",
		err == nil && err1 == nil && ratio <= 1.5)
	for _, gap := range []time.Duration{150 * time.Millisecond, 300 * time.Millisecond, 600 * time.Millisecond} {
		ratio, err := spacedRatio(gap)
		report(fmt.Sprintf("the same with %v between gangs, mean of 3 seeds", gap), ratio, "", "≤ 1.5",
			err == nil && ratio <= 1.5)
	}
}

// spacedRatio is the makespan of 4 origins with 20 gangs each over that of one with 80, which come one after another;
// the mean of 3 seeds.
func spacedRatio(gap time.Duration) (ratio float64, err error) {
	for seed := range uint64(3) {
		many, err := runCrowd(crowdOfGangs(seed+1, 4, 20, gap, 0.9, 10*time.Minute))
		if err != nil {
			return 0, err
		}
		one, err := runCrowd(crowdOfGangs(seed+1, 1, 80, gap, 0.9, 10*time.Minute))
		if err != nil {
			return 0, err
		}
		ratio += many.makespan.Seconds() / one.makespan.Seconds() / 3
	}
	return ratio, nil
}
