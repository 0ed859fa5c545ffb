package p2p

import (
	"skep/exec/units"
	"skep/grid"
	"skep/node/coordinator/retention"
	"skep/node/p2p/clock"
	"skep/node/p2p/machine"
	"skep/requirement"
)

// watchHour reports to the node the hour of the day.
func (d *Driver) watchHour() {
	machine.WatchHour(d.work.Context(), func(h requirement.Hour) {
		d.inbox.Event(func(ev *grid.Event) { ev.Kind, ev.Hour = grid.EvHour, h })
	})
}

// gaps returns the long gaps before this run.
func (d *Driver) gaps() []machine.Gap { return machine.Gaps(d.cfg.DataDir, d.wall.At(clock.Now())) }

// retentionGaps returns them as the node has them.
func (d *Driver) retentionGaps() *[]retention.Gap {
	gaps := []retention.Gap(nil)
	for _, g := range d.gaps() {
		gaps = append(gaps, retention.Gap{From: g.From.UnixNano(), To: g.To.UnixNano()})
	}
	if gaps == nil {
		return nil
	}
	return &gaps
}

// watchMachine reports to the node how much of the machine it has.
func (d *Driver) watchMachine() {
	d.engineLeft.changed = func(left, up float64) {
		d.inbox.Event(func(ev *grid.Event) { ev.Kind, ev.Left, ev.Up = grid.EvAvailable, left, up })
	}
	d.engineLeft.shut = func(away bool) {
		d.inbox.Event(func(ev *grid.Event) { ev.Kind, ev.Low = grid.EvEngine, away })
	}
	machine.Watch(d.work.Context(), d.cfg.DataDir, d.cfg.CPUs, d.runner.CPU, func(left, up float64) {
		if d.cfg.Boxes.Engine.Elsewhere() { // what this machine is busy with takes nothing from its tasks
			left = d.engineLeft.with(up)
		}
		d.inbox.Event(func(ev *grid.Event) { ev.Kind, ev.Left, ev.Up = grid.EvAvailable, left, up })
	})
}

// canPin reports whether there are as many processors as cores that tasks may take, so that each pinned task gets its
// own.
func (d *Driver) canPin() bool {
	return !d.cfg.Boxes.Engine.Elsewhere() && d.cfg.Node.Order.LeastSpeed == 0 &&
		grid.MilliCPU(len(units.CPUs()))*grid.CPU >= d.cfg.CPUs
}
