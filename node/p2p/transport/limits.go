package transport

import (
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
	grid.KindWaiting:       {rate: 20, burst: 100},
	grid.KindPull:          {rate: 50, burst: 200},
	grid.KindNoWork:        {rate: 50, burst: 200},
	grid.KindAwait:         {rate: 50, burst: 1000, wait: true},
	grid.KindAwaited:       {rate: 1000, burst: 5000, wait: true},
	grid.KindReserve:       {rate: 100, burst: 1000, wait: true},
	grid.KindReserveAck:    {rate: 100, burst: 1000, wait: true},

	grid.KindCheckpoint:     {rate: 1000, burst: 5000, wait: true},
	grid.KindCheckpointAck:  {rate: 1000, burst: 5000, wait: true},
	grid.KindCheckpointKeep: {rate: 1000, burst: 5000, wait: true},
	grid.KindVacate:         {rate: 100, burst: 1000, wait: true},
}

// Deadlines of streams. A control stream may be silent for ever; a frame or a transfer that has begun must go on.
const (
	helloDeadline = 10 * time.Second // from the opening of a control stream to the other's hello
	frameDeadline = 10 * time.Second // from the first byte of a frame to its last, and for one flush
	serveStall    = 30 * time.Second // for the reader to take the next servePiece bytes
	askDeadline   = 10 * time.Second // from the opening of a blob or output stream to its request
)

// DialDeadline bounds a dial.
const DialDeadline = 15 * time.Second

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
