package balance

import (
	"math"
	"slices"

	"skep/balance/batch"
	"skep/grid"
)

// Batch is a Policy that places many tasks at once, all by the same answers. For one task alone it is asked as any
// other policy.
type Batch interface {
	Policy

	// Assign appends a choice for each task, in the order of ts: Place, or Wait where no answer is from a node that
	// can run it. Ready of an answer is for any of them; ECT and Fetch are for tasks as ts[0].
	Assign(now grid.Time, ts []*grid.Task, answers []State, dst []Choice) []Choice
}

// Mapper is a Batch that maps tasks of many jobs together at mapping events. What does not begin soon may be mapped
// again at the next one.
type Mapper interface {
	Batch

	// Ask appends the nodes of v whose state must be fresh before so many tasks are mapped, of which the highest bid is
	// bid.
	Ask(now grid.Time, tasks int, bid grid.Bid, v View, dst []grid.NodeID) []grid.NodeID

	// Map maps a meta-task; the Plan is dead after the next call.
	Map(now grid.Time, m *MetaTask) *Plan
}

// MetaTask is the tasks that are mapped together at a mapping event.
type MetaTask struct {
	Nodes []State // Ready of each is for any task
	Kinds []Kind
	Until float64 // tasks that begin later, in seconds from now on, need no place yet
	Most  int     // bound of the placements that begin by then, and of the later ones
}

// Kind is tasks of a meta-task that are alike: of one job, with the same places to go.
type Kind struct {
	Job     grid.JobID
	Arrived grid.Time
	Tasks   int
	Bid     grid.Bid  // of its tasks: those that bid more are mapped first
	Aged    grid.Bid  // what the first of them bids, having waited
	Alone   []float64 // by node: execution time in seconds, +Inf where it cannot go
	Fetch   []float64 // by node: time in seconds until its inputs would be there

	Pays     grid.Bid      // what its tasks were submitted with; 0 = Bid
	Deadline grid.Deadline // counted from Arrived
	Spend    float64       // seconds that the job's budget pays for each of its tasks; 0 = it has none

	Cores float64     // that a task takes; 0 = 1
	Needs *grid.Needs // of the job
	Ways  [][]Way     // by node, of a job with options, those that could run there; nil = as Alone says. Map notes in them
}

// Plan is what came of a mapping event.
type Plan struct {
	Placed []batch.Placement
	Next   float64 // when the first node would begin a task that has no place, seconds from now on

	end func(kind int) float64
}

// End is when the next task of a kind without a place is expected to be done, seconds from now on; +Inf if that is
// not known.
func (p *Plan) End(kind int) float64 { return p.end(kind) }

// mapper is a policy for each heuristic of package batch.
type mapper struct {
	decider
	batch.Mapper

	plan    Plan
	kinds   []batch.Kind // of Assign
	tasks   [][]int      // of Assign, by kind: their positions
	meta    []batch.Kind // of Map, in its caller's memory
	jobs    []grid.JobID // by kind
	nodes   []batch.Node
	answers []State // by node
	ring    ring
	brings  map[fileKey]grid.Time // when inputs are or were at a cluster

	soonestIn []float64 // by cluster: when a job's inputs are there, seconds from now on
}

// fileKey names the inputs of a job at a cluster.
type fileKey struct {
	job grid.JobID
	cluster
}

// mostBrought bounds what is remembered of inputs; when there is more it is all forgotten.
const mostBrought = 4096

func init() {
	for name, m := range map[string]batch.Mapper{"min_min": {Rule: batch.MinMin}, "max_min": {Rule: batch.MaxMin},
		"sufferage": {Rule: batch.Sufferage}, "xsufferage": {Rule: batch.Sufferage, Clusters: true},
		"qos_min_min": {Rule: batch.QoSMinMin}, "dfpltf": {Rule: batch.DFPLTF}} {
		register(name, func(c *Config, r *grid.Rand) Policy {
			p := &mapper{decider: decider{cfg: c, rand: r}, Mapper: m, brings: map[fileKey]grid.Time{}}
			p.Ageing, p.Prefers = c.Ageing, p.prefers
			return p
		})
	}
}

// Poll asks as mct does, but for all tasks of the job together.
func (p *mapper) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	n := 1
	if t.Spec != nil {
		n = int(min(t.Spec.Count, grid.MaxCount))
	}
	return p.Ask(now, n, 0, v, dst)
}

