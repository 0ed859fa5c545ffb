package p2p

import (
	"math"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/process"
	"skep/grid"
)

// How the node's availability is measured.
const (
	shareEvery  = 10 * time.Second // between two looks
	shareMemory = time.Minute      // time constant over which others' use is averaged
	shareStep   = 0.05             // what is told is a multiple of it
	shareMoved  = 0.075            // by so much the average must differ from what was told: noise is not told
)

// gauge measures what share of the node's cores others leave to it, from one look to the next.
type gauge struct {
	offers float64 // cores that tasks may take
	cores  process.Cores
	own    time.Duration // processor time of this node and its tasks
	at     grid.Time
	mean   float64
	told   float64
}

func newGauge(offers grid.MilliCPU) *gauge {
	return &gauge{offers: float64(offers) / float64(grid.CPU), mean: 1, told: 1}
}

// look takes another measurement, and reports whether what others leave has become something else.
func (g *gauge) look(at grid.Time, c process.Cores, own time.Duration) bool {
	d := at.Sub(g.at)
	was, had := g.cores, g.own
	first := g.at == 0
	g.cores, g.own, g.at = c, own, at
	if first || d <= 0 {
		return false
	}
	g.mean += (g.left(c, (c.Busy-was.Busy).Seconds()/d.Seconds(), (own-had).Seconds()/d.Seconds()) - g.mean) * (1 - math.Exp(-d.Seconds()/shareMemory.Seconds()))
	all := g.mean > 1-shareStep/4 && g.told < 1 // or a rest of what has ended would be told for ever
	if math.Abs(g.mean-g.told) < shareMoved && !all {
		return false
	}
	g.told = math.Round(g.mean/shareStep) * shareStep
	return true
}

// left is the share of the cores offered that tasks would get, if they wanted them all: what others do not use, or what
// a fair scheduler gives to as many threads as there are cores on offer among the R threads of others, if that is more:
//
//	max(M − others, M·N/(N + R)) / N
//
// with M cores of the machine and N on offer. busy and own are the cores that are used by all and by this node.
func (g *gauge) left(c process.Cores, busy, own float64) float64 {
	all := float64(c.Count)
	others := max(busy-max(own, 0), 0)
	threads := max(float64(c.Want)-1-math.Ceil(own), 0)
	cores := max(all-others, all*g.offers/(g.offers+threads))
	if c.Quota > 0 {
		cores = min(cores, c.Quota)
	}
	return min(max(cores/g.offers, 0), 1)
}

// measure tells the node what share of it is there, whenever that has become something else.
func (d *Driver) measure() {
	capacity, err := d.cfg.capacity()
	if err != nil {
		return
	}
	g, u := newGauge(capacity.CPU), openUptime(d.cfg.DataDir, time.Now())
	defer func() { u.save(time.Now()) }()
	tick := time.NewTicker(shareEvery)
	defer tick.Stop()
	for {
		moved := false
		if c, ok := process.ReadCores(); ok {
			if own, ok := d.spent(); ok {
				moved = g.look(now(), c, own)
			}
		}
		if up, changed := u.look(now(), time.Now()); moved || changed {
			left := g.told
			d.loop.event(func(ev *grid.Event) { ev.Kind, ev.Left, ev.Up = grid.EvAvailable, left, up })
		}
		select {
		case <-d.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// spent is the processor time of this node and its tasks so far.
func (d *Driver) spent() (time.Duration, bool) {
	var ru unix.Rusage
	tasks, ok := d.tasks.runner.CPU()
	if !ok || unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return 0, false
	}
	return tasks + time.Duration(ru.Utime.Nano()+ru.Stime.Nano()), true
}
