//go:build !linux

package clock

import (
	"time"

	"skep/grid"
)

var clockZero = time.Now()

// Now reads the node's clock. Here it may stand still while the machine sleeps.
func Now() grid.Time { return grid.Time(time.Since(clockZero)) }
