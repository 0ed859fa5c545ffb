package node

import (
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/gossip"
	"skep/grid"
)

// Tuning is the part of a configuration that says how a node behaves, not what it is: most nodes of a grid have the same.
type Tuning struct {
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

	// Members is how many nodes keep the record of a job submitted here, this one among them: 1, 3 or 5; default 1, and skep up has 3. With
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

// settings are a configuration as a node keeps it: those of nodes that share their scratch share the conduct too.
type settings struct {
	Self     grid.NodeID
	Boot     uint64
	Seed     uint64
	Name     string
	Capacity grid.Resources
	Speed    float64
	Engines  []string
	Known    int
	Private  bool
	Given    []grid.Rate
	Bounds   []Bound
	Truth    func(grid.NodeID) *grid.Ad
	*Tuning
}

func (c *Config) settings(s *Scratch) settings {
	return settings{Self: c.Self, Boot: c.Boot, Seed: c.Seed, Name: c.Name, Capacity: c.Capacity, Speed: c.Speed, Engines: c.Engines,
		Known: c.Known, Private: c.Private, Given: c.Given, Bounds: c.Bounds, Truth: c.Truth, Tuning: s.tuning(&c.Tuning)}
}
