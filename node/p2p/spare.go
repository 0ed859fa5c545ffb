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
	copyRate  = 32 << 20
	copyBurst = 1 << 30
	maxPayers = 1024 // owners that are remembered
)

// spare is room for copies: the disk's beyond its reserve, and what each owner may still have copied now.
type spare struct {
	d *Driver

	mu     sync.Mutex
	coming grid.Bytes // that there was room for, and that are not here yet
	owners map[grid.NodeID]*rate.Limiter
}

// take waits until an owner may have that much copied, and makes sure that the disk has room for it. leave gives the room
// back when the files are here, or will not come.
func (s *spare) take(ctx context.Context, owner grid.NodeID, size grid.Bytes) (leave func(), err error) {
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
	if reserve := s.d.cfg.DiskLow; free-s.coming-size < reserve {
		return nil, fmt.Errorf("the disk has no room for %d bytes beyond its reserve of %d", size, reserve)
	}
	s.coming += size
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.coming -= size
	}, nil
}

func (s *spare) delay(owner grid.NodeID, size grid.Bytes) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.owners[owner]
	if l == nil {
		if s.owners == nil || len(s.owners) >= maxPayers {
			s.owners = make(map[grid.NodeID]*rate.Limiter)
		}
		l = rate.NewLimiter(copyRate, copyBurst)
		s.owners[owner] = l
	}
	return l.ReserveN(time.Now(), int(min(size, copyBurst))).Delay()
}

// sizeOf sums up files.
func sizeOf(files []grid.File) (sum grid.Bytes) {
	for i := range files {
		sum += files[i].Size
	}
	return sum
}
