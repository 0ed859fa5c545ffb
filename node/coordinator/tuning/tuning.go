package tuning

import (
	"errors"
	"fmt"
	"time"

	"skep/balance/order"
	"skep/grid"
	"skep/node/coordinator/retention"
	"skep/node/exclusion"
	"skep/node/mapping"
)

// Tuning is how a coordinator behaves: most nodes of a grid share it.
type Tuning struct {
	// Policy is the name of the placement policy; default lpas_dec.
	Policy string

	// Lease is how long an owner waits for a beat of an attempt before it runs it elsewhere; default 6 s. Lower detects
	// a dead node sooner, and mistakes a slow network for a dead node sooner.
	Lease time.Duration

	// Strikes is the number of different nodes on which a task may be lost or fail to be prepared before it ends with
	// that cause, whatever its retries allow; default 3, 0 = bounded by the retries only. Higher tolerates more nodes
	// that die by themselves, and lets a task that kills its nodes kill more of them.
	Strikes int

	// Members is the number of members of the register of a job submitted here, this node among them: 1, 3 or 5;
	// default 3. With 3 a job survives the loss of any one node, the origin included; with 5 of any two. Every result
	// waits for a majority of them. With too few nodes connected fewer are taken.
	Members int

	// Confirm is how long a submission waits for a majority of the members to hold it; default 10 s. Then its caller is
	// told that it is not known to be durable. Lower says so sooner, also where nodes are only slow.
	Confirm time.Duration

	// ReplaceAfter is how long a member of a register may be silent before the owner has another node in its place;
	// default 0 = never; less than three leases counts as three. Lower shortens the time in
	// which the loss of a further member stops a job, and moves more records and files when nodes are only away.
	ReplaceAfter time.Duration

	// Window bounds the tasks being polled for or offered at once; default 64. Higher hides more latency in a burst,
	// and bases more decisions on the same old state.
	Window int

	mapping.Config

	// PollFloor and PollCap bound the duration of a poll, which is otherwise twice the median round trip; default 50 ms
	// and 1 s.
	PollFloor, PollCap time.Duration

	// Keep bounds the finished tasks whose records are kept, oldest jobs evicted first; default 200,000, so that the
	// largest job is not forgotten when the next one ends.
	Keep int

	// Retention is what an operator bounds of the jobs that are over; default nothing.
	Retention retention.Config `json:",omitzero"`

	// Order says whose work goes first, of what waits here for its placement and of what waits in this node's queue;
	// default fifo.
	Order order.Config

	// Decisions bounds the log of what decisions weighed, in bytes; default 1 MiB: some 4,000 decisions. 0 keeps none.
	Decisions grid.Bytes
}

// Defaults returns the tuning of a real node.
func Defaults() Tuning {
	return Tuning{Policy: "lpas_dec", Lease: 6 * time.Second, Strikes: 3, Members: 3, Confirm: 10 * time.Second,
		Window: 64, Config: mapping.Defaults(), PollFloor: 50 * time.Millisecond, PollCap: time.Second, Keep: 200_000,
		Decisions: grid.MiB, Order: order.Defaults()}
}

// Check reports all problems of c.
func (c *Tuning) Check() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Lease < 500*time.Millisecond || c.Lease > time.Hour {
		add("lease %v: want 500ms to 1h", c.Lease)
	}
	if c.Strikes < 0 || c.Strikes > exclusion.MaxStrikes {
		add("strikes %d: want 0 (no bound) to %d nodes", c.Strikes, exclusion.MaxStrikes)
	}
	if c.Members != 1 && c.Members != 3 && c.Members != grid.MaxMembers {
		add("members %d: want 1, 3 or %d", c.Members, grid.MaxMembers)
	}
	if c.Confirm < time.Second || c.Confirm > time.Hour {
		add("confirm %v: want 1s to 1h", c.Confirm)
	}
	if c.ReplaceAfter < 0 {
		add("members replaced after %v: want 0 (never) or more", c.ReplaceAfter)
	}
	if c.Window < 1 || c.Window > 10_000 {
		add("window %d: want 1 to 10000", c.Window)
	}
	if c.PollFloor <= 0 || c.PollCap < c.PollFloor {
		add("poll times %v to %v: want more than 0, and the cap not below the floor", c.PollFloor, c.PollCap)
	}
	if c.Keep < 1 {
		add("kept tasks %d: want 1 or more", c.Keep)
	}
	if err := c.Retention.Check(); err != nil {
		add("what is kept of jobs that are over: %w", err)
	}
	return errors.Join(append(errs, c.Config.Check(), c.Order.Check())...)
}
