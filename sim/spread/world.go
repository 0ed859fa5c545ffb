package spread

import (
	"math"
	"time"

	"skep/gossip"
	"skep/grid"
	"skep/sim"
	"skep/sim/event"
)

// world is a run.
type world struct {
	cfg   *Config
	over  *overlay
	rand  *grid.Rand
	queue *event.Ladder
	now   grid.Time
	seq   uint64
	nodes []member
	mail  []letter
	free  []int32
	fx    grid.Effects
	look  looks
	phase int

	entries, digests, bytes, ads uint64
}

// member is a node.
type member struct {
	*gossip.Gossip
	load float64
	ad   *grid.Ad
}

// letter is a digest on its way.
type letter struct {
	from    int32
	entries []grid.AdEntry
}

// What happens.
const (
	letterComes event.Kind = iota + 1
	timerRings
	loadChanges
	nodePolls
	phaseBegins
	viewsAreSeen
)

// Run runs c to its end.
func Run(c Config) (*Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	r := grid.NewRand(c.Seed, 0)
	w := &world{cfg: &c, rand: r, over: wire(&c, r), queue: event.NewLadder(), nodes: make([]member, c.Nodes), phase: -1}
	for i := range w.nodes {
		w.nodes[i] = member{Gossip: new(gossip.New(id(i), &c.Gossip, grid.NewRand(c.Seed, uint64(i)+1))), load: r.Float64()}
		w.describe(i)
		w.step(i, func(g *gossip.Gossip) { g.Start(0, w.nodes[i].ad, &w.fx) })
		if c.Poll > 0 {
			w.push(w.after(c.Poll), nodePolls, i, 0, 0)
		}
	}
	for i, links := range w.over.links {
		for _, j := range links {
			w.step(i, func(g *gossip.Gossip) { g.Up(0, id(int(j)), 2*w.over.way(i, int(j)), &w.fx) })
		}
	}
	w.look.choose(w)
	end := time.Duration(0)
	for k, p := range c.Phases {
		w.push(grid.Time(end), phaseBegins, k, 0, 0)
		end += p.Time
	}
	w.push(grid.Time(c.Warmup), viewsAreSeen, 0, 0, 0)
	for {
		e, ok := w.queue.Pop()
		if !ok || e.At > grid.Time(end) {
			break
		}
		w.now = e.At
		w.happen(&e)
	}
	w.now = grid.Time(end)
	return w.result(), nil
}

func (w *world) push(at grid.Time, k event.Kind, node int, sub uint8, arg uint64) {
	w.seq++
	w.queue.Push(event.Event{At: at, Seq: w.seq, Kind: k, Node: int32(node), Sub: sub, Arg: arg})
}

func (w *world) after(mean time.Duration) grid.Time {
	return w.now.Add(grid.Seconds(mean.Seconds() * w.rand.ExpFloat64()))
}

func (w *world) happen(e *event.Event) {
	i := int(e.Node)
	switch e.Kind {
	case letterComes:
		l := &w.mail[e.Arg]
		w.step(i, func(g *gossip.Gossip) { g.Hear(w.now, id(int(l.from)), l.entries, &w.fx, nil) })
		clear(w.mail[e.Arg].entries)
		w.free = append(w.free, int32(e.Arg))
	case timerRings:
		w.step(i, func(g *gossip.Gossip) {
			g.Wake(w.now, grid.Timer{Kind: grid.TimerKind(e.Sub), Key: e.Arg}, &w.fx)
		})
	case loadChanges:
		if int(e.Arg) == w.phase {
			w.change(i)
		}
	case nodePolls:
		w.poll(i)
		w.push(w.after(w.cfg.Poll), nodePolls, i, 0, 0)
	case phaseBegins:
		w.begin(i)
	case viewsAreSeen:
		w.look.at(w)
		w.push(w.now.Add(w.cfg.Sample), viewsAreSeen, 0, 0, 0)
	}
}

