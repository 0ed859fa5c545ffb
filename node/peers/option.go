package peers

import (
	"cmp"

	"skep/balance"
	"skep/balance/order"
	"skep/discovery"
	"skep/grid"
)

// way is a way in which a task can run: as an option of its job, or, without options, as the job says.
type way struct {
	grid.Resources
	option  uint8 // number; 0 = none
	speedup float64
	value   float64
	dear    bool // the node has wanted more for it lately than it is worth
}

// waysOf is in how many ways the tasks of a job can run.
func waysOf(spec *grid.JobSpec) int {
	if spec.Needs.Unchosen() {
		return len(spec.Needs.Options)
	}
	return 1
}

// wayOf is the k-th way, if a node that meets what all of them need fits it and accepts it now, by its ad.
func wayOf(spec *grid.JobSpec, k int, ad *grid.Ad) (w way, fits bool) {
	n := &spec.Needs
	if !n.Unchosen() {
		return way{n.Resources, n.Chosen, spec.Speedup(), 1, false}, true
	}
	o, number := &n.Options[k], uint8(k+1)
	w = way{o.Resources, number, o.Speedup, o.Value, false}
	return w, ad == nil || discovery.SuitsOption(spec, number, ad) == grid.WhyNone
}

// best takes the way with the least expected completion time for its value; of equal ones the first. A way that ends
// within the time in which a result is worth something comes before those that end later, of which the first to end is
// taken: no value makes up for that. So do those that the node has named no price for that is above their worth. For a
// policy that places tasks only where they start at once, a way that does
// comes before all that do not: else the policy would keep the task from an idle node for the sake of a way that waits
// there.
type best struct {
	way
	ready, ect float64
	some       bool
	atOnce     bool    // the policy is such
	limit      float64 // in seconds from now; 0 = none
	several    bool    // there are options to choose among
	all        []balance.Way
}

func (b *best) offer(w way, ready, ect float64) {
	better := ect/w.value < b.ect/b.value
	if late, was := b.late(ect), b.late(b.ect); late || was {
		better = ect < b.ect
	} else if w.dear != b.dear {
		better = b.dear
	} else if idle := ready <= 0; b.atOnce && idle != (b.ready <= 0) {
		better = idle
	}
	if b.several {
		b.all = append(b.all, balance.Way{Option: w.option, Cores: w.CPU.Cores(), Ready: ready, ECT: ect, Dear: w.dear})
	}
	if !b.some || better {
		b.way, b.ready, b.ect, b.some = w, ready, ect, true
	}
}

// waysAt are all ways to run a task of a job with options at a node of a capacity, with their completion times as they
// are believed of the node. None is dear if all are.
func (b *best) waysAt(spec *grid.JobSpec, capacity grid.Resources, believed func(ect, speedup float64) float64,
) []balance.Way {
	for k := range b.all {
		w := &b.all[k]
		o := spec.Needs.Option(w.Option)
		w.ECT, w.Most, w.Dear = believed(w.ECT, o.Speedup), atOnce(capacity, o.Counts), w.Dear && !b.dear
	}
	return b.all
}

func (b *best) late(ect float64) bool { return b.limit > 0 && ect > b.limit }

// bestOf begins to look for the best way to run a job's tasks.
func (p *Peers) bestOf(spec *grid.JobSpec, limit float64) (b best) {
	b.limit = limit
	if len(spec.Needs.Options) > 0 {
		policy := cmp.Or(spec.Policy, p.cfg.Policies.DefaultName())
		b.atOnce, b.several = balance.Copies(policy), spec.Needs.Unchosen()
	}
	return b
}

// stated is the best way to run a task at a peer, by what it said without being asked, and when the task would start
// and be done. A peer says when a task of one core would start. A task that runs as an option which does not fit beside
// what runs there waits for some of that to end; how much of it is left is not known, and is taken to be a run time of
// the task's own class.
func (p *Peers) stated(now grid.Time, m connectedPeer, spec *grid.JobSpec, level string,
	typical, limit float64) (b best) {
	ad := m.view.Ad
	b = p.bestOf(spec, limit)
	for k := range waysOf(spec) {
		w, fits := wayOf(spec, k, ad)
		if !fits {
			continue
		}
		w.dear = p.dear(now, m.peer, spec, level, w)
		ready := startAt(ad, w.Counts)
		if w.option > 0 && !ad.Free.Fits(w.Resources) {
			ready = max(ready, 1/p.rateOf(m.peer, level, typical))
		}
		b.offer(w, ready, ready+p.runTimeAt(m, spec, level, typical, w))
	}
	return b
}

