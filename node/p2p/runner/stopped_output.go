package runner

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"skep/exec/process"
	"skep/grid"
)

// Bounds of what is kept of attempts that were stopped.
const (
	maxStopped      = 64                    // attempts
	maxStoppedBytes = int64(256 * grid.MiB) // of all together
)

// stoppedOutput is what attempts had printed that were stopped while they ran, as those of a cancelled job: they have
// no result that could hold it. That of the newest is kept until the node stops. The files have no name any more, so
// nothing is left behind.
type stoppedOutput struct {
	mu    sync.Mutex
	by    map[grid.AttemptID]*printed
	order []grid.AttemptID // oldest first
}

// printed is the output of one attempt.
type printed struct {
	members []grid.NodeID // who may ask for it, besides the job's origin
	files   [2]*os.File   // by stream; nil = nothing was printed
}

// keep opens the output of an attempt before its folder is removed.
func (s *stoppedOutput) keep(id grid.AttemptID, dir string, members []grid.NodeID) {
	p := &printed{members: members}
	for _, stream := range [...]process.Stream{process.Stdout, process.Stderr} {
		if f, err := os.Open(process.Output(dir, stream)); err == nil {
			p.files[stream] = f
		}
	}
	if p.files[0] == nil && p.files[1] == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = make(map[grid.AttemptID]*printed)
	}
	if s.by[id] != nil {
		p.close()
		return
	}
	s.by[id], s.order = p, append(s.order, id)
	for len(s.order) > maxStopped || s.size() > maxStoppedBytes {
		s.by[s.order[0]].close()
		delete(s.by, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
}

// size returns the bytes of all that is kept.
func (s *stoppedOutput) size() (sum int64) {
	for _, p := range s.by {
		for _, f := range p.files {
			if info, err := f.Stat(); f != nil && err == nil {
				sum += info.Size()
			}
		}
	}
	return sum
}

func (p *printed) close() {
	for _, f := range p.files {
		if f != nil {
			f.Close()
		}
	}
}

// closeAll forgets everything.
func (s *stoppedOutput) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		s.by[id].close()
	}
	s.by, s.order = nil, nil
}

// mayRead reports whether a node is one that may ask for the output of an attempt.
func (s *stoppedOutput) mayRead(id grid.AttemptID, n grid.NodeID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.by[id]
	return p != nil && slices.Contains(p.members, n)
}

// open returns what an attempt had printed on a stream, from an offset on.
func (s *stoppedOutput) open(id grid.AttemptID, stream process.Stream, offset int64) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.by[id]
	switch {
	case p == nil:
		return nil, errNotRunning
	case p.files[stream] == nil:
		return nil, fs.ErrNotExist
	}
	info, err := p.files[stream].Stat()
	if err != nil {
		return nil, errors.Join(errNotRunning, err)
	}
	return io.NopCloser(io.NewSectionReader(p.files[stream], offset, max(info.Size()-offset, 0))), nil
}
