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

	// Strikes is on how many different nodes a task may fail, lost there or not prepared, until it ends with that,
	// whatever its retries allow; default 3, 0 = only its retries bound it. Higher bears more nodes that die by themselves, and
	// lets a task that kills its nodes kill more of them.
	Strikes int

	// Members is how many nodes keep the record of a job submitted here, this one among them: 1, 3 or 5; default 1. With
	// 3 a job outlives the node that it was submitted to, or any other one; with 5 any two. Each takes part in every
	// result before it counts. Where too few nodes are connected fewer are taken.
	Members int

	// Confirm is how long a submission waits for a majority of the members to hold it; default 10 s. Then its caller is told
	// that it is not known to be kept. Lower tells so sooner, also where nodes are only slow.
	Confirm time.Duration

	// Copies bounds the files in bytes that the other members of a register are asked to copy, and that this node copies for others: the
	// inputs of a job, and what one task leaves; default 256 MiB. A submission, and a result, counts only when a majority has them. What
	// is larger is not copied, and the job says so. Higher protects more, and has submissions and results wait longer.
	Copies grid.Bytes

	// Lend bounds the disk space in bytes that this node lends to the files of jobs submitted elsewhere; default 2 GiB, a fifth of what a node keeps of all files. No
	// one owner gets more than half. When it is used up the oldest jobs that are over are forgotten here, then nothing more is copied. Higher keeps
	// results of nodes that are gone for longer.
	Lend grid.Bytes

	// Known is how many other nodes this one knew when it started; default 0. With two or more, what is submitted in the first three seconds
	// waits for them to be connected before fewer members are taken.
	Known int

	// Window bounds the tasks that are being polled for or offered at once; default 64. Higher hides
	// more latency in a burst, and lets more decisions rest on the same old news.
	Window int

	// PollFloor and PollCap bound the time a poll may take, which is else twice the median round trip;
	// default 50 ms and 1 s.
	PollFloor, PollCap time.Duration

	// Memory is the time constant of the arrival rates; default 60 s. Higher is steadier and later.
	Memory time.Duration

	// Given are the arrival rates at this node and the execution rates of one of its cores, by class, where they
	// are known beforehand: they are then told and used as they are, and nothing is measured, not even the cost of
	// moving a task. A class left out is one that nobody has run here. Default none: rates are measured. For comparing with [1] of balance, which
	// takes them as known.
	Given []grid.Rate

	// Keep bounds the finished tasks whose records are kept, oldest jobs first to go; default 200,000, so that
	// the largest job is not forgotten when the next one ends.
	Keep int

	// Scratch is lent to the node; nil = it has its own. See also balance.Config.Scratch.
	Scratch *Scratch

	// Truth, of simulations alone, says what a node is now: before each decision it takes the place of what was heard
	// of those connected. nil = what was heard counts. It is a study's perfect information.
	Truth func(grid.NodeID) *grid.Ad `json:"-"`

	Balance   balance.Config
	Gossip    gossip.Config
	Discovery discovery.Config
}

// Defaults returns the configuration of a real node, but for what the node is.
func Defaults() Config {
	return Config{
		Speed: 1, Engines: []string{grid.EngineProcess}, Policy: "lpas_dec", Lease: 6 * time.Second, Overdue: 3 * time.Second, Strikes: 3, Members: 1, Confirm: 10 * time.Second, Copies: 256 * grid.MiB, Lend: 2 * grid.GiB, Window: 64,
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
	if c.Strikes < 0 || c.Strikes > MaxStrikes {
		add("strikes %d: want 0 (no bound) to %d nodes", c.Strikes, MaxStrikes)
	}
	if c.Members != 1 && c.Members != 3 && c.Members != grid.MaxMembers {
		add("members %d: want 1, 3 or %d", c.Members, grid.MaxMembers)
	}
	if c.Confirm < time.Second || c.Confirm > time.Hour {
		add("confirm %v: want 1s to 1h", c.Confirm)
	}
	if c.Copies < 0 || c.Lend < 0 {
		add("copies %d, lend %d: want 0 bytes (nothing) or more", c.Copies, c.Lend)
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
	ad := grid.Ad{Name: c.Name, Capacity: c.Capacity, Speed: c.Speed, Labels: c.Labels, Engines: c.Engines, Rates: c.Given}
	return errors.Join(append(errs, c.checkGiven(), ad.Check(), c.Gossip.Check(), c.Discovery.Check())...)
}
