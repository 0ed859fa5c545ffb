package node

import (
	"time"

	"skep/grid"
)

// Config is what a node is and how it behaves. Every field says its unit, its default and why.
type Config struct {
	Self     grid.NodeID
	Boot     uint64 // starts of this node so far, kept on disk by the driver: orders its ads across restarts
	Seed     uint64 // of everything random inside
	Name     string // for people
	Capacity grid.Resources
	Speed    float64 // of one core against the reference, from the calibration
	Labels   []grid.Label
	Engines  []string
	Policy   string // "" = lpas_dec
	Lease    time.Duration
}
