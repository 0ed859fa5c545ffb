package node

import (
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/gossip"
	"skep/grid"
)

// Tuning is the part of a configuration that says how a node behaves, not what it is: most nodes of a grid share it.
type Tuning struct {
	// Policy is the name of the placement policy; default lpas_dec.
	Policy string

	// Lease is how long an owner waits for a beat of an attempt before it runs it elsewhere; default 6 s. Lower detects
	// a dead node sooner, and mistakes a slow network for a dead node sooner.
	Lease time.Duration

	// Overdue is how long work must have waited here, and twice its expected wait, before it is handed back to its
	// owner when another node that fits is idle; default 3 s, 0 = never. Lower corrects a wrong estimate sooner and
	// moves more tasks.
	Overdue time.Duration

	// Strikes is the number of different nodes on which a task may be lost or fail to be prepared before it ends with
	// that cause, whatever its retries allow; default 3, 0 = bounded by the retries only. Higher tolerates more nodes
	// that die by themselves, and lets a task that kills its nodes kill more of them.
	Strikes int

	// Members is the number of members of the register of a job submitted here, this node among them: 1, 3 or 5;
	// default 1, and skep up sets 3. With 3 a job survives the loss of any one node, the origin included; with 5 of any
	// two. Every result waits for a majority of them. With too few nodes connected fewer are taken.
	Members int

	// Confirm is how long a submission waits for a majority of the members to hold it; default 10 s. Then its caller is
	// told that it is not known to be durable. Lower says so sooner, also where nodes are only slow.
	Confirm time.Duration

	// Copies bounds, in bytes, the files that the other members of a register are asked to deposit and that this node
	// deposits for others: the inputs of a job, or the outputs of one task; default 256 MiB. A submission or a result
	// counts only once a majority has them. Larger files are not deposited, and the job says so. Higher protects more,
	// and makes submissions and results wait longer.
	Copies grid.Bytes

	// Lend is the deposit quota in bytes: the disk space for files of jobs submitted elsewhere; default 2 GiB, a fifth
	// of what a node keeps of all files. No one owner gets more than half. When it is used up the oldest finished jobs
	// are forgotten here, then no more files are deposited. Higher keeps results of nodes that are gone for longer.
	Lend grid.Bytes

	// Window bounds the tasks being polled for or offered at once; default 64. Higher hides more latency in a burst,
	// and bases more decisions on the same old state.
	Window int

	// PollFloor and PollCap bound the duration of a poll, which is otherwise twice the median round trip; default 50 ms
	// and 1 s.
	PollFloor, PollCap time.Duration

	// Memory is the time constant of the arrival rates; default 60 s. Higher is steadier and reacts later.
	Memory time.Duration

	// Keep bounds the finished tasks whose records are kept, oldest jobs evicted first; default 200,000, so that the
	// largest job is not forgotten when the next one ends.
	Keep int

	Balance   balance.Config
	Gossip    gossip.Config
	Discovery discovery.Config
}

// settings is a configuration as a node stores it: nodes that share their scratch share the tuning too.
type settings struct {
	Self     grid.NodeID
	Capacity grid.Resources
	Speed    float64
	Known    int
	Private  bool
	Given    []grid.Rate
	Bounds   []Bound
	Truth    func(grid.NodeID) *grid.Ad
	*Tuning
}

func (c *Config) settings(s *Scratch) settings {
	return settings{Self: c.Self, Capacity: c.Capacity, Speed: c.Speed,
		Known: c.Known, Private: c.Private, Given: c.Given, Bounds: c.Bounds, Truth: c.Truth, Tuning: s.tuning(&c.Tuning)}
}
