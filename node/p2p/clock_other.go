//go:build !linux

package p2p

import (
	"time"

	"skep/grid"
)

var clockZero = time.Now()

// now reads the clock of the node. Here it may stand still while the machine sleeps.
func now() grid.Time { return grid.Time(time.Since(clockZero)) }
