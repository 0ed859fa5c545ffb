package balance

import (
	"math"
	"slices"
	"testing"

	"skep/grid"
)

// bidding is a meta-task of one kind for each bid, all of a second on each node, that came a second ago.
func bidding(nodes []State, bids ...float64) *MetaTask {
	m := &MetaTask{Nodes: nodes, Until: 0.25, Most: 100}
	for i, x := range bids {
		bid, _ := grid.BidOf(x)
		alone := slices.Repeat([]float64{1}, len(nodes))
		m.Kinds = append(m.Kinds, Kind{Job: grid.JobID{Nonce: [10]byte{byte(i)}}, Tasks: 1, Pays: bid, Alone: alone,
			Bid: grid.UsualBid, Fetch: make([]float64, len(nodes))})
	}
	return m
}

// free are nodes with a free slot that ask these prices.
func free(prices ...grid.Bid) (out []State) {
	for j, p := range prices {
		out = append(out, State{Node: nodeID(j), ECT: 1, Quote: grid.Quote{Price: p}})
	}
	return out
}

// placesOf are the nodes of each kind.
func placesOf(p *Plan, nodes []State, kinds int) []int {
	out := slices.Repeat([]int{-1}, kinds)
	for _, x := range p.Placed {
		out[x.Kind] = int(nodes[x.Node].Node[1])
	}
	return out
}

func firstTie() Config { return Config{FirstTie: true} }

// An owner matches what waits at it, the highest bid first; what finds no node waits, and Plan says for how long.
func TestOwnerMatchesItsOwnTasks(t *testing.T) {
	nodes := free(0, 0)
	nodes[1].Ready, nodes[1].ECT = 30, 31
	p := mustMake(t, "cda", firstTie(), 1).(Mapper)
	plan := p.Map(1e9, bidding(nodes, 1, 1.01))
	if got := placesOf(plan, nodes, 2); got[0] != -1 || got[1] != int(nodes[0].Node[1]) {
		t.Errorf("places %v, want the higher bid at the free node and none for the other: bids are not banded", got)
	}
	if end := plan.End(0); end != 2 || plan.Next != 1 {
		t.Errorf("the other is expected to end in %g s, the next slot in %g s; want 2 and 1", end, plan.Next)
	}
}

// Reserve prices count under the policies that have them; those of nodes that ask none do not.
func TestOwnerHeedsPrices(t *testing.T) {
	for name, want := range map[string]bool{"cda_res": true, "cda_res:0.2": true, "hbp_res": true, "cda": false,
		"psp": false} {
		nodes := free(2000)
		p := mustMake(t, name, firstTie(), 1).(Trader)
		plan := p.Map(1e9, bidding(nodes, 1.9))
		if refused := len(plan.Placed) == 0; refused != want || p.Pays(1900, &nodes[0]) == want || !p.Pays(2000, &nodes[0]) {
			t.Errorf("%s: a bid of 1.9 at a price of 2 is refused: %v, want %v", name, refused, want)
		}
		if want && plan.Next < 1 {
			t.Errorf("%s: a free node whose price is too high is asked again after %g s", name, plan.Next)
		}
		_, asks := ReservePrice(name)
		if asks != want {
			t.Errorf("%s: a node asks a reserve price: %v", name, asks)
		}
	}
	if d, asks := ReservePrice("cda_res:0.2"); d != 0.2 || !asks {
		t.Errorf("discount %g, want 0.2", d)
	}
	if _, asks := ReservePrice("lpas_dec"); asks {
		t.Error("lpas_dec has a reserve price")
	}
}

// Only nodes whose price is met are asked, and the cheapest of the others, which says what it asks now.
func TestOwnerAsksWhomItCanPay(t *testing.T) {
	c := firstTie()
	c.PollMax = 4
	p := mustMake(t, "cda_res", c, 1).(Mapper)
	v := View{Self: nodeID(9), Nodes: free(1000, 3000, 2000, 0)}
	got := p.Ask(0, 2, 1000, v, nil)
	slices.SortFunc(got, grid.NodeID.Compare)
	if want := []grid.NodeID{nodeID(0), nodeID(2), nodeID(3)}; !slices.Equal(got, want) {
		t.Errorf("asked %v, want %v", got, want)
	}
}

// A bid that is high enough takes a node where everything runs, if the node suspends for it.
func TestOwnerOutbids(t *testing.T) {
	for name, want := range map[string]int{"hbp": 2, "hbp_t:3": 1, "cda": 0} {
		nodes := []State{{Node: nodeID(0), Ready: 60, ECT: 61, Running: 1, Quote: grid.Quote{Outbid: 1000}},
			{Node: nodeID(1), Ready: 60, ECT: 61, Running: 1, Quote: grid.Quote{Outbid: 2000}}}
		p := mustMake(t, name, firstTie(), 1).(Mapper)
		if got := len(p.Map(1e9, bidding(nodes, 4, 4)).Placed); got != want {
			t.Errorf("%s: %d of two tasks that bid 4 are placed, want %d", name, got, want)
		}
	}
}