// step lets a node do something and sends what comes of it. Links are not asked for: the overlay stays.
func (w *world) step(i int, do func(g *gossip.Gossip)) {
	w.fx.Reset()
	do(w.nodes[i].Gossip)
	for k := range w.fx.Sends {
		s := &w.fx.Sends[k]
		w.digests++
		w.entries += uint64(len(s.Msg.Digest))
		w.bytes += uint64(sim.MessageSize(&s.Msg))
		if len(w.free) == 0 {
			w.mail = append(w.mail, letter{})
			w.free = append(w.free, int32(len(w.mail)-1))
		}
		at := w.free[len(w.free)-1]
		w.free = w.free[:len(w.free)-1]
		l := &w.mail[at]
		l.from, l.entries = int32(i), append(l.entries[:0], s.Msg.Digest...)
		j := index(s.To)
		w.push(w.now.Add(w.over.way(i, j)), letterComes, j, 0, uint64(at))
	}
	for _, k := range w.fx.Wakes {
		if k.At < grid.Never {
			w.push(max(k.At, w.now), timerRings, i, uint8(k.Timer.Kind), k.Timer.Key)
		}
	}
}

// begin starts a phase.
func (w *world) begin(k int) {
	w.look.mark(w)
	w.phase = k
	p := &w.cfg.Phases[k]
	for i := range w.nodes {
		switch {
		case p.Kind == Walk:
			w.push(w.now.Add(p.Every/time.Duration(len(w.nodes))*time.Duration(i)), loadChanges, i, 0, uint64(k))
		case p.among(i):
			w.push(w.after(p.Every), loadChanges, i, 0, uint64(k))
		}
	}
}

// change changes a load, tells it, and says when it changes next.
func (w *world) change(i int) {
	p, n := &w.cfg.Phases[w.phase], &w.nodes[i]
	next := w.now.Add(p.Every)
	switch p.Kind {
	case Walk:
		sigma := p.SmallSigma
		if p.among(i) {
			sigma = p.Sigma
		}
		x := math.Abs(n.load + sigma*w.rand.NormFloat64())
		n.load = max(0, min(x, 2-x))
	case Flap:
		n.load = math.Round(1 - n.load)
		next = w.after(p.Every)
	case Jump:
		n.load = w.rand.Float64()
		next = w.after(p.Every)
	}
	w.ads++
	w.describe(i)
	w.step(i, func(g *gossip.Gossip) { g.Advertise(w.now, n.ad, &w.fx) })
	w.push(next, loadChanges, i, 0, uint64(w.phase))
}

// describe makes a node's ad.
func (w *world) describe(i int) {
	n := &w.nodes[i]
	cores := 8
	if s := w.cfg.Sizes; s != nil {
		cores = s[i%len(s)]
	}
	c := grid.MilliCPU(1000 * cores)
	n.ad = &grid.Ad{Node: id(i), Seq: grid.Seq{Boot: 1}, Capacity: grid.Resources{CPU: c, Memory: grid.GiB}, Speed: 1,
		Availability: 1,
		Free:         grid.Resources{CPU: grid.MilliCPU(float64(c) * (1 - n.load)), Memory: grid.GiB}, Labels: labels,
		Coord: n.Coord()}
}

var labels = []grid.Label{{Key: "arch", Value: "amd64"}, {Key: "os", Value: "linux"}}

// poll asks somebody who is known, as a node with a task to place does.
func (w *world) poll(i int) {
	n := &w.nodes[i]
	peers := n.Peers()
	if len(peers) == 0 {
		return
	}
	p := peers[w.rand.IntN(len(peers))]
	if p.Ad == nil {
		return
	}
	j := index(p.Node())
	n.Found(gossip.Delta(p.Ad, w.nodes[j].ad, w.cfg.Gossip.BacklogScale))
	n.Heard(w.now, p.Node(), 2*w.over.way(i, j))
}
