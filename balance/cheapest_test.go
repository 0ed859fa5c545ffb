package balance

import (
	"slices"
	"testing"

	"skep/grid"
)

// askers returns an owner under cheapest that asks so many nodes for each task, and a view of nodes that ask a price
// and take so many seconds each.
func askers(t *testing.T, pollMax int, seed uint64, price []grid.Bid, takes []float64) (Mapper, View) {
	c := firstTie()
	c.PollMax = pollMax
	v := View{Self: nodeID(len(price))}
	for k := range price {
		v.Nodes = append(v.Nodes, State{Node: nodeID(k), ECT: takes[k], Quote: grid.Quote{Price: price[k]}})
	}
	return mustMake(t, "cheapest", c, seed).(Mapper), v
}

// The soonest of the nodes is asked that a task can pay, though one is sooner that it cannot.
func TestCheapestAsksTheSoonestThatItCanPay(t *testing.T) {
	for seed := range uint64(50) {
		p, v := askers(t, 1, seed, append([]grid.Bid{2000, 900}, slices.Repeat([]grid.Bid{10}, 20)...),
			append([]float64{1, 2}, slices.Repeat([]float64{100}, 20)...))
		if got := p.Ask(0, 1, 1000, v, nil); !slices.Contains(got, nodeID(1)) {
			t.Fatalf("seed %d: asked %v, and not node 1, which is done soonest of those that ask 1 at most", seed, got)
		}
	}
}

// Of several tasks each may need a fast node for its deadline, whatever that asks.
func TestCheapestAsksASoonNodeForEachTask(t *testing.T) {
	for _, pollMax := range []int{1, 4} {
		p, v := askers(t, pollMax, 1, append(slices.Repeat([]grid.Bid{900}, 5), slices.Repeat([]grid.Bid{10}, 40)...),
			append(slices.Repeat([]float64{2}, 5), slices.Repeat([]float64{100}, 40)...))
		got, cheap := p.Ask(0, 5, 1000, v, nil), 0
		for k := range v.Nodes {
			if asked := slices.Contains(got, nodeID(k)); k >= 5 && asked {
				cheap++
			} else if k < 5 && !asked {
				t.Errorf("poll_max %d: of five tasks node %d, one of the five fast ones, is not asked", pollMax, k)
			}
		}
		if most := 5*max(pollMax, 2) + 1; cheap < 5 || len(got) > most {
			t.Errorf("poll_max %d: %d nodes are asked, of them %d cheap ones; want at most %d, and five", pollMax, len(got),
				cheap, most)
		}
	}
}

// Busy nodes, however cheap, keep no free one out of the poll: no task waits beside it, or goes to a dearer one.
func TestCheapestAsksFreeNodesFirst(t *testing.T) {
	price := append(slices.Repeat([]grid.Bid{100}, 20), slices.Repeat([]grid.Bid{200}, 10)...)
	takes := append(slices.Repeat([]float64{10}, 20), slices.Repeat([]float64{20}, 10)...)
	price, takes = append(price, slices.Repeat([]grid.Bid{900}, 30)...), append(takes, slices.Repeat([]float64{10}, 30)...)
	p, v := askers(t, 4, 1, price, takes)
	for k := range 20 {
		v.Nodes[k].Ready, v.Nodes[k].ECT = 50, 60
	}
	m := bidding(nil, 1, 1, 1, 1, 1)
	for _, id := range p.Ask(0, 5, 1000, v, nil) {
		s := v.Find(id)
		m.Nodes = append(m.Nodes, *s)
		for i := range m.Kinds {
			m.Kinds[i].Alone, m.Kinds[i].Fetch = append(m.Kinds[i].Alone, s.ECT-s.Ready), append(m.Kinds[i].Fetch, 0)
		}
	}
	plan := p.Map(1e9, m)
	if len(plan.Placed) != 5 {
		t.Errorf("%d of five tasks are placed, and 40 nodes are free", len(plan.Placed))
	}
	for _, x := range plan.Placed {
		if s := m.Nodes[x.Node]; s.Price != 200 {
			t.Errorf("a task goes to a node that asks %v, for %g s: want one of the ten that ask 0.2, for 20 s", s.Price, s.ECT)
		}
	}
}

// Of nodes of which nothing is known of how long a task takes those are asked that ask least, after the others.
func TestCheapestAsksByPriceWhatItDoesNotKnow(t *testing.T) {
	for seed := range uint64(20) {
		known := int(seed % 2)
		price, takes := []grid.Bid{900, 800}, make([]float64, 50)
		for k := range known {
			takes[k] = 30
		}
		price = append(price, slices.Repeat([]grid.Bid{700}, 47)...)
		p, v := askers(t, 4, seed, append(price, 100), takes)
		for k := range v.Nodes { // all are soonest before the known one
			v.Nodes[k].Ready, v.Nodes[k].ECT = 0.1, v.Nodes[k].ECT+0.1
		}
		got := p.Ask(0, 1, 1000, v, nil)
		if !slices.Contains(got, nodeID(49)) || known > 0 && !slices.Contains(got, nodeID(0)) {
			t.Errorf("%d known: asked %v: want node 49, which asks 0.1, and node 0 if it is known", known, got)
		}
	}
}
