package balance

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"skep/balance/batch"
	"skep/balance/market"
	"skep/grid"
)

// Trader is a policy that goes by bids, prices and what runs elsewhere: the answers that it is given are to say so.
type Trader interface {
	Mapper

	// Pays reports whether a task may go to a node that asks for work, by what is known of that.
	Pays(bid grid.Bid, s *State) bool
}

// trader is a policy for each row of the market study that an owner can follow without a matcher (market.Round): it
// matches what waits at it with the nodes that it has asked, and keeps what has no match. Who of several owners gets a
// node is for the node to say.
type trader struct {
	decider
	market.Protocol
	round market.Round

	plan    Plan
	kinds   []market.Kind
	sellers []market.Seller
	deals   []market.Deal
	answers []State
	alone   [1][]float64  // of Assign
	turn    cluster       // under Ring: the node whose turn it is
	ticks   market.Ticks  // with Interval
	costs   []market.Cost // under Cheapest, of a view
}

// traders are the rows that owners follow. fifo and sjf are not among them: which of the waiting work goes first is the
// order of a node (package order).
var traders = []string{"cda", "cda_res", "cda_tdb", "cheapest", "pda", "rr", "psp", "hbp", "hbp_t", "hbp_res", "pe_p",
	"pe_a", "pe_t"}

// aBand is by what factor bids may differ that an owner takes for equal (order.Band): more is by age.
const aBand = 1.5

// The time between the auctions of an owner, in seconds: so long a task may wait beside a free node.
const (
	minTick   = 0.25 // owners map what waits no more often
	usualTick = 1.0
	maxTick   = 60.0
)

func init() {
	for _, name := range traders {
		register(name, func(c *Config, r *grid.Rand) Policy {
			row, err := market.Parse(cmp.Or(c.Row, name))
			if err != nil {
				panic("balance: " + err.Error()) // Make has read the parameter
			}
			if row.Interval > 0 && c.Row == "" {
				row.Interval = usualTick
			}
			p := &trader{decider: decider{cfg: c, rand: r}, Protocol: row}
			p.round.Prefers = p.prefers
			return p
		})
	}
}

// prefers chooses among equally good nodes: the first, or each with the same chance.
func (p *trader) prefers(a, b, nth int) bool {
	if p.cfg.FirstTie {
		return p.answers[a].Node.Compare(p.answers[b].Node) < 0
	}
	return p.rand.IntN(nth) == 0
}

// Trades reports whether a policy is a [Trader].
func Trades(policy string) bool {
	base, _, _ := strings.Cut(policy, ":")
	return slices.Contains(traders, base)
}

// ReservePrice returns the discount of the reserve price that a node asks with a policy of its own; false = it asks
// none.
func ReservePrice(policy string) (discount float64, asks bool) {
	p, err := market.Parse(policy)
	return p.Discount, err == nil && p.Reserve && Trades(policy)
}

// Pays implements [Trader].
func (p *trader) Pays(bid grid.Bid, s *State) bool {
	return p.Interval == 0 && (!p.Reserve || bid >= s.Price)
}

func (p *trader) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	var one [1]Choice
	return p.Assign(now, []*grid.Task{t}, answers, one[:0])[0]
}

// Assign matches tasks of a job that are alike.
func (p *trader) Assign(now grid.Time, ts []*grid.Task, answers []State, dst []Choice) []Choice {
	p.alone[0] = p.alone[0][:0]
	for k := range answers {
		alone := execution(&answers[k])
		if able(&answers[k]) != 0 {
			alone = math.Inf(1)
		}
		p.alone[0] = append(p.alone[0], alone)
	}
	k := market.Kind{Tasks: len(ts), Bid: 1, Alone: p.alone[0], Full: math.Inf(1), Zero: math.Inf(1)}
	if ts[0].Spec != nil {
		k.Bid, k.Spend = ts[0].Spec.Bid().Number(), ts[0].Spec.Spend()
	}
	p.kinds = append(p.kinds[:0], k)
	p.match(now, answers, 0, len(ts))
	for _, d := range p.deals {
		dst = append(dst, Choice{Act: Place, Node: answers[d.Seller].Node, ECT: d.End})
	}
	for range len(ts) - len(p.deals) {
		dst = append(dst, Choice{Act: Wait})
	}
	return dst
}

// Map matches what waits.
func (p *trader) Map(now grid.Time, m *MetaTask) *Plan {
	p.kinds = p.kinds[:0]
	for i := range m.Kinds {
		k := &m.Kinds[i]
		age := now.Sub(k.Arrived).Seconds()
		x := market.Kind{Tasks: k.Tasks, Bid: cmp.Or(k.Pays, k.Bid).Number(), Age: age, Alone: k.Alone, Fetch: k.Fetch,
			Full: math.Inf(1), Zero: math.Inf(1), Spend: k.Spend}
		if aged := k.Aged.Number(); aged > aBand*x.Bid {
			x.Aged = aged
		}
		if d := k.Deadline; d.Some() {
			x.Full, x.Zero = d.At.Seconds()-age, d.Last().Seconds()-age
		}
		p.kinds = append(p.kinds, x)
	}
	most := m.Most
	next, waits := p.ticks.Wait(&p.Protocol, float64(now)/1e9, p.kinds)
	if waits {
		most = 0
	}
	p.match(now, m.Nodes, m.Until, most)
	p.plan.Placed = p.plan.Placed[:0]
	for _, d := range p.deals {
		p.plan.Placed = append(p.plan.Placed, batch.Placement{Kind: d.Kind, Node: d.Seller, Free: d.Free, Start: d.Start,
			End: d.End})
	}
	if p.plan.Next, p.plan.end = p.round.Next(), p.leftEnd; waits {
		p.plan.Next = next
	}
	return &p.plan
}

func (p *trader) leftEnd(kind int) float64 { return p.round.Left(&p.kinds[kind]) }

// match makes the deals of a round.
func (p *trader) match(now grid.Time, answers []State, until float64, most int) {
	p.answers, p.sellers, p.round.Until, p.round.Most = answers, p.sellers[:0], until, most
	for k := range answers {
		s := &answers[k]
		x := market.Seller{Ready: sound(s.Ready) + p.charge(now, s), Lead: s.RTT.Seconds(), Slots: p.slotsOf(s),
			Price: s.Price.Number(), Outbid: s.Outbid.Number(), Bids: float64(s.Bids) / float64(grid.UsualBid)}
		x.Bids /= max(x.Slots, 1)
		if x.Ready == 0 {
			x.Idle = max(x.Slots-float64(max(s.Running, 0)), 1)
		}
		p.sellers = append(p.sellers, x)
	}
	p.takeTurns(answers)
	p.deals = p.round.Match(&p.Protocol, p.kinds, p.sellers, p.deals[:0])
	if n := len(p.deals); n > 0 {
		last := &p.deals[n-1]
		p.expected, p.turn = last.End-last.Start, after(answers[last.Seller].Node)
	}
}

// takeTurns puts the nodes into the order in which they are taken under Ring, from the one whose turn it is.
func (p *trader) takeTurns(answers []State) {
	if p.round.Turn = p.round.Turn[:0]; p.Choice != market.Ring {
		return
	}
	for k := range answers {
		p.round.Turn = append(p.round.Turn, k)
	}
	slices.SortFunc(p.round.Turn, func(a, b int) int {
		switch x, y := (cluster{lone: answers[a].Node}), (cluster{lone: answers[b].Node}); {
		case x.before(y, p.turn):
			return -1
		case y.before(x, p.turn):
			return 1
		}
		return 0
	})
}

func (p *trader) detailed() {}
