package advise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"skep/balance/market/advice"
	"skep/node/api/client"
	"skep/node/api/v1"
)

// Bounds of what is asked of the grid.
const (
	maxJobs  = 50  // the newest
	maxTasks = 200 // of each
)

// Grid advises for the grid of a node, by its nodes now and by its newest jobs, at most so old.
func Grid(ctx context.Context, c *client.Client, now time.Time, within time.Duration, purpose advice.Word) (*Report,
	error) {
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	page, err := c.List(ctx, &client.ListQuery{Grid: true, Limit: maxJobs, Since: now.Add(-within)})
	if err != nil {
		return nil, err
	}
	g := &history{now: now, speeds: make(map[string]float64)}
	g.addNodes(nodes.Nodes)
	for _, j := range page.Jobs {
		job, err := c.Job(ctx, j.ID)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || job.Spec == nil { // under access owner, or gone
			g.unseen++
			continue
		}
		tasks, err := c.Tasks(ctx, j.ID, 0, maxTasks)
		if err != nil {
			g.unseen++
			continue
		}
		g.addJob(&job, tasks.Tasks)
	}
	return newReport(g.measured(purpose), g.source(), func(r *advice.Row) (string, []string) { return r.FirstOnNodes() }),
		nil
}

// history is what nodes and jobs say.
type history struct {
	now    time.Time
	speeds map[string]float64 // by node
	cores  float64
	free   float64 // cores
	rtt    []float64

	jobs, unseen int
	oldest       time.Time
	sizes        []float64 // run times on a core of the reference machine, seconds
	work         float64   // core-seconds
	arrivals     []arrival
	bids         []float64
	deadlines    []float64 // in the times that the job would take with the grid to itself
	worthless    []float64
}

// arrival is tasks that came at once.
type arrival struct {
	at    time.Time
	tasks int
}

func (g *history) addNodes(nodes []v1.Node) {
	for i := range nodes {
		n := &nodes[i]
		if n.State != v1.NodeSelf && n.State != v1.NodeConnected {
			continue
		}
		g.speeds[n.ID] = n.Speed
		g.cores += n.Cores
		g.free += n.FreeCores
		if n.RTT > 0 {
			g.rtt = append(g.rtt, n.RTT)
		}
	}
}

// addJob takes a job and its first tasks. What these say holds for the others.
func (g *history) addJob(j *v1.Job, tasks []v1.Task) {
	g.jobs++
	if g.oldest.IsZero() || j.Submitted.Before(g.oldest) {
		g.oldest = j.Submitted
	}
	g.arrivals = append(g.arrivals, arrival{j.Submitted, j.Count})
	bid := 1.0
	if j.Spec.Priority != nil {
		bid = *j.Spec.Priority
	}
	g.bids = append(g.bids, bid)
	var wall float64
	var ended int
	for i := range tasks {
		t := &tasks[i]
		if t.Result == nil || t.Result.Wall <= 0 {
			continue
		}
		ended++
		wall += t.Result.Wall
		g.sizes = append(g.sizes, t.Result.Wall*cmp.Or(g.speeds[t.Node], 1))
	}
	if ended == 0 {
		return
	}
	mean, cores := wall/float64(ended), cmp.Or(j.Spec.Needs.Cores, 1)
	g.work += mean * cores * float64(j.Ended)
	if d := j.Spec.Deadline; d != nil {
		alone := mean * max(1, float64(j.Count)*cores/max(g.cores, 1))
		g.deadlines = append(g.deadlines, d.At/alone)
		if d.Worthless > 0 {
			g.worthless = append(g.worthless, d.Worthless/alone)
		}
	}
}

// measured is the numbers. Deadlines count where a tenth of the jobs have them.
func (g *history) measured(purpose advice.Word) *advice.Measured {
	none := math.NaN()
	m := &advice.Measured{Servers: int(g.cores), Fastest: none, Load: none, Background: none, Whole: none, Delay: none,
		Burst: none, Spread: none, Bids: none, Deadline: none, Worthless: none, Purpose: purpose}
	var speeds []float64
	for _, x := range g.speeds {
		if x > 0 {
			speeds = append(speeds, x)
		}
	}
	m.Fastest = spread(speeds, 0)
	m.Load = g.load()
	if len(g.sizes) > 0 {
		run := stat.Mean(g.sizes, nil) / stat.Mean(speeds, nil)
		if len(g.rtt) > 0 {
			m.Delay = stat.Mean(g.rtt, nil) / 2 / run
		}
		m.Burst = g.burst(time.Duration(run * float64(time.Second)))
		const outliers = 0.05
		m.Spread = spread(g.sizes, outliers)
	}
	m.Bids = spread(g.bids, 0)
	const some = 0.1
	if len(g.deadlines) > 0 && float64(len(g.deadlines)) >= some*float64(g.jobs) {
		m.Deadline = stat.Mean(g.deadlines, nil)
		if len(g.worthless)*2 > len(g.deadlines) {
			m.Worthless = stat.Mean(g.worthless, nil)
		}
	}
	return m
}

// load is the part of the cores that tasks took since the oldest job, or take now if that is more; NaN = no task has
// ended, and none runs.
func (g *history) load() float64 {
	if g.cores == 0 {
		return math.NaN()
	}
	now := 1 - g.free/g.cores
	if span := g.now.Sub(g.oldest).Seconds(); g.work > 0 && span > 0 {
		return min(1, max(now, g.work/span/g.cores))
	}
	if now <= 0 {
		return math.NaN()
	}
	return now
}

// burst is the mean number of tasks that come within a run time, as a task sees it that comes then.
func (g *history) burst(run time.Duration) float64 {
	var tasks, seen float64
	for _, a := range g.arrivals {
		for _, b := range g.arrivals {
			if d := a.at.Sub(b.at); d >= 0 && d <= run {
				seen += float64(a.tasks) * float64(b.tasks)
			}
		}
		tasks += float64(a.tasks)
	}
	return seen / tasks
}

// source says where the numbers come from.
func (g *history) source() source {
	jobs := fmt.Sprintf("%d jobs", g.jobs)
	if g.unseen > 0 {
		jobs += fmt.Sprintf(" (%d cannot be seen)", g.unseen)
	}
	s := source{"servers": fmt.Sprintf("cores of %d nodes", len(g.speeds)), "speeds": "of a core, as nodes say",
		"background": "nodes do not say it", "grain": "nodes do not say it", "delays": "round trips to nodes, halved",
		"bursts": jobs, "sizes": fmt.Sprintf("%d tasks of %s, without the outer tenth", len(g.sizes), jobs), "purpose": jobs,
		"deadlines": fmt.Sprintf("%d jobs have one", len(g.deadlines))}
	if g.jobs > 0 {
		s["load"] = fmt.Sprintf("the last %v, or now if that is more", g.now.Sub(g.oldest).Round(time.Second))
	}
	return s
}

// spread is the largest over the smallest, without a part of both ends; NaN if there is nothing.
func spread(x []float64, part float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	drop := int(part * float64(len(x)))
	return x[len(x)-1-drop] / x[drop]
}
