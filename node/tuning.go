package node

import (
	"errors"
	"fmt"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/gossip"
	"skep/grid"
	"skep/node/coordinator"
)

// Tuning is the part of a configuration that says how a node behaves, not what it is: most nodes of a grid share it.
// Recordings of nodes keep the names that fields had first: see the tags.
type Tuning struct {
	coordinator.Tuning

	// DepositLimit bounds, in bytes, the files that the other members of a register are asked to deposit and that this
	// node deposits for others: the inputs of a job, or the outputs of one task; default 256 MiB. A submission or a result
	// counts only once a majority has them. Larger files are not deposited, and the job says so. Higher protects more, and
	// makes submissions and results wait longer.
	DepositLimit grid.Bytes `json:"Copies"`

	// DepositQuota bounds, in bytes, the disk space for files of jobs submitted elsewhere; default 2 GiB, a fifth
	// of what a node keeps of all files. No one owner gets more than half. When it is used up the oldest finished jobs
	// are forgotten here, then no more files are deposited. Higher keeps results of nodes that are gone for longer.
	DepositQuota grid.Bytes `json:"Lend"`

	// ArrivalMemory is the time constant of the arrival rates; default 60 s. Higher is steadier and reacts later.
	ArrivalMemory time.Duration `json:"Memory"`

	// Pull has idle nodes ask for work that waits elsewhere, and this node give such work away; default true. Without it
	// a wrong estimate keeps work waiting where it was placed.
	Pull bool

	Balance   balance.Config
	Gossip    gossip.Config
	Discovery discovery.Config
}

// check reports all problems of t.
func (t *Tuning) check() error {
	_, err := balance.Make(t.Policy, &t.Balance, nil) // it is only looked whether that works: nodes make theirs later
	errs := []error{t.Tuning.Check(), t.Balance.Check(), t.Gossip.Check(), t.Discovery.Check(), err}
	if t.DepositLimit < 0 || t.DepositQuota < 0 {
		errs = append(errs, fmt.Errorf("deposit limit %d, deposit quota %d: want 0 bytes (nothing) or more", t.DepositLimit,
			t.DepositQuota))
	}
	if t.ArrivalMemory < time.Second {
		errs = append(errs, fmt.Errorf("memory of arrival rates %v: want 1s or more", t.ArrivalMemory))
	}
	return errors.Join(errs...)
}
