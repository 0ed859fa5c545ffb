package units

import (
	"strconv"
	"strings"

	"skep/grid"
)

// threadVariables say to libraries how many threads to make: without them each makes as many as the machine has
// processors, in each task.
var threadVariables = [...]string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
	"VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS"}

// Threads returns how many threads fit a number of cores: as many as whole cores, at least one.
func Threads(cpu grid.MilliCPU) int { return int(max(cpu/grid.CPU, 1)) }

// ThreadEnv returns the variables that say so, as NAME=VALUE. What a submitter sets goes before them.
func ThreadEnv(cpu grid.MilliCPU) []string {
	n := strconv.Itoa(Threads(cpu))
	env := make([]string, 0, len(threadVariables))
	for _, name := range threadVariables {
		env = append(env, name+"="+n)
	}
	return env
}

// Variable is the name of the variable that lists a task's units of a kind.
func Variable(kind string) string { return "SKEP_RESOURCE_" + strings.ToUpper(kind) }

// Env returns what a task is told of its units, as NAME=VALUE: for each kind of the node their numbers, as "0,2", empty
// if it has none; for GPUs what their libraries read too. boxed says that it can open the device files of its own units
// only. A library that sees these alone counts them from 0, so units without a UUID are named by their place among its
// own then, and by their number in the machine otherwise. HIP counts what ROCr leaves of them.
func (g *Grant) Env(boxed bool) (env []string) {
	for k, list := range g.units {
		kind := &g.table.kinds[k]
		numbers := join(list, strconv.Itoa)
		env = append(env, Variable(kind.Name)+"="+numbers)
		if kind.Name != grid.KindGPU {
			continue
		}
		place := 0
		seen := join(list, func(int) string { place++; return strconv.Itoa(place - 1) })
		byLibrary, nvidia := numbers, numbers
		if boxed && kind.Vendor != Other {
			byLibrary = seen
		}
		cuda := byLibrary
		switch {
		case kind.named(list):
			cuda = join(list, func(i int) string { return kind.Units[i].UUID })
			nvidia = cuda
		case kind.Vendor == AMD:
			cuda = seen
		}
		env = append(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES="+cuda, "NVIDIA_VISIBLE_DEVICES="+nvidia,
			"ROCR_VISIBLE_DEVICES="+byLibrary, "HIP_VISIBLE_DEVICES="+seen)
	}
	if g.CPUs != nil {
		env = append(env, "SKEP_PINNED_CPUS="+join(g.CPUs, strconv.Itoa))
	}
	return env
}

// named reports whether each of the units has a UUID.
func (k *Kind) named(list []int) bool {
	for _, i := range list {
		if k.Units[i].UUID == "" {
			return false
		}
	}
	return len(list) > 0
}

func join(list []int, text func(int) string) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = text(n)
	}
	return strings.Join(parts, ",")
}
