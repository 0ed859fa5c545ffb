package instance

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"skep/grid"
)

// unproven are the peers of which an instance lives that does not prove itself to another: it is busy, or of a version
// that does not know the protocol. Its connection stays, since an honest older node has no other answer, and whoever
// has the key would come back. So the other instance gets no session here. That is no secret: the operator is told once
// it has lasted for warnAfter, and again each keepCopy. It is safe for concurrent use.
type unproven struct {
	mu    sync.Mutex
	spans *lru.Cache[grid.NodeID, span]
}

// span is a time in which no question was answered.
type span struct {
	since, last time.Time
	told        time.Time
}

const (
	// warnAfter is how long an instance may leave questions unanswered, of which its copy causes one every 10 s.
	warnAfter = time.Minute
	// maxGap is the time between two questions of a span.
	maxGap = time.Minute
)

func newUnproven() *unproven {
	spans, err := lru.New[grid.NodeID, span](maxCopies)
	if err != nil {
		panic(err)
	}
	return &unproven{spans: spans}
}

// lasts notes that an instance has not proved itself, and reports whether the operator is to be told.
func (u *unproven) lasts(n grid.NodeID, now time.Time) (tell bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, known := u.spans.Get(n)
	if !known || now.Sub(s.last) > maxGap {
		s = span{since: now, told: s.told}
	}
	s.last = now
	if tell = now.Sub(s.since) >= warnAfter && (s.told.IsZero() || now.Sub(s.told) >= keepCopy); tell {
		s.told = now
	}
	u.spans.Add(n, s)
	return tell
}

// end notes that an instance has answered, or is taken for dead.
func (u *unproven) end(n grid.NodeID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.spans.Remove(n)
}
