package node

import "skep/grid"

// What the parts of a node tell each other within a step: messages that the node sends to itself, since the owner and
// the worker of an attempt may be the same node, and lists of changes. They are delivered within the step that sends
// them, so the records of both sides are in one transaction, and none is lost.

// deliverLocal delivers the messages to this node that the step has sent since the last call, and those sent in turn,
// until none is left.
func (n *Node) deliverLocal(now grid.Time, fx *grid.Effects) {
	for {
		local := n.takeLocal(fx)
		if len(local) == 0 {
			return
		}
		for i := range local {
			n.route(now, n.self, &local[i], fx)
		}
	}
}

// takeLocal removes the messages to this node from the effects; valid until the next call. The others keep their order.
func (n *Node) takeLocal(fx *grid.Effects) []grid.Message {
	local, kept := n.scratch.local[:0], n.local
	for i := n.local; i < len(fx.Sends); i++ {
		s := &fx.Sends[i]
		if s.To != n.self {
			if i != kept {
				fx.Sends[kept], *s = *s, fx.Sends[kept]
			}
			kept++
			continue
		}
		if k := len(local); k < cap(local) {
			local = local[:k+1]
		} else {
			local = append(local, grid.Message{})
		}
		last := &local[len(local)-1]
		*last, s.Msg = s.Msg, *last // each keeps the memory of its slices
	}
	fx.Sends, n.local, n.scratch.local = fx.Sends[:kept], kept, local
	return local
}

// settle delivers what this node has sent to itself, and starts waiting attempts once all attempts of this step are
// dropped.
func (n *Node) settle(now grid.Time, fx *grid.Effects) {
	for more := true; more; {
		n.followCoordinator(now, fx)
		n.followWorker(now, fx)
		n.deliverLocal(now, fx)
		for from, o := n.worker.Gathered(now, fx); o != nil; from, o = n.worker.Gathered(now, fx) {
			n.offerReceived(now, from, o, fx)
		}
		more = n.worker.StartFreed(now, fx)
	}
	n.followWorker(now, fx)
}

// followCoordinator makes the worker follow what has changed about jobs.
func (n *Node) followCoordinator(now grid.Time, fx *grid.Effects) {
	for x, found := n.coordinator.NextChange(); found; x, found = n.coordinator.NextChange() {
		if x.Kind == grid.JobHeld {
			n.dependency.Track(now, x.Job, fx)
			continue
		}
		n.worker.Follow(now, &x, fx)
	}
}

// followWorker makes the node follow what has changed at its worker.
func (n *Node) followWorker(now grid.Time, fx *grid.Effects) {
	news := n.worker.News()
	for _, r := range news.Ran {
		n.rates.Ran(now, r.Class, r.Whole, fx)
		n.rates.RanFor(r.Class, r.Process, r.Time)
		n.peers.Price().Ran(r.Time)
	}
	if news.Ended {
		n.coordinator.ResumeAwaitingProof()
	}
	if news.Changed {
		n.peers.Price().Follow(now)
		n.profile.Changed(now, fx)
		n.loadChanged()
	}
}
