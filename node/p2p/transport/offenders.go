package transport

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"skep/grid"
)

// Offences: a peer is blocked when it has committed more than maxOffences at once, of which one is forgiven every
// forgiveAfter. Each block is twice as long as the one before, up to maxBlock.
const (
	maxOffences  = 20
	forgiveAfter = 10 * time.Second
	minBlock     = time.Minute
	maxBlock     = time.Hour
	maxOffenders = 1024 // peers whose offences are remembered
)

// offenders tracks the offences of peers.
type offenders struct {
	mu    sync.Mutex
	peers map[grid.NodeID]*offender
}

type offender struct {
	bucket       *rate.Limiter
	block        time.Duration
	blockedUntil time.Time
	lastOffence  time.Time
}

// offend records an offence of some weight and reports whether the peer is to be disconnected now.
func (o *offenders) offend(n grid.NodeID, weight int, at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.peers[n]
	if p == nil {
		if o.peers == nil {
			o.peers = make(map[grid.NodeID]*offender)
		}
		if len(o.peers) >= maxOffenders {
			o.evictOldest()
		}
		p = &offender{bucket: rate.NewLimiter(rate.Every(forgiveAfter), maxOffences), block: minBlock}
		o.peers[n] = p
	}
	p.lastOffence = at
	if at.Before(p.blockedUntil) {
		return true
	}
	if p.bucket.AllowN(at, weight) {
		return false
	}
	p.blockedUntil = at.Add(p.block)
	p.block = min(2*p.block, maxBlock)
	p.bucket.SetBurstAt(at, maxOffences)
	return true
}

// evictOldest makes room by removing the peer whose last offence is the oldest.
func (o *offenders) evictOldest() {
	var oldest grid.NodeID
	var last time.Time
	for n, p := range o.peers {
		if last.IsZero() || p.lastOffence.Before(last) || p.lastOffence.Equal(last) && n.Compare(oldest) < 0 {
			oldest, last = n, p.lastOffence
		}
	}
	delete(o.peers, oldest)
}

// blocked reports whether a peer is blocked.
func (o *offenders) blocked(n grid.NodeID, at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.peers[n]
	return p != nil && at.Before(p.blockedUntil)
}
