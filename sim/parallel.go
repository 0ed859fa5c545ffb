package sim

import (
	"math"
	"slices"
	"time"

	"skep/grid"
	"skep/node"
	"skep/sim/mesh"
)

// Parallel is what the ranks of gangs execute, and what carries their messages. A gang begins its program when all of
// its ranks run, and ends when each has had its last iteration; if a rank is gone before, the others wait in vain until
// they are told to end. It begins with the first iteration in each attempt.
type Parallel struct {
	// Program is that of a class, and its iterations; 0 = its tasks run by themselves.
	Program func(class string) (p mesh.Program, iterations int)

	Speed    []float64 // by node: cycles a second that a core executes at full speed
	Capacity []float64 // bytes a second of what messages share
	// Path is what messages from one node to another share, as indices of Capacity. Their latency is the network's.
	Path func(from, to int) []int
	// Files has files share these paths as if nothing else was on them, and tells both nodes of a transfer what it has
	// achieved.
	Files bool
}

// GangRun is an attempt of a gang all of whose ranks have run at a time.
type GangRun struct {
	Attempt   grid.Attempt
	Began     time.Duration
	Ended     time.Duration // 0 = it was lost, or runs still
	Iteration float64       // mean time of one, seconds; of an attempt that has ended
	Predicted float64       // the same by the search that chose the nodes; 0 = it predicted none, or it is not known
	Nodes     int           // that it ran on
}

// parallel is the parallel programs of a world.
type parallel struct {
	Parallel
	live *mesh.Live
	of   map[gangAttempt]int // index of the program; never iterated
	all  []program
	next uint64 // the event of that number counts; older ones do not
}

type gangAttempt struct {
	job     int32
	attempt grid.Attempt
}

// program is an attempt of a gang.
type program struct {
	gangAttempt
	runs  []int32 // by rank; −1 = it does not run yet
	left  int     // ranks that do not run yet; −1 = it is over
	stats GangRun
}

func newParallel(w *World) *parallel {
	c := w.cfg.Machine.Parallel
	if c == nil {
		return nil
	}
	p := &parallel{Parallel: *c, of: map[gangAttempt]int{}}
	p.live = mesh.NewLive(c.Speed, c.Capacity, func(from, to int) ([]int, float64) {
		return c.Path(from, to), w.latency(int32(from), int32(to)).Seconds()
	})
	return p
}

// runs reports whether tasks of a class are ranks of a parallel program.
func (p *parallel) runs(class string) bool {
	if p == nil {
		return false
	}
	_, n := p.Program(class)
	return n > 0
}

// rankBegan notes that a task runs. When all ranks of a gang's attempt do, its program begins.
func (w *World) rankBegan(name int32) {
	r, p := &w.runs[name], w.parallel
	if !r.spec.IsGang() || !p.runs(grid.ClassOf(w.cfg.Work[r.job].Spec)) {
		return
	}
	key := gangAttempt{r.job, r.id.Attempt}
	at, is := p.of[key]
	if !is {
		at = len(p.all)
		n := int(r.spec.Gang.RanksOf(r.id.Attempt))
		p.of[key] = at
		p.all = append(p.all, program{gangAttempt: key, runs: slices.Repeat([]int32{-1}, n), left: n})
	}
	x := &p.all[at]
	if x.left < 0 {
		return
	}
	x.runs[r.id.Task.Index] = name
	if x.left--; x.left > 0 {
		return
	}
	hosts, rows := make([]int, len(x.runs)), shares(r.places)
	for k, name := range x.runs {
		hosts[k] = int(w.runs[name].node)
	}
	what, iterations := p.Program(grid.ClassOf(w.cfg.Work[r.job].Spec))
	if rows == nil {
		rows = equalShares(what.N, len(hosts))
	}
	x.stats = GangRun{Attempt: r.id.Attempt, Began: time.Duration(w.now), Predicted: w.predicted(r.job),
		Nodes: len(slices.Compact(slices.Sorted(slices.Values(hosts))))}
	w.changeRanks(func() { p.live.Start(uint64(at), what, hosts, rows, iterations) })
}

