package mesh

// Iterations of a run [1, section V.A.4].
const (
	Warmup   = 4
	Measured = 100
)

// Host computes.
type Host struct {
	Speed float64 // cycles a second, of the unloaded machine
	Load  *Trace  // the part of it that a program gets
}

// World is hosts and their network.
type World struct {
	Hosts []Host
	Net   Network
}

// Result is what a run measured.
type Result struct {
	Iteration float64 // seconds
	End       float64 // when the run was over, seconds
}

// Run runs a program with so many rows at each of some hosts, from a time on.
func (w *World) Run(p Program, hosts, rows []int, start float64) Result {
	e := engine{machine: w, flows: newFlows(&w.Net, start)}
	e.add(p, hosts, rows, Warmup, Warmup+Measured)
	for running := len(hosts); running > 0; running -= len(e.over) {
		e.step(e.next())
	}
	out := Result{End: e.flows.at}
	for k := range e.ranks {
		out.Iteration = max(out.Iteration, e.ranks[k].mean)
	}
	return out
}

// until implements machine.
func (w *World) until(k *rank, now, work float64) float64 {
	h := &w.Hosts[k.host]
	return h.Load.After(now, work, h.Speed)
}

// route implements machine.
func (w *World) route(from, to int) (path []int, latency float64) {
	at := from*w.Net.Hosts + to
	return w.Net.Path[at], w.Net.Latency[at]
}
