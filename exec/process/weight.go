package process

import (
	"math"

	"skep/grid"
)

// heaviest is the highest weight of a control group (cgroup v2); the lowest is 1.
const heaviest = 10_000

// groupWeightOf is the weight of the control group of a task on a machine of so many processors: in proportion to
// Weight and cores, at most heaviest for one with Weight 1 that needs them all. 0 = it has no Weight.
func groupWeightOf(s *Spec, processors int) int {
	if s.Weight == 0 {
		return 0
	}
	cores := 1.0
	if s.CPU > 0 {
		cores = float64(s.CPU) / float64(grid.CPU)
	}
	w := math.Round(heaviest * s.Weight * cores / float64(processors))
	return int(min(max(w, 1), heaviest))
}

// niceStep is by how much a step of niceness lowers what the kernel gives a process: sched_prio_to_weight.
const niceStep = 1.25

// nicenessOf is the niceness of a task. Each of its threads counts, so the cores that it needs do not.
func (r *Runner) nicenessOf(s *Spec) int {
	if s.Weight == 0 {
		return r.nice
	}
	return min(r.nice+int(math.Round(-math.Log(s.Weight)/math.Log(niceStep))), 19)
}
