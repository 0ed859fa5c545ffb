package machine

import (
	"context"
	"math"
	"time"

	"skep/exec/process"
	"skep/grid"
	"skep/internal/cputime"
	"skep/node/p2p/clock"
)

// Parameters of measuring the node's availability.
const (
	sampleInterval     = 10 * time.Second // between two samples
	averageTime        = time.Minute      // time constant of the average of others' use
	availabilityStep   = 0.05             // reported values are multiples of it
	availabilityChange = 0.075            // change of the average that is reported: noise is not
)

// availabilityMeter measures the share of the node's cores that other programs leave to it.
type availabilityMeter struct {
	offered  float64 // cores that tasks may take
	cores    process.Cores
	own      time.Duration // CPU time of this node and its tasks
	at       grid.Time
	mean     float64
	reported float64
}

func newAvailabilityMeter(offers grid.MilliCPU) *availabilityMeter {
	return &availabilityMeter{offered: offers.Cores(), mean: 1, reported: 1}
}

// sample takes another measurement, and reports whether the value to report has changed.
func (g *availabilityMeter) sample(at grid.Time, c process.Cores, own time.Duration) bool {
	d := at.Sub(g.at)
	was, had := g.cores, g.own
	first := g.at == 0
	g.cores, g.own, g.at = c, own, at
	if first || d <= 0 {
		return false
	}
	g.mean += (g.availableShare(c, (c.Busy-was.Busy).Seconds()/d.Seconds(),
		(own-had).Seconds()/d.Seconds()) - g.mean) * (1 - math.Exp(-d.Seconds()/averageTime.Seconds()))
	// or a small remainder of load that has ended would be reported for ever
	all := g.mean > 1-availabilityStep/4 && g.reported < 1
	if math.Abs(g.mean-g.reported) < availabilityChange && !all {
		return false
	}
	g.reported = math.Round(g.mean/availabilityStep) * availabilityStep
	return true
}

// availableShare returns the share of the cores offered that tasks would get if they wanted them all: what others
// do not use, or what a fair scheduler gives to as many threads as there are cores on offer among the R threads of
// others, if that is more:
//
//	max(M − others, M·N/(N + R)) / N
//
// with M cores of the machine and N on offer. busy and own are the cores used by all processes and by this node.
func (g *availabilityMeter) availableShare(c process.Cores, busy, own float64) float64 {
	all := float64(c.Count)
	others := max(busy-max(own, 0), 0)
	threads := max(float64(c.Want)-1-math.Ceil(own), 0)
	cores := max(all-others, all*g.offered/(g.offered+threads))
	if c.Quota > 0 {
		cores = min(cores, c.Quota)
	}
	return min(max(cores/g.offered, 0), 1)
}

// Watch measures the node's availability and uptime until ctx ends, and reports both when one has changed: left is the
// part of the cores on offer that others leave, up the part of the time in which the node is up. dir is the data
// folder, and tasks returns the CPU time of all tasks so far, if it is known.
func Watch(ctx context.Context, dir string, offers grid.MilliCPU, tasks func() (time.Duration, bool),
	report func(left, up float64)) {
	g, u := newAvailabilityMeter(offers), openUptime(dir, time.Now())
	defer func() { u.save(time.Now()) }()
	tick := time.NewTicker(sampleInterval)
	defer tick.Stop()
	for {
		moved := false
		if c, ok := process.ReadCores(); ok {
			if own, ok := tasks(); ok {
				moved = g.sample(clock.Now(), c, own+cputime.Used())
			}
		}
		if up, changed := u.update(clock.Now(), time.Now()); moved || changed {
			report(g.reported, up)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
