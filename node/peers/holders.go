package peers

import (
	"skep/fifo"
	"skep/grid"
)

// holders is which nodes have which inputs, as far as it is known here without asking: a node that has delivered a task
// had its inputs, and a member of a job's register says that it has them. What a node has thrown away since is not
// known.
type holders struct{ known fifo.Map[held, struct{}] }

type held struct {
	node grid.NodeID
	blob grid.BlobID
}

const (
	mostHeld  = 4096     // entries remembered; the oldest go first
	leastHeld = grid.MiB // of a file: smaller ones are fetched in no time
)

// has records that a node has the inputs of a job: all, or those that each of its tasks has.
func (h *holders) has(id grid.NodeID, spec *grid.JobSpec, all bool) {
	spec.EachInput(func(f *grid.File, share float64) {
		x := held{id, f.Blob}
		if f.Size < leastHeld || h.known.Get(x) != nil || share < 1 && !all {
			return
		}
		if h.known.Len() == mostHeld {
			h.known.RemoveOldest()
		}
		h.known.Add(x, struct{}{})
	})
}

// lacks is how many bytes of the inputs of a job's mean task a node is not known to have, of small files none.
func (h *holders) lacks(id grid.NodeID, spec *grid.JobSpec) (size float64) {
	if spec == nil {
		return 0
	}
	spec.EachInput(func(in *grid.File, share float64) { size += share * h.lacksOf(id, in) })
	return size
}

func (h *holders) lacksOf(id grid.NodeID, f *grid.File) float64 {
	if f.Size < leastHeld || h.known.Get(held{id, f.Blob}) != nil {
		return 0
	}
	return float64(f.Size)
}

// Lacks is how many bytes of files another node is not known to have, of small ones none.
func (p *Peers) Lacks(id grid.NodeID, files []grid.File) (size float64) {
	for i := range files {
		size += p.holders.lacksOf(id, &files[i])
	}
	return size
}

// HasInputs records that a node has said that it has the inputs of a job.
func (p *Peers) HasInputs(id grid.NodeID, spec *grid.JobSpec) { p.holders.has(id, spec, true) }

// fetchTime is the time that a node needs to fetch what it is not known to have of the job's inputs, in seconds.
func (p *Peers) fetchTime(id grid.NodeID, spec *grid.JobSpec) float64 {
	if !(p.cfg.Balance.Bandwidth > 0) {
		return 0
	}
	return p.transferTime(p.holders.lacks(id, spec))
}

// transferTime is the time that a node needs to fetch so many bytes, in seconds.
func (p *Peers) transferTime(bytes float64) float64 {
	if !(p.cfg.Balance.Bandwidth > 0) {
		return 0
	}
	return bytes / p.cfg.Balance.Bandwidth
}
