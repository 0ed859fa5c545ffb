package p2p

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"skep/grid"
)

// limit bounds how often a peer may send a kind of message.
type limit struct {
	rate  rate.Limit // messages per second in the long run
	burst int        // messages at once
	wait  bool       // beyond it the peer's stream is read more slowly; otherwise the message is dropped
}

// limits by kind. Messages that place tasks are delayed, since a loss would cost a lease; news is dropped, since
// the next one replaces it. The rates are a few times what one busy node ever sends to another.
var limits = [grid.Kinds]limit{
	grid.KindDigest:        {rate: 20, burst: 100},
	grid.KindPoll:          {rate: 5000, burst: 10000, wait: true},
	grid.KindState:         {rate: 5000, burst: 10000, wait: true},
	grid.KindOffer:         {rate: 5000, burst: 10000, wait: true},
	grid.KindAccept:        {rate: 5000, burst: 10000, wait: true},
	grid.KindRefuse:        {rate: 5000, burst: 10000, wait: true},
	grid.KindBeat:          {rate: 100, burst: 1000, wait: true},
	grid.KindDrop:          {rate: 1000, burst: 5000, wait: true},
	grid.KindResult:        {rate: 5000, burst: 10000, wait: true},
	grid.KindResultAck:     {rate: 5000, burst: 10000, wait: true},
	grid.KindAsk:           {rate: 100, burst: 1000, wait: true},
	grid.KindFind:          {rate: 200, burst: 1000},
	grid.KindHit:           {rate: 200, burst: 1000},
	grid.KindMiss:          {rate: 200, burst: 1000},
	grid.KindCall:          {rate: 1, burst: 20},
	grid.KindBye:           {rate: 1, burst: 5},
	grid.KindWrite:         {rate: 5000, burst: 10000, wait: true},
	grid.KindWriteAck:      {rate: 5000, burst: 10000, wait: true},
	grid.KindCampaign:      {rate: 1000, burst: 5000, wait: true},
	grid.KindVote:          {rate: 1000, burst: 5000, wait: true},
	grid.KindKeepalive:     {rate: 100, burst: 1000, wait: true},
	grid.KindKeepaliveAck:  {rate: 100, burst: 1000, wait: true},
	grid.KindTakeover:      {rate: 1000, burst: 5000, wait: true},
	grid.KindStartLease:    {rate: 100, burst: 1000, wait: true},
	grid.KindStartLeaseAck: {rate: 100, burst: 1000, wait: true},
	grid.KindDeposit:       {rate: 1000, burst: 5000, wait: true},
	grid.KindDepositAck:    {rate: 1000, burst: 5000, wait: true},
}

// Deadlines of streams. A control stream may be silent for ever; a frame or a transfer that has begun must go on.
const (
	helloDeadline = 10 * time.Second // from the opening of a control stream to the other's hello
	frameDeadline = 10 * time.Second // from the first byte of a frame to its last, and for one flush
	fetchStall    = 15 * time.Second // for the next fetchPiece bytes of a blob
	serveStall    = 30 * time.Second // for the reader to take the next servePiece bytes
	askDeadline   = 10 * time.Second // from the opening of a blob or output stream to its request
	dialDeadline  = 15 * time.Second
)

// fetchPiece is the number of bytes of a blob, or the rest of it, that must arrive within fetchStall: a slower peer
// is replaced by another, and holds up no other fetch. 1 KiB/s is less than any useful link has.
const fetchPiece = 16 << 10

// meter limits what one peer sends, by kind.
type meter [grid.Kinds]*rate.Limiter

// of returns the limiter of a kind. Only the goroutine that reads the peer's stream may call it.
func (m *meter) of(k grid.Kind) *rate.Limiter { return m.bounded(k, limits[k]) }

func (m *meter) bounded(k grid.Kind, by limit) *rate.Limiter {
	if m[k] == nil {
		m[k] = rate.NewLimiter(by.rate, by.burst)
	}
	return m[k]
}

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
