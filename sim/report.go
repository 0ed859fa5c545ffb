package sim

import (
	"math"
	"slices"
	"time"

	"skep/grid"
	"skep/sim/oracle"
)

// Report is the result of a run.
type Report struct {
	Digest   uint64        // of all events and effects of every node
	Virtual  time.Duration // time in the world
	Nodes    time.Duration // uptime of all nodes together
	Steps    uint64
	Tasks    int // submitted
	Ended    int
	Failed   int // of these, without exit 0
	Moved    int // of these, run on another node than their origin
	Rejected int // submissions that their node refused
	Again    int // attempts beyond each task's first
	// times that an attempt was suspended
	Suspensions int
	Replaced    int // members of registers
	Damage
	Verified int // ends of signed jobs written, whose signatures were checked
	Traffic  Traffic
	// core-seconds of Regret, and in which attempts ran, once the last fault has no consequences; with Config.Conserves
	Regret, Busy float64
	Checkpoints  oracle.Checkpoints
	Classes      []ClassReport // of the tasks that exited with 0, by class in order of first submission
}

// Damage is what came of stores that were damaged.
type Damage struct {
	PutBack   int  // nodes that stopped because their stores were put back
	Undecided bool // the run ended early: a node whose store was put back acted, and nobody could tell it
	Refused   int  // starts that were refused, since records were not as they were written
}

// ClassReport is the distribution of the time from submission to the recorded end.
type ClassReport struct {
	Class               string
	Tasks               int
	Mean, P50, P95, P99 time.Duration
}

// Report returns the results of the run so far.
func (w *World) Report() Report {
	r := Report{Digest: uint64(w.digest), Virtual: time.Duration(w.now), Steps: w.steps, Tasks: w.books.Tasks(),
		Traffic: w.counts, Nodes: w.upTime, Checkpoints: w.books.Checkpoints(),
		Suspensions: w.books.Suspensions(), Replaced: w.books.Replaced(), Verified: w.books.EndsVerified(),
		Damage: Damage{Refused: w.refused, Undecided: w.fail != nil && w.fail.undecided}}
	if w.stores != nil {
		r.PutBack = w.stores.Found
	}
	for i := range w.hosts {
		if h := &w.hosts[i]; h.up {
			r.Nodes += w.now.Sub(h.upSince)
		}
	}
	if w.cfg.Conserves {
		r.Regret, r.Busy = w.Regret(time.Duration(w.calm()))
	}
	times := make([][]time.Duration, len(w.books.Classes()))
	for _, name := range w.books.Classes() {
		r.Classes = append(r.Classes, ClassReport{Class: name})
	}
	for i := range w.cfg.Work {
		s, j := &w.cfg.Work[i], w.books.Job(i)
		if j.Rejected {
			r.Rejected++
		}
		for k := range s.Spec.Count {
			t := w.books.Task(i, int(k))
			r.Again += int(max(t.Attempt.N, 1) - 1)
			if t.State != grid.Ended {
				continue
			}
			r.Ended++
			if t.Worker >= 0 && int(t.Worker) != s.Node {
				r.Moved++
			}
			if t.Result.None() || t.Result.Exit != 0 {
				r.Failed++
				continue
			}
			times[j.Class] = append(times[j.Class], t.Ended.Sub(grid.Time(s.At)))
		}
	}
	for c := range times {
		r.Classes[c].fill(times[c])
	}
	return r
}

func (c *ClassReport) fill(times []time.Duration) {
	c.Tasks = len(times)
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	sum := 0.0
	for _, t := range times {
		sum += float64(t)
	}
	quantile := func(q float64) time.Duration { return times[int(math.Ceil(q*float64(len(times))))-1] }
	c.Mean = time.Duration(sum / float64(len(times)))
	c.P50, c.P95, c.P99 = quantile(0.50), quantile(0.95), quantile(0.99)
}

// Traffic returns the message counts so far.
func (w *World) Traffic() Traffic { return w.counts }

// RunSwarm runs the worlds of consecutive seeds from first on. each is called after each world, with its error if it
// failed, and returns whether to go on.
func RunSwarm(first uint64, worlds int, log func(line string), each func(seed uint64, r Report, err error) bool) {
	runWorlds(Swarm, first, worlds, log, each)
}

// runWorlds is RunSwarm with another draw of worlds.
func runWorlds(draw func(seed uint64) Config, first uint64, worlds int, log func(line string),
	each func(seed uint64, r Report, err error) bool) {
	for k := range worlds {
		c := draw(first + uint64(k))
		c.Log = log
		if r, err := runToEnd(c); !each(c.Seed, r, err) {
			return
		}
	}
}

// runToEnd runs a world to its end.
func runToEnd(c Config) (Report, error) {
	w, err := New(c)
	if err != nil {
		return Report{}, err
	}
	return w.Run()
}
