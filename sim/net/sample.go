package net

import (
	"time"

	"skep/gossip"
	"skep/grid"
	"skep/node"
	"skep/sim"
	"skep/sim/net/worth"
)

// sample is the measurements of one replication. Those over time, not over tasks, are from the end of the warm-up to
// the end of arrivals.
type sample struct {
	work     []sim.Submission
	away     absences
	opened   bool
	closed   bool
	complete bool
	from, to time.Duration
	busy     []float64   // core-seconds of each node: at from, later since then
	traffic  sim.Traffic // at from, later since then
	views    map[uint8]*viewErrors
	report   sim.Report
	usage
	wall time.Duration

	classes  map[string]*times
	bag      bag
	arrived  int // tasks submitted between from and to
	counted  int // ended tasks submitted after the warm-up
	moved    int
	ran      []int // of counted, by the group of the node that they ran on
	lost     int
	orphans  int            // not ended tasks whose origin does not return
	failures map[string]int // of all tasks, by cause
	stable   bool
}

// bag is the measured tasks together.
type bag struct {
	first time.Duration // the arrival of the first; −1 = there are none
	last  time.Duration // the end of the last
	worth worth.Tally
}

// usage is how well the nodes were used.
type usage struct {
	utilisation, fairness float64
	regret, regretOver    float64 // core-seconds idle where a waiting task would have ended sooner; those busy
}

// times are those of the tasks of a class that exited with 0, in seconds.
type times struct {
	completion []float64
	slowdown   float64 // sum
	moved      int     // of these tasks
	gang       gangTimes
}

// viewErrors sums the ages and errors of view entries of one distance.
type viewErrors struct {
	n          int
	age, error float64
}

func (m *sample) openWindow(w *sim.World, s *Scenario) {
	m.opened, m.from, m.traffic = true, max(w.Now(), s.Warmup), w.Traffic()
	m.busy = make([]float64, s.nodes())
	for i := range m.busy {
		m.busy[i] = w.Busy(i)
	}
}

// closeWindow ends the measured window of time.
func (m *sample) closeWindow(w *sim.World, s *Scenario) {
	if m.closed || !m.opened {
		return
	}
	m.closed, m.to = true, w.Now()
	m.traffic = subtract(w.Traffic(), m.traffic)
	span := (m.to - m.from).Seconds()
	bounds := s.bounds()
	var cores, sum, squares float64
	for i := range m.busy {
		c := s.Groups[groupOf(bounds, i)].Cores
		m.busy[i] = w.Busy(i) - m.busy[i]
		u := m.busy[i] / c
		cores += c
		m.utilisation += m.busy[i]
		sum, squares = sum+u, squares+u*u
	}
	if span > 0 {
		m.utilisation /= cores * span
	}
	if squares > 0 { // (Σu)² / (n·Σu²) [2]
		m.fairness = sum * sum / (float64(len(m.busy)) * squares)
	}
}

// viewer is a node's view of its peers.
type viewer interface {
	Peers(now grid.Time, dst []node.PeerView) []node.PeerView
}

var _ viewer = (*node.Node)(nil) // found by type assertion

// Nodes sampled each time, and peers of each.
const (
	sampledNodes = 64
	sampledPeers = 8
)

// compareViews compares some entries of some views with what their nodes would publish at that moment.
func (m *sample) compareViews(w *sim.World, s *Scenario, r *grid.Rand) {
	var view, own []node.PeerView
	for range min(sampledNodes, s.nodes()) {
		i := r.IntN(s.nodes())
		n, ok := w.Member(i).(viewer)
		if !ok {
			continue
		}
		view = n.Peers(w.Local(i), view[:0])
		for range sampledPeers {
			p := &view[r.IntN(len(view))]
			j := w.Index(p.Ad.Node)
			if p.Self || j < 0 {
				continue
			}
			other, ok := w.Member(j).(viewer)
			if !ok {
				continue
			}
			own = other.Peers(w.Local(j), own[:0])
			for k := range own {
				if own[k].Self {
					m.compare(p, own[k].Ad, s.Node.Gossip.BacklogScale)
				}
			}
		}
	}
}

func (m *sample) compare(p *node.PeerView, is *grid.Ad, scale time.Duration) {
	a := m.views[p.Hops]
	if a == nil {
		a = new(viewErrors)
		m.views[p.Hops] = a
	}
	a.n++
	a.age += p.Age.Seconds()
	a.error += gossip.Delta(p.Ad, is, scale)
}

// countTasks counts all tasks at the end of the run.
func (m *sample) countTasks(w *sim.World, s *Scenario, wall time.Duration) {
	m.report, m.wall = w.Report(), wall
	m.classes, m.failures = make(map[string]*times), make(map[string]int)
	for i := range s.Classes {
		m.classes[s.Classes[i].Name] = new(times)
	}
	m.ran, m.bag.first = make([]int, len(s.Groups)), -1
	crowd, bounds := newPopulation(m, s), s.bounds()
	for n := range m.work {
		sub := &m.work[n]
		for k := range sub.Spec.Count {
			o := w.Outcome(n, int(k))
			m.countWorth(w, s, n, int(k), &o)
			if w.Rejected(n) {
				continue
			}
			end := w.Now()
			if o.State == grid.Ended {
				end = o.Ended
			}
			crowd.add(m.away[sub.Node], sub.At, end)
			if sub.At >= m.from && sub.At < m.to {
				m.arrived++
			}
			m.countTask(sub, &o)
			if o.State == grid.Ended && sub.At >= m.from && o.Worker >= 0 {
				m.ran[groupOf(bounds, o.Worker)]++
			}
		}
		m.countGang(w, n, sub)
	}
	m.stable = !crowd.grows(s)
	m.measureRegret(w, s)
	m.work, m.away, m.busy = nil, nil, nil // of many replications they would be most of the memory
}

// countTask counts one task.
func (m *sample) countTask(sub *sim.Submission, o *sim.Outcome) {
	if o.State != grid.Ended {
		switch {
		case !m.complete:
		case m.away.neverReturns(sub.Node):
			m.orphans++
		default:
			m.lost++
		}
		return
	}
	if o.Result == nil || o.Result.Exit != 0 {
		cause := "no result"
		if o.Result != nil {
			cause = o.Result.Cause.String()
		}
		m.failures[cause]++
	}
	if sub.At < m.from {
		return
	}
	m.counted++
	if o.Worker >= 0 && o.Worker != sub.Node {
		m.moved++
	}
	if o.Result == nil || o.Result.Exit != 0 {
		return
	}
	if m.bag.first < 0 { // they stand in the order in which they came
		m.bag.first = sub.At
	}
	m.bag.last = max(m.bag.last, o.Ended)
	t := m.classes[sub.Spec.Class]
	c := (o.Ended - sub.At).Seconds()
	t.completion = append(t.completion, c)
	if o.Worker >= 0 && o.Worker != sub.Node {
		t.moved++
	}
	t.slowdown += c / max(o.Result.Wall.Seconds(), 1e-9)
}

// subtract returns the counts since then.
func subtract(now, then sim.Traffic) sim.Traffic {
	for k := range now.Sent {
		now.Sent[k] -= then.Sent[k]
		now.Bytes[k] -= then.Bytes[k]
		now.Announced[k] -= then.Announced[k]
	}
	now.Hops -= then.Hops
	now.Lost -= then.Lost
	now.Unknown -= then.Unknown
	now.Dials -= then.Dials
	now.Walks -= then.Walks
	now.Found -= then.Found
	now.FoundHops -= then.FoundHops
	return now
}
