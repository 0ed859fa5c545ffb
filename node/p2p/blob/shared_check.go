package blob

import "context"

// check is the hashing of a blob's file, shared by all who wait for it.
type check struct {
	done    chan struct{}
	err     error // once done is closed
	waiting int
	end     context.CancelFunc
}

// hashOnce hashes the file of an entry, once for all concurrent callers. It returns when that is done or ctx ends;
// when nobody waits any more the hashing stops, too.
func (s *Store) hashOnce(ctx context.Context, e *entry) error {
	s.mu.Lock()
	c := s.checks[e]
	if c == nil {
		var all context.Context
		c = &check{done: make(chan struct{})}
		all, c.end = context.WithCancel(context.WithoutCancel(ctx))
		s.checks[e] = c
		go func() {
			c.err = s.verify(all, e)
			c.end()
			s.stopWaiting(e, c, 0)
			close(c.done)
		}()
	}
	c.waiting++
	s.mu.Unlock()
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		s.stopWaiting(e, c, 1)
		return ctx.Err()
	}
}

// stopWaiting removes waiters that have gone. A caller that comes when none is left starts a new hashing.
func (s *Store) stopWaiting(e *entry, c *check, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.waiting -= left
	if left > 0 && c.waiting > 0 {
		return
	}
	c.end()
	if s.checks[e] == c {
		delete(s.checks, e)
	}
}