// shares lists the share of each rank; nil = the work is not divided.
func shares(places []grid.RankPlace) (rows []int) {
	for _, p := range places {
		for _, x := range p.Shares {
			rows = append(rows, int(x))
		}
	}
	return rows
}

// equalShares is how a program divides its work that is not told how.
func equalShares(n, ranks int) (rows []int) {
	for k := range ranks {
		rows = append(rows, n*(k+1)/ranks-n*k/ranks)
	}
	return rows
}

// predicted is the time of an iteration that the last search for a gang's nodes has predicted, as far as the node that
// it was submitted to knows.
func (w *World) predicted(job int32) float64 {
	m, ok := w.hosts[w.cfg.Work[job].Node].member.(interface {
		Task(grid.TaskID) (node.TaskView, bool)
	})
	if !ok {
		return 0
	}
	t, _ := m.Task(grid.TaskID{Job: w.jobID(job)})
	for k := len(t.Traces) - 1; k >= 0; k-- {
		if t.Traces[k].What == grid.TraceScheduled {
			return t.Traces[k].ECT.Seconds()
		}
	}
	return 0
}

// rankGone notes that a run has ended: if it is one of a parallel program, that does not go on.
func (w *World) rankGone(r *run) {
	p := w.parallel
	if p == nil || !r.spec.IsGang() {
		return
	}
	at, is := p.of[gangAttempt{r.job, r.id.Attempt}]
	if !is || p.all[at].left < 0 {
		return
	}
	x := &p.all[at]
	if name := x.runs[r.id.Task.Index]; name < 0 || &w.runs[name] != r {
		return
	}
	began := x.left == 0
	if x.left = -1; began {
		w.changeRanks(func() { p.live.Stop(uint64(at)) })
	}
}

// setRankSpeed tells the speed of a node's ranks.
func (w *World) setRankSpeed(i int32) {
	if p := w.parallel; p != nil {
		h := &w.hosts[i]
		w.changeRanks(func() { p.live.SetSpeed(int(i), p.Speed[i]*h.speed/h.slow) })
	}
}

// changeRanks brings the programs to the world's time, changes something, and schedules what happens next.
func (w *World) changeRanks(change func()) {
	p := w.parallel
	now := time.Duration(w.now).Seconds()
	for _, d := range p.live.Advance(now) {
		w.programDone(&d)
	}
	change()
	if next := p.live.Next(); !math.IsInf(next, 1) {
		p.next++
		at := w.now
		if next > now {
			at = max(w.now+1, grid.Time(math.Ceil(next*float64(time.Second)))) // + 1: seconds are rounded
		}
		w.push(at, kindRanks, 0, 0, p.next)
	}
}

// advanceRanks handles what happens in the programs now.
func (w *World) advanceRanks(event uint64) {
	if event == w.parallel.next {
		w.changeRanks(func() {})
	}
}

// programDone has all ranks of a program exit.
func (w *World) programDone(d *mesh.Done) {
	x := &w.parallel.all[d.Name]
	x.left, x.stats.Ended, x.stats.Iteration = -1, time.Duration(w.now), d.Iteration
	for k, name := range x.runs {
		r := &w.runs[name]
		if r.spec != nil && r.id == w.rankID(x, k) && !r.stopping {
			r.gen++ // invalidates what ends it otherwise
			r.timesOut, r.ending = false, Ending{}
			w.push(w.now, kindEnded, r.node, 0, packRef(name, r.gen))
		}
	}
}

func (w *World) rankID(x *program, rank int) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: w.jobID(x.job), Index: uint32(rank)}, Attempt: x.attempt}
}

// Gangs returns the attempts of a submission that ran as a parallel program, in the order in which they began.
func (w *World) Gangs(submission int) (all []GangRun) {
	if w.parallel == nil {
		return nil
	}
	for k := range w.parallel.all {
		if x := &w.parallel.all[k]; x.job == int32(submission) && x.stats.Nodes > 0 {
			all = append(all, x.stats)
		}
	}
	return all
}
