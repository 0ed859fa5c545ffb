package clock

import (
	"golang.org/x/sys/unix"

	"skep/grid"
)

// Now reads the node's clock, which continues while the machine sleeps, so leases run out then too.
func Now() grid.Time {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic("clock: no CLOCK_BOOTTIME: " + err.Error())
	}
	return grid.Time(ts.Nano())
}
