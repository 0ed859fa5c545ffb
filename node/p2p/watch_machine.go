package p2p

import (
	"skep/grid"
	"skep/node/p2p/machine"
	"skep/requirement"
)

// watchHour reports to the node the hour of the day.
func (d *Driver) watchHour() {
	machine.WatchHour(d.work.Context(), func(h requirement.Hour) {
		d.inbox.Event(func(ev *grid.Event) { ev.Kind, ev.Hour = grid.EvHour, h })
	})
}

// watchMachine reports to the node how much of the machine it has.
func (d *Driver) watchMachine() {
	machine.Watch(d.work.Context(), d.cfg.DataDir, d.cfg.CPUs, d.runner.CPU, func(left, up float64) {
		d.inbox.Event(func(ev *grid.Event) { ev.Kind, ev.Left, ev.Up = grid.EvAvailable, left, up })
	})
}