// Round robin remembers whose turn it is from round to round.
func TestOwnerGoesRound(t *testing.T) {
	p := mustMake(t, "rr", firstTie(), 1).(Mapper)
	var got []int
	for range 4 {
		nodes := free(0, 0, 0)
		slices.Reverse(nodes) // in the order of their answers
		got = append(got, placesOf(p.Map(1e9, bidding(nodes, 1)), nodes, 1)[0])
	}
	id := func(k int) int { return int(nodeID(k)[1]) }
	if want := []int{id(0), id(1), id(2), id(0)}; !slices.Equal(got, want) {
		t.Errorf("nodes %v, want %v", got, want)
	}
}

// A periodic auction matches at the multiples of its interval, and says when the next one is.
func TestOwnerWaitsForTheAuction(t *testing.T) {
	p := mustMake(t, "pda:5", firstTie(), 1).(Mapper)
	m := bidding(free(0), 1)
	m.Kinds[0].Arrived = 6e9
	if plan := p.Map(7e9, m); len(plan.Placed) > 0 || math.Abs(plan.Next-3) > 1e-9 {
		t.Errorf("at 7 s: %d placed, the next auction in %g s; want none, in 3 s", len(plan.Placed), plan.Next)
	}
	if plan := p.Map(10e9, m); len(plan.Placed) != 1 {
		t.Errorf("at 10 s: %d placed, want 1", len(plan.Placed))
	}
}

// The cheapest owner asks where a task costs least, and the node where it is done soonest.
func TestOwnerAsksTheCheapest(t *testing.T) {
	c := firstTie()
	c.PollMax = 1
	p := mustMake(t, "cheapest", c, 1).(Mapper)
	v := View{Self: nodeID(9)}
	for k, x := range []struct {
		price grid.Bid
		takes float64
	}{{900, 1}, {700, 2}, {100, 3}, {2000, 1}, {800, 4}} {
		v.Nodes = append(v.Nodes, State{Node: nodeID(k), ECT: x.takes, Quote: grid.Quote{Price: x.price}})
	}
	got := p.Ask(0, 1, 1000, v, nil)
	for _, k := range []int{0, 2, 3} { // the soonest, the cheapest, and the one that is too dear
		if !slices.Contains(got, nodeID(k)) {
			t.Errorf("asked %v: node %d is not among them", got, k)
		}
	}
}

// What a job's budget pays for each task keeps it from slow nodes.
func TestOwnerKeepsToTheBudget(t *testing.T) {
	for budget, want := range map[grid.Budget]int{0: 0, 20: 0, 8: 1} {
		nodes := free(100, 900)
		p := mustMake(t, "cheapest", firstTie(), 1).(Mapper)
		m := bidding(nodes, 1)
		m.Kinds[0].Alone = []float64{5, 3}
		m.Kinds[0].Spend = (&grid.JobSpec{Count: 2, Rules: grid.Rules{Budget: budget}}).Spend()
		if got := p.Map(1e9, m).Placed; len(got) != 1 || got[0].Node != want {
			t.Errorf("budget %d of two tasks: placed %+v, want at %d", budget, got, want)
		}
	}
}

// An owner whose bid has tasks suspended asks a busy node of which the ad says that the bid there is low enough, before
// others that are soon free.
func TestOwnerAsksWhereItOutbids(t *testing.T) {
	for name, want := range map[string]bool{"hbp": true, "hbp_t:3": true, "hbp_t:5": false, "cda": false, "pe_t:4": true,
		"pe_p": true} {
		c := firstTie()
		c.PollMax = 1
		p := mustMake(t, name, c, 1).(Mapper)
		v := View{Self: nodeID(9)}
		for k := range 8 {
			v.Nodes = append(v.Nodes, State{Node: nodeID(k), Ready: 5, ECT: 7})
		}
		v.Nodes[6] = State{Node: nodeID(6), Ready: 600, ECT: 601, Quote: grid.Quote{Outbid: 1000}}
		asked := 0
		for range 50 { // one of the others is asked as well, at random
			if slices.Contains(p.Ask(0, 1, 4000, v, nil), nodeID(6)) {
				asked++
			}
		}
		if (asked == 50) != want {
			t.Errorf("%s: the busy node is asked %d times of 50, always is %v", name, asked, want)
		}
	}
}
