package node

import (
	"errors"
	"fmt"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/gossip"
	"skep/grid"
)

// Config is what a node is and how it behaves.
type Config struct {
	Self     grid.NodeID
	Boot     uint64 // starts of this node so far, kept on disk by the driver: orders its ads across restarts
	Seed     uint64 // of everything random inside
	Name     string // for people
	Capacity grid.Resources
	Speed    float64 // of one core against the reference machine, from the calibration; 1 is the reference
	Labels   []grid.Label
	Engines  []string

	// Policy is the placement policy by name; default lpas_dec.
	Policy string

	// Lease is how long an origin waits for a sign of life of an attempt before it runs it elsewhere;
	// default 6 s. Lower finds a dead node sooner, and takes a slow network for a dead node sooner.
	Lease time.Duration

	// Overdue is how long work must have waited here, and twice as long as was expected, before it is handed back
	// to its origin when somebody else who fits has nothing to do; default 3 s, 0 = never. Lower corrects a wrong
	// estimate sooner and moves more.
	Overdue time.Duration

	// Window bounds the tasks that are being polled for or offered at once; default 64. Higher hides
	// more latency in a burst, and lets more decisions rest on the same old news.
	Window int

	// PollFloor and PollCap bound the time a poll may take, which is else twice the median round trip;
	// default 50 ms and 1 s.
	PollFloor, PollCap time.Duration

	// Memory is the time constant of the arrival rates; default 60 s. Higher is steadier and later.
	Memory time.Duration

	// Keep bounds the finished tasks whose records are kept, oldest jobs first to go; default 200,000, so that
	// the largest job is not forgotten when the next one ends.
	Keep int

	Balance   balance.Config
	Gossip    gossip.Config
	Discovery discovery.Config
}

// Defaults returns the configuration of a real node, but for what the node is.
func Defaults() Config {
	return Config{
		Speed: 1, Engines: []string{grid.EngineProcess}, Policy: "lpas_dec", Lease: 6 * time.Second, Overdue: 3 * time.Second, Window: 64,
		PollFloor: 50 * time.Millisecond, PollCap: time.Second, Memory: time.Minute, Keep: 200_000,
		Balance: balance.Node(), Gossip: gossip.Defaults(), Discovery: discovery.Defaults(),
	}
}

// Check reports all that is wrong with c.
func (c *Config) Check() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Capacity.CPU < 1 || c.Capacity.CPU > grid.MaxMillis {
		add("cpus %g: want 0.001 to %d", float64(c.Capacity.CPU)/1000, grid.MaxMillis/1000)
	}
	if c.Capacity.Memory < 0 || c.Capacity.Memory > grid.MaxMemory {
		add("memory %d: want 0 to %d bytes", c.Capacity.Memory, int64(grid.MaxMemory))
	}
	if c.Lease < 500*time.Millisecond || c.Lease > time.Hour {
		add("lease %v: want 500ms to 1h", c.Lease)
	}
	if c.Overdue < 0 {
		add("overdue %v: want 0 (never) or more", c.Overdue)
	}
	if c.Window < 1 || c.Window > 10_000 {
		add("window %d: want 1 to 10000", c.Window)
	}
	if c.PollFloor <= 0 || c.PollCap < c.PollFloor {
		add("poll times %v to %v: want more than 0, and the cap not below the floor", c.PollFloor, c.PollCap)
	}
	if c.Memory < time.Second {
		add("memory of arrival rates %v: want 1s or more", c.Memory)
	}
	if c.Keep < 1 {
		add("kept tasks %d: want 1 or more", c.Keep)
	}
	ad := grid.Ad{Name: c.Name, Capacity: c.Capacity, Speed: c.Speed, Labels: c.Labels, Engines: c.Engines}
	return errors.Join(append(errs, ad.Check(), c.Gossip.Check(), c.Discovery.Check())...)
}
