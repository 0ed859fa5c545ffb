package node

import (
	"slices"

	"skep/grid"
)

// arrival is files on their way here for a job that was submitted elsewhere. They take room until they have come, or have
// not: also when the job is forgotten meanwhile, or another attempt's files are wanted, for nobody stops them.
type arrival struct {
	to    grid.NodeID // whom the room is charged to
	files []grid.File
}

// bring has files come here; it says why if they cannot now. What is on its way already is waited for.
func (n *Node) bring(j *job, id grid.AttemptID, from grid.NodeID, files []grid.File, fx *grid.Effects) grid.Refusal {
	if a, ok := n.arrivals[id]; ok {
		if !slices.Equal(a.files, files) { // by one who names others than before
			return grid.Refusal{Why: grid.WhyQueue}
		}
		return grid.Refusal{}
	}
	if no := n.room(j, files, fx); no.Why != grid.WhyNone {
		return no
	}
	if j.id.Origin != n.cfg.Self {
		n.expect(id, arrival{to: j.lender(), files: files})
	}
	fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: id, From: from, Others: j.guard.reg.Members(), Files: files, Copy: true})
	return grid.Refusal{}
}

// expect takes room for what is to come.
func (n *Node) expect(id grid.AttemptID, a arrival) {
	if n.arrivals == nil {
		n.arrivals = make(map[grid.AttemptID]arrival)
	}
	n.arrivals[id] = a
	size, p := weigh(a.files), n.pair(a.to)
	p.coming++
	p.lent += size
	n.lent += size
}

// arrived gives that room back; what is kept of it is charged to its job.
func (n *Node) arrived(id grid.AttemptID) {
	a, ok := n.arrivals[id]
	if !ok {
		return
	}
	delete(n.arrivals, id)
	size, p := weigh(a.files), n.pair(a.to)
	p.coming--
	p.lent -= size
	n.lent -= size
}
