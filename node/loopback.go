package node

import "skep/grid"

// Messages that a node sends to itself: the owner and the worker of an attempt may be the same node. They are delivered
// within the step that sends them, so the records of both sides are in one transaction, and none is lost.

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
		more = n.worker.StartFreed(now, fx)
	}
	n.followWorker(now, fx)
}
