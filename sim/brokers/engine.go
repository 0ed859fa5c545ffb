package brokers

import (
	"encoding/binary"
	"math"
	"strconv"
	"sync/atomic"

	"skep/balance"
	"skep/grid"
)

// engine is one run of a system under one policy.
type engine struct {
	sys      *System
	rate     float64
	now      float64
	agenda   agenda
	stop     *atomic.Bool
	warmup   int
	measured int

	resources []resource
	policies  []balance.Policy // by cluster
	views     []balance.View   // by cluster
	rest      []balance.State  // of a view, without those asked
	spare     []*job

	gaps, origins, kinds, sizes *grid.Rand

	inside   int
	area     float64
	jobs     int // that came
	left     int // of the measured, not yet back
	total    float64
	all      float64 // response times of all that returned
	returned int
	byClass  []float64
	nByClass []int
	messages int
	probed   int // clusters
	rejected int
	demoted  int
}

// job is a job that is in the grid.
type job struct {
	task    grid.Task
	since   float64
	demand  float64
	class   int // true
	said    int // declared
	home    int
	counts  bool
	early   bool // it is stopped at the bound of its class
	asked   []grid.NodeID
	round   int // where the last round begins in asked
	answers []balance.State
	to      int
}

// The streams of a replication's randomness.
const (
	streamGaps = iota
	streamOrigins
	streamKinds
	streamSizes
	streamPolicies
)

func newEngine(s *System, policy string, o *Options, replication int, stop *atomic.Bool) (*engine, error) {
	stream := func(k int) *grid.Rand { return grid.NewRand(o.Seed, uint64(replication)<<32|uint64(k)) }
	e := &engine{sys: s, rate: o.Rate, stop: stop, warmup: o.Warmup, measured: o.Jobs,
		gaps: stream(streamGaps), origins: stream(streamOrigins), kinds: stream(streamKinds), sizes: stream(streamSizes),
		byClass: make([]float64, len(s.Classes)), nByClass: make([]int, len(s.Classes))}
	var homes []*balance.Site
	for i, classes := range s.Clusters {
		name := "c" + strconv.Itoa(100_000+i) // in order as texts
		homes = append(homes, &balance.Site{Cluster: name})
		known := &balance.Site{Cluster: name, Closed: true}
		for _, class := range classes {
			e.resources = append(e.resources,
				resource{cluster: i, known: known, site: &balance.Site{Cluster: name, Class: class}})
		}
	}
	for i := range s.Clusters {
		c := o.Balance
		c.FirstTie = true
		p, err := balance.Make(policy, &c, stream(streamPolicies+i))
		if err != nil {
			return nil, err
		}
		v := balance.View{Self: grid.NodeID{0xff}, Home: homes[i]}
		for j := range e.resources {
			r := &e.resources[j]
			v.Nodes = append(v.Nodes, balance.State{Node: identity(j), Site: r.known})
			if r.cluster == i && len(s.Clusters[i]) == 1 {
				v.Self = identity(j) // local allocation is to the cluster's one resource
			}
			p.Note(e.column(j))
		}
		e.policies, e.views = append(e.policies, p), append(e.views, v)
	}
	return e, nil
}

// column is the rates of a resource, the same for all.
func (e *engine) column(j int) balance.Outcome {
	o := balance.Outcome{Kind: balance.Rates, Node: identity(j), Slots: 1}
	for k := range e.sys.Classes {
		c := &e.sys.Classes[k]
		o.Rates = append(o.Rates, grid.Rate{Class: c.Name, Alpha: e.rate * c.Part / float64(len(e.resources)),
			Mu: 1 / c.Mean()})
	}
	return o
}

func identity(j int) (id grid.NodeID) {
	binary.BigEndian.PutUint32(id[:], uint32(j+1))
	return id
}

func number(id grid.NodeID) int { return int(binary.BigEndian.Uint32(id[:4])) - 1 }

func (e *engine) clock() grid.Time { return grid.Time(e.now * 1e9) }

// run goes on until all measured jobs are back; sources go on until then, or the last ones would meet an emptier
// grid [1, section 3.8]. It reports whether it came to the end.
func (e *engine) run() bool {
	e.left = e.measured
	arrival := e.gaps.ExpFloat64() / e.rate
	for e.left > 0 {
		due := math.Inf(1)
		if e.agenda.due.Len() > 0 {
			due, _ = e.agenda.due.First()
		}
		if arrival < due {
			e.advance(arrival)
			e.arrive()
			arrival += e.gaps.ExpFloat64() / e.rate
			if e.jobs&(1<<12-1) == 0 && e.stop.Load() {
				return false
			}
			continue
		}
		at, h := e.agenda.due.Pop()
		e.advance(at)
		e.happen(h)
	}
	return true
}

func (e *engine) advance(t float64) {
	e.area += float64(e.inside) * (t - e.now)
	e.now = t
}

// arrive brings a job.
func (e *engine) arrive() {
	x := &job{}
	if n := len(e.spare); n > 0 {
		x, e.spare = e.spare[n-1], e.spare[:n-1]
	}
	u := e.kinds.Float64()
	x.class = 0
	for x.class < len(e.sys.Classes)-1 && u >= e.sys.Classes[x.class].Part {
		u -= e.sys.Classes[x.class].Part
		x.class++
	}
	c := &e.sys.Classes[x.class]
	x.demand = c.Demand[0] + (c.Demand[1]-c.Demand[0])*e.sizes.Float64()
	x.said = x.class
	if x.class > 0 && e.sys.Mistaken > 0 && e.kinds.Float64() < e.sys.Mistaken {
		x.said--
	}
	x.home, x.since = e.origins.IntN(len(e.sys.Clusters)), e.now
	x.counts = e.jobs >= e.warmup && e.jobs < e.warmup+e.measured
	e.jobs++
	e.inside++
	x.task = grid.Task{Class: e.sys.Classes[x.said].Name, Arrived: e.clock()}
	x.task.ID.N, x.task.ID.Epoch = uint32(e.jobs), 1
	e.place(x)
}
