package gang

import "math"

// Machine is one that may run ranks. It is known by its index in the pool.
type Machine struct {
	Speed  float64 // of one slot, work a second, in the unit of the model (cycles of [1]); 0 = it can do nothing now
	Memory float64 // free, of all its slots together, bytes; 0 = unknown: no work that needs memory goes there
	Slots  int     // free; 0 = 1
}

// Link is the path of messages from one machine to another.
type Link struct {
	Latency   float64 // one way, seconds
	Bandwidth float64 // bytes a second; 0 = unknown: no two ranks may need it
}

// Pool is the machines that a search chooses from, and the links between them.
type Pool struct {
	Machines []Machine
	latency  []float64 // seconds, row from, column to
	inverse  []float64 // of the bandwidth, seconds a byte; +Inf = unknown
}

// NewPool asks for each link between two different machines once.
func NewPool(machines []Machine, link func(from, to int) Link) *Pool {
	n := len(machines)
	p := &Pool{Machines: machines, latency: make([]float64, n*n), inverse: make([]float64, n*n)}
	for a := range n {
		for b := range n {
			if a == b {
				continue
			}
			l := link(a, b)
			p.latency[a*n+b], p.inverse[a*n+b] = l.Latency, 1/l.Bandwidth
			if !(l.Bandwidth > 0) || !(l.Latency >= 0) {
				p.latency[a*n+b], p.inverse[a*n+b] = math.Inf(1), math.Inf(1)
			}
		}
	}
	return p
}

// Latency is that of a link, seconds one way; 0 within a machine, +Inf where the link is unknown.
func (p *Pool) Latency(from, to int) float64 { return p.latency[from*len(p.Machines)+to] }

// Inverse is the time of a byte on a link, seconds; 0 within a machine, +Inf where the link is unknown.
func (p *Pool) Inverse(from, to int) float64 { return p.inverse[from*len(p.Machines)+to] }

// slots is how many ranks a machine may have.
func (p *Pool) slots(machine int) int { return max(p.Machines[machine].Slots, 1) }

// PlaceMemory is the part of a machine's memory that one of its ranks has, bytes.
func (p *Pool) PlaceMemory(machine int) float64 {
	return p.Machines[machine].Memory / float64(p.slots(machine))
}

// Places is the number of ranks that all machines together may have.
func (p *Pool) Places() (n int) {
	for m := range p.Machines {
		n += p.slots(m)
	}
	return n
}
