package node

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/gossip"
	"skep/grid"
	"skep/node/chain"
	"skep/node/coordinator/tuning"
	"skep/node/exclusion"
	"skep/node/rates"
	"skep/node/worker"
	"skep/requirement"
)

// Config is the identity of a node, its resources and its tuning.
type Config struct {
	Self     grid.NodeID
	Boot     uint64 // number of starts so far, kept on disk by the driver: orders its ads across restarts
	Seed     uint64 // of the node's random generator
	Name     string // shown to people
	Capacity grid.Resources
	Speed    float64 // of one core relative to the reference machine (1), from the calibration
	Labels   []grid.Label
	Engines  []string

	// Private nodes run only what was submitted to them; what runs at Durable ones goes on without them. Default false.
	Private, Durable bool

	// Accept is what must hold of a job whose tasks run here, also of jobs that were submitted here; nil = nothing.
	Accept *requirement.Expression `json:",omitempty"`

	// Known is how many other nodes this one knew when it started; default 0. If two or more, submissions in the
	// first 3 s wait for them to connect before the register gets fewer members.
	Known int

	// Given are the arrival rates at this node and the execution rates of one of its cores, by class, where they are known
	// beforehand, as [1] of balance takes them: they are used and advertised unchanged, and nothing is measured, not even
	// the cost of moving a task. A class left out counts as never run here. Default none.
	Given []grid.Rate

	// Bounds limit how long tasks of a class may run here; default none. A task that runs longer is stopped and
	// placed again with another class. Bounds must not form a cycle.
	Bounds []Bound
	// Scratch is a shared buffer; nil = the node has its own. See also balance.Config.Scratch.
	Scratch *Scratch
	// Truth, in simulations only, is a node's state, which replaces its last ad before each decision; nil = ads count.
	Truth     func(grid.NodeID) *grid.Ad `json:"-"`
	GangFacts func(*grid.Ad) *grid.Ad    `json:"-"` // so too, what the owner of a gang takes one for
	Signer    chain.Signer               `json:"-"` // signs for this node; nil = it takes no part in signed jobs
	Tuning
}

// Defaults returns the configuration of a real node, without its identity and resources.
func Defaults() Config {
	return Config{
		Speed: 1, Engines: []string{grid.EngineProcess}, Tuning: Tuning{
			Tuning:       tuning.Defaults(),
			DepositLimit: 256 * grid.MiB, DepositQuota: 2 * grid.GiB, ArrivalMemory: time.Minute, Pull: true,
			Balance: balance.Node(), Gossip: gossip.Defaults(), Discovery: discovery.Defaults(),
		}}
}

// Check reports all problems of c.
func (c *Config) Check() error { return errors.Join(c.checkOwn(), c.Tuning.check()) }

// checkOwn reports the problems of what is not tuning.
func (c *Config) checkOwn() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Capacity.CPU < 1 || c.Capacity.CPU > grid.MaxMillis {
		add("cpus %g: want 0.001 to %d", float64(c.Capacity.CPU)/1000, grid.MaxMillis/1000)
	}
	if c.Capacity.Memory < 0 || c.Capacity.Memory > grid.MaxMemory {
		add("memory %d: want 0 to %d bytes", c.Capacity.Memory, int64(grid.MaxMemory))
	}
	ad := grid.Ad{Name: c.Name, Capacity: c.Capacity, Speed: c.Speed, Labels: c.Labels, Engines: c.Engines, Rates: c.Given}
	return errors.Join(append(errs, c.checkBounds(), rates.CheckGiven(c.Given), ad.Check())...)
}

// Bound limits how long a task of a class may run on this node, and names the class of a task that takes longer.
type Bound = worker.Bound

// MaxStrikes bounds Config.Strikes.
const MaxStrikes = exclusion.MaxStrikes

// checkBounds reports invalid bounds. A cycle of classes would stop a task again and again.
func (c *Config) checkBounds() error {
	var errs []error
	for i, b := range c.Bounds {
		if b.Class == "" || b.Next == "" || b.Class == b.Next || !grid.ValidClass(b.Class) || !grid.ValidClass(b.Next) ||
			b.Time <= 0 {
			errs = append(errs, fmt.Errorf("bounds[%d]: %v for class %q, then %q: want more than 0 and two classes", i, b.Time,
				b.Class, b.Next))
			continue
		}
		next := b.Next
		for range c.Bounds {
			k := slices.IndexFunc(c.Bounds, func(o Bound) bool { return o.Class == next })
			if k < 0 {
				break
			}
			if next = c.Bounds[k].Next; next == b.Class {
				errs = append(errs, fmt.Errorf("bounds[%d]: class %q leads to %q and from there back: want no circle", i, b.Class,
					b.Next))
				break
			}
		}
	}
	return errors.Join(errs...)
}
