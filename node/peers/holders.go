package peers

import (
	"time"

	"skep/fifo"
	"skep/grid"
)

// holders is which nodes have which inputs, as far as it is known here without asking: a node that has delivered a task
// had its inputs, a member of a job's register says that it has them, and one that was given a task fetches them. What
// a node has thrown away since is not known. The value is when a file is expected to be there; 0 = it is.
type holders struct{ known fifo.Map[held, grid.Time] }

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
		switch due := h.known.Get(x); {
		case f.Size < leastHeld || share < 1 && !all:
		case due != nil:
			*due = 0
		default:
			h.add(x, 0)
		}
	})
}

func (h *holders) add(x held, due grid.Time) {
	if h.known.Len() == mostHeld {
		h.known.RemoveOldest()
	}
	h.known.Add(x, due)
}

// fetches records that a node begins to fetch those inputs of a job that each of its tasks has, at a rate.
func (h *holders) fetches(now grid.Time, id grid.NodeID, spec *grid.JobSpec, rate float64) {
	size := 0.0
	spec.EachInput(func(f *grid.File, share float64) {
		if x := (held{id, f.Blob}); f.Size >= leastHeld && share == 1 && h.known.Get(x) == nil {
			size += float64(f.Size)
			h.add(x, now.Add(seconds(size/rate)))
		}
	})
}

// seconds is a time of at most a day: a rate may be next to nothing.
func seconds(s float64) time.Duration { return time.Duration(min(s, 86_400) * float64(time.Second)) }

// stops forgets what a node was only expected to have of a job's inputs: it has refused the task, or lost it.
func (h *holders) stops(id grid.NodeID, spec *grid.JobSpec) {
	spec.EachInput(func(f *grid.File, _ float64) {
		x := held{id, f.Blob}
		if due := h.known.Get(x); due != nil && *due > 0 {
			h.known.Remove(x)
		}
	})
}

// until is the time in seconds until a node has a file, if it fetches that at a rate.
func (h *holders) until(now grid.Time, id grid.NodeID, f *grid.File, rate float64) float64 {
	switch due := h.known.Get(held{id, f.Blob}); {
	case f.Size < leastHeld:
		return 0
	case due == nil:
		return float64(f.Size) / rate
	default:
		return max(due.Sub(now), 0).Seconds()
	}
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
	if due := h.known.Get(held{id, f.Blob}); f.Size < leastHeld || due != nil && *due == 0 {
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
