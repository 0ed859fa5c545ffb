package net

import (
	"math"
	"slices"
	"time"

	"skep/grid"
	"skep/sim"
)

// Stream is a part of the workload: random arrivals of tasks of a class, one job at a time, or a trace.
type Stream struct {
	Class string
	Rate  float64  // tasks a second over all origins together, in the long run
	Tasks uint32   // of a job, which arrive at once; 0 = 1
	From  []string // groups whose nodes submit, evenly; none = all
	User  string   // who submits; "" = nobody says

	// On and Off, if given, are the mean lengths of bursts and of the silence between them, both exponential. Rate
	// remains the long-run rate.
	On, Off time.Duration

	// Period and Swing, if given, make the rate periodic: Rate · (1 + Swing·sin(2πt/Period)).
	Period time.Duration
	Swing  float64 // 0 to 1

	Once time.Duration // when a job of Tasks tasks arrives, instead of Rate; 0 = it does not

	Trace []Job // instead of Rate

	Gang *Gang // the tasks of a job are its ranks, as many as Tasks
}

// Job is a line of a trace.
type Job struct {
	At    time.Duration // since the trace's begin
	Run   time.Duration // on a slot of the reference
	Tasks uint32
	User  int // determines the origin, if above 0
}

// Arrivals draws the workload of a run, by time.
func (s *Scenario) Arrivals(seed uint64) []sim.Submission {
	var all []sim.Submission
	for k := range s.Streams {
		st := &s.Streams[k]
		r, terms := grid.NewRand(seed, streamArrivals+uint64(k)), grid.NewRand(seed, streamTerms<<32+uint64(k))
		from := s.origins(st)
		c := s.class(st.Class)
		if st.Trace != nil {
			for _, sub := range s.traced(st, c, from, r) {
				sub.Spec = c.Terms.For(sub.Spec, terms)
				all = append(all, sub)
			}
			continue
		}
		spec := s.spec(st, c, max(st.Tasks, 1))
		if st.Once > 0 {
			all = append(all, sim.Submission{At: st.Once, Node: from[r.IntN(len(from))],
				Spec: c.Terms.For(spec, terms)})
			continue
		}
		for _, at := range st.times(s.Start, s.Time, r) {
			all = append(all, sim.Submission{At: at, Node: from[r.IntN(len(from))], Spec: c.Terms.For(spec, terms)})
		}
	}
	for k := range all {
		if c := s.class(all[k].Spec.Class); !all[k].Spec.IsGang() {
			all[k].Checkpoint = c.Checkpoint
		}
	}
	slices.SortStableFunc(all, func(a, b sim.Submission) int { return int(max(-1, min(1, a.At-b.At))) })
	return all
}

// Sizes are those of the tasks that Arrivals draws, in their order: of a job, one after the other.
func (s *Scenario) Sizes(seed uint64) (sizes []float64) {
	w := s.world(seed)
	w.Sizes(func(_ string, size float64) { sizes = append(sizes, size) })
	return sizes
}

// origins returns the nodes that submit a stream.
func (s *Scenario) origins(st *Stream) []int {
	var from []int
	bounds := s.bounds()
	for g := range s.Groups {
		if len(st.From) == 0 && s.Groups[g].Hostile != 0 || len(st.From) > 0 && !slices.Contains(st.From, s.Groups[g].Name) {
			continue
		}
		for i := bounds[g]; i < bounds[g+1]; i++ {
			from = append(from, i)
		}
	}
	return from
}

// times draws the arrival times of jobs: a Poisson process of the highest rate, thinned.
func (st *Stream) times(start, end time.Duration, r *grid.Rand) []time.Duration {
	rate := st.Rate / float64(max(st.Tasks, 1))
	top := rate * (1 + st.Swing)
	bursts := st.On > 0 && st.Off > 0
	on, until := true, time.Duration(math.MaxInt64)
	if bursts {
		top *= (st.On + st.Off).Seconds() / st.On.Seconds()
		on = r.Float64() < st.On.Seconds()/(st.On+st.Off).Seconds()
		until = start + st.phase(on, r)
	}
	var out []time.Duration
	for at := start; ; {
		gap := grid.Seconds(r.ExpFloat64() / top)
		if gap >= end-at {
			return out
		}
		at += gap
		for at >= until {
			on = !on
			until += st.phase(on, r)
		}
		share := 1.0
		if st.Period > 0 {
			share = (1 + st.Swing*math.Sin(2*math.Pi*at.Seconds()/st.Period.Seconds())) / (1 + st.Swing)
		}
		if r.Float64() < share && on {
			out = append(out, at)
		}
	}
}

func (st *Stream) phase(on bool, r *grid.Rand) time.Duration {
	mean := st.Off
	if on {
		mean = st.On
	}
	return max(grid.Seconds(mean.Seconds()*r.ExpFloat64()), 1)
}

// traced turns a trace into submissions. Jobs after the end of arrivals are left out.
func (s *Scenario) traced(st *Stream, c *Class, from []int, r *grid.Rand) []sim.Submission {
	var out []sim.Submission
	specs := map[uint32]*grid.JobSpec{}
	for _, j := range st.Trace {
		at := s.Start + j.At
		if at >= s.Time {
			continue
		}
		spec := specs[j.Tasks]
		if spec == nil {
			spec = c.spec(j.Tasks)
			spec.Submitter.User = st.User
			specs[j.Tasks] = spec
		}
		node := from[r.IntN(len(from))]
		if j.User > 0 {
			node = from[j.User%len(from)]
		}
		out = append(out, sim.Submission{At: at, Node: node, Spec: spec, Size: j.Run.Seconds() / c.unit()})
	}
	return out
}

// leftOut counts the jobs of traces after the end of arrivals.
func (s *Scenario) leftOut() (n int) {
	for k := range s.Streams {
		for _, j := range s.Streams[k].Trace {
			if s.Start+j.At >= s.Time {
				n++
			}
		}
	}
	return n
}

// unit returns the seconds that a task of size 1 takes on the reference.
func (c *Class) unit() float64 {
	if c.Mean > 0 {
		return c.Mean.Seconds()
	}
	return 1
}

// load returns the long-run arrival rate of a stream, in tasks of mean size a second.
func (s *Scenario) load(st *Stream) float64 {
	if st.Once > 0 {
		return float64(max(st.Tasks, 1)) / max((s.Time-s.Start).Seconds(), 1e-9)
	}
	if st.Trace == nil {
		return st.Rate
	}
	work, c := 0.0, s.class(st.Class)
	for _, j := range st.Trace {
		if s.Start+j.At < s.Time && c != nil {
			work += float64(j.Tasks) * j.Run.Seconds() / c.unit()
		}
	}
	return work / max((s.Time-s.Start).Seconds(), 1e-9)
}
