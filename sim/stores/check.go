package stores

import (
	"fmt"
	"slices"

	"skep/grid"
)

// Check returns what a node's step promises or does too soon after its start; "" = nothing.
func (s *Stores) Check(now grid.Time, i int32, fx *grid.Effects) string {
	x := &s.nodes[i]
	for k := range fx.Sends {
		m := &fx.Sends[k].Msg
		switch {
		case promises(m) && !x.heardMajority(m.Register.Job):
			return fmt.Sprintf("answers a %v before a majority of the register's members has told what it knows", m.Kind)
		case m.Kind == grid.KindOffer && x.keepsAlone(m.Offer.ID.Task.Job) && !x.settled(now):
			return "offers a task of a job that it alone keeps before others had time to tell what they know"
		}
	}
	for k := range fx.Starts {
		if x.keepsAlone(fx.Starts[k].Attempt.Task.Job) && !x.settled(now) {
			return "starts a task of a job that it alone keeps before others had time to tell what they know"
		}
	}
	return ""
}

// promises reports whether a message is a member's promise in one register.
func promises(m *grid.Message) bool {
	return (m.Kind == grid.KindWriteAck || m.Kind == grid.KindVote) && m.Register.Answer == grid.RegisterOK
}

// heardMajority reports whether a node may promise something in a register: it was not on its disk when it started, or
// has nothing left to promise, or a majority of its members, with the node itself, has told.
func (x *store) heardMajority(id grid.JobID) bool {
	r, restored := x.registers[id]
	if !restored || r.done {
		return true
	}
	told := 1
	for _, n := range r.ids {
		if _, met := x.met[n]; met {
			told++
		}
	}
	return told > len(r.ids)/2
}

// keepsAlone reports whether a job was on the node's disk when it started, and no other node keeps it.
func (x *store) keepsAlone(id grid.JobID) bool {
	r, restored := x.registers[id]
	return restored && !r.done && len(r.ids) == 1
}

// decisive are messages by which a node that has forgotten something may do harm.
var decisive = [...]grid.Kind{grid.KindAccept, grid.KindRefuse, grid.KindOffer, grid.KindResultAck,
	grid.KindStartLeaseAck, grid.KindReserveAck, grid.KindDepositAck, grid.KindCheckpointAck, grid.KindAwaited,
	grid.KindTakeover}

// Acts reports whether effects of a node may do harm if it has forgotten something: it starts something, promises, or
// answers for what it keeps.
func Acts(fx *grid.Effects) bool {
	if len(fx.Starts) > 0 || len(fx.Replies) > 0 {
		return true
	}
	return slices.ContainsFunc(fx.Sends, func(s grid.Send) bool {
		return promises(&s.Msg) || slices.Contains(decisive[:], s.Msg.Kind) ||
			s.Msg.Kind == grid.KindKeepaliveAck && s.Msg.Register.Answer == grid.RegisterOK
	})
}
