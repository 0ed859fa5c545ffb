package checkpoint

import "skep/grid"

// What an owner tells the workers of an attempt.

// orderAll tells all workers of the attempt what is new for them, and reports whether anything is.
func (u *unit) orderAll(fx *grid.Effects) bool {
	if u.gather == nil || !u.gather.news {
		return false
	}
	u.gather.news = false
	for i := range u.gather.ranks {
		id := grid.AttemptID{Task: u.id, Attempt: u.gather.attempt}
		if len(u.gather.ranks) > 1 {
			id.Task.Index = uint32(i)
		}
		u.orderRank(id, &u.gather.ranks[i], fx)
	}
	return true
}

// orderRank answers the worker of a rank, if it has said something.
func (u *unit) orderRank(id grid.AttemptID, r *rank, fx *grid.Effects) {
	if r.worker.IsZero() {
		return
	}
	step := u.gather.step
	if r.named {
		step = 0
	}
	order(r.worker, id, step, u.gather.usable, fx)
}

func order(to grid.NodeID, id grid.AttemptID, take, usable uint64, fx *grid.Effects) {
	m := fx.Send(to, grid.KindCheckpointAck)
	m.Attempts, m.Checkpoint = append(m.Attempts, id), &grid.Checkpoint{Step: take, Usable: usable}
}