// Ask appends PollMax nodes for each task.
func (p *mapper) Ask(now grid.Time, tasks int, _ grid.Bid, v View, dst []grid.NodeID) []grid.NodeID {
	if p.cfg.PollMax <= 0 {
		return everybody(v, dst)
	}
	p.scores, p.picked = p.scores[:0], p.picked[:0]
	p.rank(now, v, false)
	return p.ask(v, p.cfg.PollMax*max(min(tasks, len(v.Nodes)), 1), dst)
}

func (p *mapper) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	var one [1]Choice
	c := p.Assign(now, []*grid.Task{t}, answers, one[:0])[0]
	if c.Act != Place { // nobody is known to run the class: the soonest will teach its rate
		return p.soonest(now, t, answers)
	}
	return c
}

// Map places what begins soon.
func (p *mapper) Map(now grid.Time, m *MetaTask) *Plan {
	p.seats(now, m.Nodes)
	p.meta, p.jobs = p.meta[:0], p.jobs[:0]
	for i := range m.Kinds {
		k := &m.Kinds[i]
		p.jobs = append(p.jobs, k.Job)
		p.meta = append(p.meta, batch.Kind{Tasks: k.Tasks, Ages: append([]float64(nil), now.Sub(k.Arrived).Seconds()),
			Alone: k.Alone, Fetch: k.Fetch, Input: p.input(i), Bid: float64(k.Bid), Aged: float64(k.Aged)})
		p.fetched(now, k.Job, k.Fetch)
	}
	p.place(now, p.meta, m.Until, m.Most)
	p.plan.Next, p.plan.end = p.Next(), p.leftEnd
	return &p.plan
}

func (p *mapper) leftEnd(kind int) float64 {
	_, end := p.Left(kind)
	return end
}

// input numbers the inputs of kinds: those of a job are the same.
func (p *mapper) input(kind int) int { return slices.Index(p.jobs, p.jobs[kind]) + 1 }

// place runs the heuristic, and remembers what is brought where and what it expects of the last task alone.
func (p *mapper) place(now grid.Time, kinds []batch.Kind, until float64, most int) {
	p.plan.Placed = p.Mapper.Map(kinds, p.nodes, until, most, p.plan.Placed[:0])
	for _, x := range p.plan.Placed {
		p.expected = x.End - x.Start
		if s, fetch := &p.answers[x.Node], kinds[x.Kind].Fetch; p.Clusters && fetch[x.Node] > 0 {
			p.bring(now, fileKey{p.jobs[x.Kind], clusterOf(s.Site, s.Node)}, fetch[x.Node])
		}
	}
}

// prefers chooses among nodes with equal completion times: the first, or each with the same chance.
func (p *mapper) prefers(a, b, nth int) bool {
	if p.cfg.FirstTie {
		return p.answers[a].Node.Compare(p.answers[b].Node) < 0
	}
	return p.rand.IntN(nth) == 0
}

// seats takes the answers.
func (p *mapper) seats(now grid.Time, answers []State) {
	p.nodes, p.answers = p.nodes[:0], answers
	p.ring.look(answers)
	for k := range answers {
		s := &answers[k]
		x := batch.Node{Slots: p.slotsOf(s), Ready: sound(s.Ready) + p.charge(now, s)}
		if x.Ready == 0 {
			x.Idle = max(x.Slots-float64(max(s.Running, 0)), 1)
		}
		x.Cluster, _ = p.ring.at(clusterOf(s.Site, s.Node))
		p.nodes = append(p.nodes, x)
	}
}

// fetched lowers the times until a job's inputs are there to that of the node of the cluster that has most of them, and
// to what is known of earlier tasks that had them brought.
func (p *mapper) fetched(now grid.Time, job grid.JobID, fetch []float64) {
	if !p.Clusters {
		return
	}
	p.soonestIn = p.soonestIn[:0]
	for range p.ring.clusters {
		p.soonestIn = append(p.soonestIn, math.Inf(1))
	}
	for j := range fetch {
		x := &p.soonestIn[p.nodes[j].Cluster]
		*x = min(*x, fetch[j])
	}
	for j := range fetch {
		fetch[j] = p.soonestIn[p.nodes[j].Cluster]
		s := &p.answers[j]
		if at, ok := p.brings[fileKey{job, clusterOf(s.Site, s.Node)}]; ok {
			fetch[j] = min(fetch[j], max(at.Sub(now).Seconds(), 0))
		}
	}
}

// bring notes that inputs are on their way to a cluster.
func (p *mapper) bring(now grid.Time, key fileKey, fetch float64) {
	if _, ok := p.brings[key]; ok {
		return
	}
	if len(p.brings) >= mostBrought {
		clear(p.brings)
	}
	p.brings[key] = now.Add(grid.Seconds(fetch))
}

func (p *mapper) detailed() {}
