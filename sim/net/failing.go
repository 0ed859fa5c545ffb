package net

import (
	"encoding/binary"
	"hash/fnv"

	"skep/document"
	"skep/grid"
	"skep/sim"
)

// Failing is how tasks of a class fail, and what becomes of them.
type Failing struct {
	Share float64        // of attempts: they end with exit 1
	Rule  grid.OnFailure // of their jobs
}

// ends returns how attempts end: those of classes that fail do so by a hash of the seed and the attempt, so that a task
// that is run again may succeed. Nil where no class fails.
func (s *Scenario) ends(seed uint64) func(grid.AttemptID, string, int) sim.Ending {
	shares := map[string]float64{}
	for k := range s.Classes {
		if c := &s.Classes[k]; c.Failing.Share > 0 {
			shares[c.Name] = c.Failing.Share
		}
	}
	if len(shares) == 0 {
		return nil
	}
	return func(a grid.AttemptID, class string, _ int) sim.Ending {
		h := fnv.New64a()
		for _, x := range [...]uint64{seed, uint64(a.Task.Index), uint64(a.Epoch)<<32 | uint64(a.N)} {
			h.Write(binary.BigEndian.AppendUint64(nil, x))
		}
		h.Write(a.Task.Job.Nonce[:])
		if float64(h.Sum64()>>11)/(1<<53) < shares[class] {
			return sim.Ending{Exit: 1}
		}
		return sim.Ending{}
	}
}

// onFailure parses a class's key on_failure.
func (f *scenarioFile) onFailure(e document.Entry, r *grid.OnFailure) {
	for _, k := range f.Mapping(e.Value, "on_failure", "retry", "backoff") {
		switch k.Key {
		case "retry":
			f.Number(k, 1, grid.MaxFailureRetry, func(n int64) { r.Retry, r.Rerun = int32(n), true })
		case "backoff":
			f.span(k, &r.Backoff)
		}
	}
	if r.Retry == 0 || r.Backoff > grid.MaxBackoff {
		f.At(e.Value, "on_failure: retry %d, backoff %v: want a retry from 1 to %d, and a backoff up to %v", r.Retry,
			r.Backoff, grid.MaxFailureRetry, grid.MaxBackoff)
	}
}
