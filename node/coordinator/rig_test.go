package coordinator

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node/coordinator/tuning"
	"skep/node/deposit"
	"skep/node/quota"
)

var selfID = grid.NodeID{1}

// closedRegister is the register of a closed job that this node alone keeps.
type closedRegister struct{ Register }

func (closedRegister) State() grid.RegisterState { return grid.RegisterState{Epoch: 1, Done: true} }
func (closedRegister) Sole() bool                { return true }
func (closedRegister) Retried() int              { return 0 }
func (closedRegister) IsOwner() bool             { return true }
func (closedRegister) Job() grid.JobID           { return grid.JobID{} }

// closedRegisters has closed registers only.
type closedRegisters struct{ Registers }

func (closedRegisters) Closed() Register { return closedRegister{} }

// keeper is a coordinator that keeps finished jobs; it has no other parts.
func keeper(t *testing.T) *Coordinator {
	t.Helper()
	knobs := tuning.Defaults()
	c := &Coordinator{cfg: Config{Tuning: &knobs, Self: selfID},
		parts: parts{wall: grid.Wall{Zero: time.Unix(1_700_000_000, 0)},
			scratch: new(Scratch), replicas: closedRegisters{}, deposits: deposit.New(deposit.Config{Self: selfID}),
			quota: new(quota.Accounts)}}
	return c
}
