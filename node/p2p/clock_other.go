//go:build !linux

package p2p

import (
	"time"

	"skep/grid"
)

var clockZero = time.Now()

// now reads the node's clock. Here it may stand still while the machine sleeps.
func now() grid.Time { return grid.Time(time.Since(clockZero)) }
