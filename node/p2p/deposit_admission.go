package p2p

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"skep/grid"
	"skep/node/p2p/disk"
)

// Bounds of what this node copies for the registers of others' jobs, for each of their owners: how fast in the long run in
// bytes per second, and how much at once. What it may keep is bounded by the node itself.
const (
	depositRate      = 32 << 20
	depositBurst     = 1 << 30
	maxDepositOwners = 1024 // owners that are remembered
)

// depositAdmission is room for copies: the disk's beyond its reserve, and what each owner may still have copied now.
type depositAdmission struct {
	d *Driver

	mu       sync.Mutex
	pending  grid.Bytes // that there was room for, and that are not here yet
	limiters map[grid.NodeID]*rate.Limiter
}

// admit waits until an owner may have that much copied, and makes sure that the disk has room for it. leave gives the room
// back when the files are here, or will not come.
func (s *depositAdmission) admit(ctx context.Context, owner grid.NodeID, size grid.Bytes) (leave func(), err error) {
	select {
	case <-time.After(s.delay(owner, size)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	free, err := disk.Free(s.d.cfg.DataDir)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if reserve := s.d.cfg.DiskLow; free-s.pending-size < reserve {
		return nil, fmt.Errorf("the disk has no room for %d bytes beyond its reserve of %d", size, reserve)
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

// sizeOf sums up files.
func sizeOf(files []grid.File) (sum grid.Bytes) {
	for i := range files {
		sum += files[i].Size
	}
	return sum
}