// ownBest is the best way to run a task here, and when it would start and be done; none if all are refused.
func (p *Peers) ownBest(now grid.Time, spec *grid.JobSpec, level string, limit float64) (b best) {
	here := p.cfg.Exec
	b = p.bestOf(spec, limit)
	key := order.Key{Bid: spec.Bid(), Node: p.cfg.Self, User: spec.Submitter.User, Class: level}
	for k := range waysOf(spec) {
		w, fits := wayOf(spec, k, p.ownAd())
		if !fits || here.Refuses(w.Resources) != grid.WhyNone {
			continue
		}
		ready, done := here.Done(now, key, w.Resources, w.speedup, p.RunTime)
		b.offer(w, ready, done)
	}
	return b
}

// answered is the best way to run a task at a peer, by its answer to a poll for the task. An answer that leaves out
// options says nothing of them.
func (p *Peers) answered(now grid.Time, from grid.NodeID, spec *grid.JobSpec, level string, limit float64,
	s *grid.State) (b best) {
	n := &spec.Needs
	if len(n.Options) == 0 {
		return best{way: way{Resources: n.Resources, speedup: 1, value: 1}, ready: max(s.Backlog, 0).Seconds(),
			ect: max(s.ECT, 0).Seconds(), some: true}
	}
	b = p.bestOf(spec, limit)
	ad := p.adOf(from)
	first := -1 // of the options that fit
	for k := range n.Options {
		w, fits := wayOf(spec, k, ad)
		if fits && first < 0 {
			first = k
		}
		w.dear = p.dear(now, p.set.get(from), spec, level, w)
		if x := s.Options; fits && k < len(x) && x[k].Why == grid.WhyNone {
			b.offer(w, max(x[k].Ready, 0).Seconds(), max(x[k].ECT, 0).Seconds())
		}
	}
	if !b.some {
		w, _ := wayOf(spec, max(first, 0), ad)
		b.offer(w, max(s.Backlog, 0).Seconds(), max(s.ECT, 0).Seconds())
	}
	return b
}

// OptionAt is the number of the option as which a task would run best at a node, as known without a poll; 0 = its job
// has none. A node that fits no option refuses what it is offered.
func (p *Peers) OptionAt(now grid.Time, id grid.NodeID, spec *grid.JobSpec, level string, limit float64) uint8 {
	if len(spec.Needs.Options) == 0 {
		return 0
	}
	b := best{}
	if id == p.cfg.Self {
		b = p.ownBest(now, spec, level, limit)
	} else if m := (connectedPeer{p.set.get(id), p.cfg.Gossip.Peer(id), p.records.Of(id)}); m.peer != nil &&
		m.view != nil && m.view.Ad != nil {
		b = p.stated(now, m, spec, level, p.levelRate(level), limit)
	}
	return max(b.option, 1)
}

// Worth returns answers whose completion times are divided by what a completion is worth as the option of each, for a
// policy to compare; they are the same where all are worth the same.
func Worth(spec *grid.JobSpec, answers []balance.State) []balance.State {
	if !spec.Needs.Values() {
		return answers
	}
	worth := make([]balance.State, len(answers))
	for i := range answers {
		worth[i] = answers[i]
		worth[i].ECT /= spec.Needs.ValueOf(answers[i].Option)
	}
	return worth
}

// Unworth is the completion time of a choice that a policy made of such answers.
func Unworth(spec *grid.JobSpec, answers []balance.State, x balance.Choice) balance.Choice {
	if !spec.Needs.Values() || x.Act != balance.Place {
		return x
	}
	for i := range answers {
		if answers[i].Node == x.Node {
			x.ECT *= spec.Needs.ValueOf(answers[i].Option)
			break
		}
	}
	return x
}
