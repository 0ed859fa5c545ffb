package process

import (
	"cmp"
	"flag"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/internal/vm"
)

var alone = flag.Duration("process.alone", 0,
	"processor time for which tasks share a core that nothing else uses: their shares must be within 5 %")

// With a control group for each task, on a core that nothing else uses, shares are within 5 % of the bids.
func TestWeightsInAVirtualMachine(t *testing.T) {
	for line := range strings.Lines(vm.Run(t, "-test.run '^TestWeightsShareACore$' -test.v -process.alone 20s")) {
		if strings.Contains(line, "shares") || strings.Contains(line, "---") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// Bids of 1, 2 and 4 on one core, of at most 10: each has the part of the core that it bids for. Other processes want
// that core too, and niceness has steps of a quarter, so what is compared is what each has beside the others, once they
// have used some of it.
func TestWeightsShareACore(t *testing.T) { inTurn(t, testWeightsShareACore) }

func testWeightsShareACore(t *testing.T, r *Runner) {
	span, within := cmp.Or(*alone, 1500*time.Millisecond), 1.5
	if *alone > 0 {
		within = 1.05
	}
	var tasks [3]*Process
	for i := range tasks {
		s := spec(t, r, `echo ready; while [ ! -e go ]; do sleep 0.02; done; while :; do :; done`)
		s.Weight, s.CPUs = float64(int(1)<<i)/10, []int{0}
		tasks[i] = start(t, r, s)
		eventually(t, "it runs", func() bool { return output(t, s, Stdout) != "" })
	}
	before, _ := r.CPU()
	for _, p := range tasks {
		put(t, r, p.spec, "go", "", 0o644)
	}
	eventually(t, "they use the core", func() bool {
		used, _ := r.CPU()
		return used-before >= span
	})
	for _, p := range tasks {
		p.Cancel()
	}
	var used [3]float64
	all := 0.0
	for i, p := range tasks {
		used[i] = wait(t, p).CPU.Seconds()
		all += used[i]
	}
	t.Logf("processor time %.3f s: shares %.3f %.3f %.3f, want 0.143 0.286 0.571", all, used[0]/all, used[1]/all,
		used[2]/all)
	for i, want := range [...]float64{1. / 7, 2. / 7, 4. / 7} {
		if got := used[i] / all; got < want/within || got > want*within {
			t.Errorf("the bid of %d has %.3f of the core, want %.3f", int(1)<<i, got, want)
		}
	}
}

func TestWeightsOfGroupsAndNiceness(t *testing.T) {
	for _, c := range []struct {
		weight           float64
		cores            grid.MilliCPU
		group, nice, and int // niceness of a node whose tasks are at 5
	}{
		{0, 1000, 0, 0, 5},
		{1, 4000, 10_000, 0, 5}, // all of four processors
		{1, 1000, 2500, 0, 5},
		{1, 0, 2500, 0, 5}, // no need is a core
		{0.1, 1000, 250, 10, 15},
		{0.2, 1000, 500, 7, 12},
		{0.4, 2000, 2000, 4, 9},
		{1e-6, 1000, 1, 19, 19},
	} {
		s := &Spec{CPU: c.cores, Part: Part{Weight: c.weight}}
		group, nice, and := groupWeightOf(s, 4), (&Runner{}).nicenessOf(s), (&Runner{nice: 5}).nicenessOf(s)
		if group != c.group || nice != c.nice || and != c.and {
			t.Errorf("weight %v of %d: group %d, niceness %d and %d, want %d, %d, %d", c.weight, c.cores, group, nice, and,
				c.group, c.nice, c.and)
		}
	}
}
