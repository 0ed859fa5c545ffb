package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"skep/grid"
	"skep/node/p2p/disk"
)

// Bounds of the deposits that this node fetches for other nodes' jobs, for each owner: in bytes per second in the
// long run, and at once. The deposit quota bounds what it stores.
const (
	depositRate      = 32 << 20
	depositBurst     = 1 << 30
	maxDepositOwners = 1024 // owners that are tracked
)

// depositAdmission decides when deposits may be fetched: the disk must keep its reserve, and each owner has a rate.
type depositAdmission struct {
	dir     string     // on the disk
	reserve grid.Bytes // what must stay free

	mu       sync.Mutex
	pending  grid.Bytes // admitted and not here yet
	limiters map[grid.NodeID]*rate.Limiter
}

// admit waits until an owner may have that much fetched, and checks that the disk has room for it. leave frees the
// room when the files are here, or will not come.
func (s *depositAdmission) admit(ctx context.Context, owner grid.NodeID, size grid.Bytes) (leave func(), err error) {
	select {
	case <-time.After(s.delay(owner, size)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	free, err := disk.Free(s.dir)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if free-s.pending-size < s.reserve {
		return nil, fmt.Errorf("the disk has no room for %d bytes beyond its reserve of %d", size, s.reserve)
	}
	s.pending += size
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pending -= size
	}, nil
}

func (s *depositAdmission) delay(owner grid.NodeID, size grid.Bytes) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.limiters[owner]
	if l == nil {
		if s.limiters == nil || len(s.limiters) >= maxDepositOwners {
			s.limiters = make(map[grid.NodeID]*rate.Limiter)
		}
		l = rate.NewLimiter(depositRate, depositBurst)
		s.limiters[owner] = l
	}
	return l.ReserveN(time.Now(), int(min(size, depositBurst))).Delay()
}

// sizeOf returns the sum of the sizes of files.
func sizeOf(files []grid.File) (sum grid.Bytes) {
	for i := range files {
		sum += files[i].Size
	}
	return sum
}
