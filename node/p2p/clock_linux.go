package p2p

import (
	"golang.org/x/sys/unix"

	"skep/grid"
)

// now reads the node's clock, which continues while the machine sleeps, so leases run out then too.
func now() grid.Time {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic("p2p: no CLOCK_BOOTTIME: " + err.Error())
	}
	return grid.Time(ts.Nano())
}
