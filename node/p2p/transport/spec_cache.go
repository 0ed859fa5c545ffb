package transport

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Bounds of the remembered checked specs: enough for the jobs whose tasks are offered one by one, and in bytes for
// all.
const (
	maxSpecs      = 1024
	maxSpecsBytes = 8 << 20
)

// specCache signs the specs of own jobs and checks those of others, each once: the tasks of a job are offered one
// by one, all with the same spec, and then share it.
type specCache struct {
	mu    sync.Mutex
	known *simplelru.LRU[grid.JobID, *grid.JobSpec]
	bytes int // of all in known
}

func newSpecCache() *specCache {
	c := new(specCache)
	known, err := simplelru.NewLRU(maxSpecs, func(_ grid.JobID, s *grid.JobSpec) { c.bytes -= len(s.Sealed) })
	if err != nil {
		panic("p2p: spec cache: " + err.Error())
	}
	c.known = known
	return c
}

// open decodes a spec that came with a job's ID and checks its signature, as wire.OpenSpec does.
func (c *specCache) open(job grid.JobID, encoded []byte) (*grid.JobSpec, error) {
	if s := c.get(job); s != nil && s.Sealed == string(encoded) {
		return s, nil
	}
	s, err := wire.OpenSpec(job, encoded)
	if err == nil && s.Sealed != "" {
		c.put(job, s)
	}
	return s, err
}

func (c *specCache) get(job grid.JobID) *grid.JobSpec {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, _ := c.known.Get(job)
	return s
}

func (c *specCache) put(job grid.JobID, s *grid.JobSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known.Remove(job)
	c.known.Add(job, s)
	c.bytes += len(s.Sealed)
	for c.bytes > maxSpecsBytes {
		c.known.RemoveOldest()
	}
}
