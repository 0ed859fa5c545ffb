package grid

import (
	"fmt"
	"math"
	"strconv"
)

// MilliCPU counts processor cores in thousandths.
type MilliCPU int64

// Cores is the number of cores.
func (n MilliCPU) Cores() float64 { return float64(n) / float64(CPU) }

// Bytes counts memory, disk or network volume.
type Bytes int64

// Common sizes.
const (
	KiB Bytes    = 1 << 10
	MiB Bytes    = 1 << 20
	GiB Bytes    = 1 << 30
	CPU MilliCPU = 1000
)

// Resources are what a node has and a task needs.
type Resources struct {
	CPU    MilliCPU
	Memory Bytes
	Counts Counts
}

// Fits reports whether need can be taken out of r.
func (r Resources) Fits(need Resources) bool {
	return r.FitsPlain(need) && (need.Counts == "" || r.Counts.Fits(need.Counts))
}

// FitsPlain reports whether need can be taken out of r as far as no counted resource is concerned.
func (r Resources) FitsPlain(need Resources) bool {
	return need.CPU <= r.CPU && need.Memory <= r.Memory
}

// Plus returns r + s.
func (r Resources) Plus(s Resources) Resources {
	return Resources{CPU: r.CPU + s.CPU, Memory: r.Memory + s.Memory, Counts: r.Counts.plus(1, s.Counts)}
}

// Minus returns r − s.
func (r Resources) Minus(s Resources) Resources {
	return Resources{CPU: r.CPU - s.CPU, Memory: r.Memory - s.Memory, Counts: r.Counts.plus(-1, s.Counts)}
}

// String prints cores, mebibytes and counted resources.
func (r Resources) String() string {
	text := fmt.Sprintf("%g cpu, %d MiB", float64(r.CPU)/1000, r.Memory/MiB)
	for kind, n := range r.Counts.All() {
		text += fmt.Sprintf(", %d %s", n, kind)
	}
	return text
}

// Bid is what a job bids for a second of the reference machine, in thousandths. It is no money: nothing is paid. It
// says how urgent the job is among people who trust each other. Where work waits the higher bid goes first, as far as
// the order of the node says (package balance/order).
type Bid int32

// UsualBid is the bid of a job that does not say. MaxBid bounds bids; a node may have a lower bound.
const (
	UsualBid Bid = 1000
	MaxBid   Bid = 1_000_000 * UsualBid
)

// BidOf returns the bid of a number, to the thousandth; false = it is no bid.
func BidOf(x float64) (Bid, bool) {
	n := math.Round(x * float64(UsualBid))
	return Bid(n), n >= 1 && n <= float64(MaxBid)
}

// Number returns the bid as people write it.
func (b Bid) Number() float64 { return float64(b) / float64(UsualBid) }

// String returns the bid as people write it.
func (b Bid) String() string { return strconv.FormatFloat(b.Number(), 'f', -1, 64) }

// ParseBid parses a bid.
func ParseBid(s string) (Bid, error) {
	x, err := strconv.ParseFloat(s, 64)
	b, ok := BidOf(x)
	if err != nil || !ok {
		return 0, fmt.Errorf("%.40q: want a number of 0.001 to %v, as in 4", s, MaxBid)
	}
	return b, nil
}

// Bid is what is bid for each task of the job.
func (s *JobSpec) Bid() Bid {
	if s.Rules.Bid == 0 {
		return UsualBid
	}
	return s.Rules.Bid
}

// Quote is what a node asks of tasks that bid, and what a bid meets there.
type Quote struct {
	Price  Bid   // reserve price: tasks that bid less are for other nodes, or wait; 0 = none is asked
	Outbid Bid   // the lowest bid of what runs and may be suspended for a higher one; 0 = there is none
	Bids   int64 // sum of the bids of what was accepted, each times its cores, in thousandths
}

// MaxBids bounds the sum of bids of a node.
const MaxBids = int64(MaxMillis/CPU) * int64(MaxBid)

// Check reports what is impossible in a quote that came from outside.
func (q *Quote) Check() error {
	if q.Price < 0 || q.Price > MaxBid || q.Outbid < 0 || q.Outbid > MaxBid || q.Bids < 0 || q.Bids > MaxBids {
		return fmt.Errorf("quote: price %v, outbid %v, sum of bids %d: want 0 to %v, and a sum of at most %d", q.Price,
			q.Outbid, q.Bids, MaxBid, MaxBids)
	}
	return nil
}

func (b Bid) check(p *problems) {
	if b < 0 || b > MaxBid {
		p.addf("priority %v: want 0.001 to %v", b, MaxBid)
	}
}
