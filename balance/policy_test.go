package balance

import (
	"math"
	"slices"
	"strings"
	"testing"

	"skep/balance/market"
	"skep/grid"
)

func TestNames(t *testing.T) {
	want := []string{"cb", "cb_frr", "cb_li", "cb_lis", "cb_rr", "cb_rr2", "cb_spill", "cda", "cda_res",
		"cda_tdb", "cheapest", "dfpltf", "guided_lpas", "guided_lpas_2k", "hbp", "hbp_res", "hbp_t", "kpb", "kpb_ceil",
		"local", "lp_static", "lpas", "lpas_2k", "lpas_dec", "lpas_dec_2k", "lpas_dec_robust", "max_min", "mct", "mct_full",
		"mct_queued", "mct_rest", "met", "min_min", "olb", "pda", "pe_a", "pe_p", "pe_t", "psp", "qos_min_min",
		"random", "rr", "rr_replicated", "sufferage", "switching", "two_choices", "utility", "workqueue", "xsufferage"}
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("policies %v, want %v", got, want)
	}
}

func TestMakeErrors(t *testing.T) {
	for name, want := range map[string]string{
		"":                         `policy "": is not known: want one of cb, cb_frr, cb_li, `,
		"best":                     `policy "best": is not known`,
		"LPAS_DEC":                 `is not known`,
		"utility:um_p6":            `policy "utility:um_p6": utility "um_p6": no utility function has this name: want one of`,
		"utility:um_p1:2":          `um_p1 has no parameter: want it alone`,
		"utility:credit:2":         `weight "2": want a number from 0 to 1, as in credit:0.6`,
		"cda:2":                    `cda takes no parameter`,
		"hbp_t:0.5":                `want the factor by which a bid must be higher, from 1 to`,
		"pe_a:0":                   `want how often a task moves at most, from 1 to 8`,
		"pe_a:9":                   `want how often a task moves at most`,
		"pe_a:1.5":                 `want how often a task moves at most`,
		"pe_p:2":                   `pe_p takes no parameter`,
		"pda:61":                   `want the seconds between auctions after the colon, from 0.25 to 60`,
		"pda:0.1":                  `want the seconds between auctions after the colon, from 0.25 to 60`,
		"pda:x":                    `want the seconds between auctions`,
		"cda_res:-1":               `want the discount of the reserve price, from 0 to`,
		"kpb:":                     `policy "kpb:": want a number of machines after the colon, 1 or more`,
		"kpb:0":                    `1 or more`,
		"kpb:-1":                   `1 or more`,
		"kpb:+3":                   `1 or more`,
		"kpb:3x":                   `1 or more`,
		"kpb: 3":                   `1 or more`,
		"kpb:3:4":                  `1 or more`,
		"kpb:99999999999999999999": `1 or more`,
		"kpb:0%":                   `above 0 and at most 100`,
		"kpb:101%":                 `above 0 and at most 100`,
		"kpb_ceil:3":               `as in 20%`,
		"cb:past":                  `cb takes no parameter`,
		"cb_rr:":                   `want past or class`,
		"workqueue:3":              `want 1 or 2 after the colon`,
		"mct:3":                    `policy "mct:3": mct takes no parameter`,
		"lpas_dec:":                `takes no parameter`,
	} {
		p, err := Make(name, &Config{}, grid.NewRand(1, 1))
		if err == nil || p != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", name, err, want)
		}
	}
}

func TestParameter(t *testing.T) {
	w := system4A()
	for name, want := range map[string][]int{
		"kpb:1": {5}, "kpb:3": {3, 4, 5}, "kpb:9": {1, 2, 3, 4, 5, 6, 7},
		"kpb": {3, 5}, // a third of seven
		// The two readings of a percentage: 2.8 machines of seven are two or three.
		"kpb:40%": {3, 5}, "kpb_ceil:40%": {3, 4, 5}, "kpb:1%": {5}, "kpb_ceil:100%": {1, 2, 3, 4, 5, 6, 7},
		"kpb_ceil": {3, 5},
	} {
		p := mustMake(t, name, Config{}, 1)
		w.tell(p)
		if got := polled(p, w.view(0, 0), 0); !slices.Equal(got, want) {
			t.Errorf("%s asks %v, want %v", name, got, want)
		}
	}
	p := mustMake(t, "kpb:3", Config{PollMax: 2}, 1) // a number that was asked for is meant
	w.tell(p)
	if got := polled(p, w.view(0, 0), 0); len(got) != 3 {
		t.Errorf("kpb:3 asks %v", got)
	}
}

// Ties at the border of the set go to the lower identity [1, section 2.1 leaves it open].
func TestKPBTies(t *testing.T) {
	w := &world{alpha: even([]float64{1}, 6), mu: [][]float64{{1, 2, 1, 2, 2, 1}}}
	p := mustMake(t, "kpb:4", Config{}, 1)
	w.tell(p)
	if got := polled(p, w.view(5, 0), 0); !slices.Equal(got, []int{1, 2, 4, 5}) {
		t.Errorf("asks %v, want 1 2 4 5", got)
	}
}

// What each policy makes of the same four nodes.
func TestChoices(t *testing.T) {
	w := &world{alpha: even([]float64{1}, 4), mu: [][]float64{{1, 4, 2, 8}}}
	answers := []State{
		{Node: nodeID(0), Ready: 0, ECT: 1},
		{Node: nodeID(1), Ready: 0.5, ECT: 0.75},
		{Node: nodeID(2), Ready: 0.1, ECT: 0.6},
		{Node: nodeID(3), Ready: 9, ECT: 9.125},
	}
	for name, want := range map[string]int{
		"lpas_dec": 2, "mct": 2, "kpb": 2, "two_choices": 2, "olb": 0, "met": 3, "local": 1,
	} {
		p := mustMake(t, name, Config{}, 1)
		w.tell(p)
		p.Poll(0, task(0), View{Self: nodeID(1), Nodes: answers}, nil)
		if c := p.Choose(0, task(0), answers); c.Act != Place || c.Node != nodeID(want) || c.ECT != answers[want].ECT {
			t.Errorf("%s: %+v, want node %d", name, c, want+1)
		}
	}
	p := mustMake(t, "local", Config{}, 1)
	p.Poll(0, task(0), View{Self: nodeID(9), Nodes: answers}, nil)
	if c := p.Choose(0, task(0), answers); c.Act != Wait {
		t.Errorf("local, not among the nodes: %+v, want Wait", c)
	}
	for _, none := range [][]State{nil, {{Node: nodeID(0), ECT: math.Inf(1)}}} {
		// they ask nobody, and so cannot ask more
		for _, name := range []string{"met", "lp_static", "random", "local", "cb", "cb_rr2"} {
			p := mustMake(t, name, Config{}, 1)
			p.Poll(0, task(0), View{Self: nodeID(1), Nodes: none}, nil)
			if c := p.Choose(0, task(0), none); c.Act != Wait {
				t.Errorf("%s, nobody who can run it: %+v, want Wait", name, c)
			}
		}
	}
	p = mustMake(t, "met", Config{}, 1) // no rates: what the nodes say tells the execution time
	if c := p.Choose(0, task(0), answers); c.Node != nodeID(3) {
		t.Errorf("met: %+v", c)
	}
}

// Nodes that say they never complete it, or nonsense, are not chosen while another is.
func TestNonsenseIsNotChosen(t *testing.T) {
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1}
	for _, name := range Names() {
		p := mustMake(t, name, Config{}, 1)
		var answers []State
		for j, e := range bad {
			answers = append(answers, State{Node: nodeID(j), ECT: e, Ready: e})
		}
		v := View{Self: nodeID(4), Nodes: append(answers, State{Node: nodeID(4), ECT: 7, Ready: 5})}
		p.Poll(0, task(0), v, nil)
		if c := p.Choose(0, task(0), answers); c.Act == Place {
			t.Errorf("%s places on %v of %v", name, c.Node[1], bad)
		}
		_, copies := p.(Copier)
		if _, trades := p.(Trader); trades || copies { // they take idle ones only
			v.Nodes[4].Ready = 0
		}
		if c := p.Choose(0, task(0), v.Nodes); c.Act != Place || c.Node != nodeID(4) {
			t.Errorf("%s: %+v, want the fifth", name, c)
		}
	}
}

// Exact ties are broken at random, near ones only where the configuration says so.
func TestTies(t *testing.T) {
	for _, c := range []struct {
		near float64
		want [4]bool
	}{{0, [4]bool{true, true}}, {0.05, [4]bool{true, true, true}}} {
		p := mustMake(t, "mct", Config{NearTie: c.near}, 3)
		answers := []State{{Node: nodeID(0), ECT: 1}, {Node: nodeID(1), ECT: 1}, {Node: nodeID(2), ECT: 1.04},
			{Node: nodeID(3), ECT: 1.06}}
		var n [4]int
		for range 600 {
			n[p.Choose(0, task(0), answers).Node[1]-1]++
		}
		for j, want := range c.want {
			if (n[j] > 100) != want || !want && n[j] > 0 {
				t.Errorf("near %g: chosen %v times", c.near, n)
			}
		}
	}
}

// With PollMax, mct and olb ask the soonest as far as known, the decider, and one more; without, all.
func TestAskSoonest(t *testing.T) {
	v := View{Self: nodeID(9)}
	for j := range 12 {
		e := float64((j*5)%12 + 1)
		v.Nodes = append(v.Nodes, State{Node: nodeID(j), ECT: e, Ready: 20 - e})
	}
	v.Nodes[3].ECT, v.Nodes[3].Ready = math.NaN(), math.NaN() // nothing known
	for name, want := range map[string][]int{"mct": {1, 6, 11}, "olb": {8, 3, 1}} {
		if name == "olb" {
			want = []int{3, 8, 12}
			v.Nodes[11].Ready, v.Nodes[2].Ready, v.Nodes[7].Ready = 1, 2, 3
		}
		p := mustMake(t, name, Config{PollMax: 3}, 1)
		extra := map[int]bool{}
		for range 300 {
			got := polled(p, v, 0)
			if len(got) != 5 || !slices.Contains(got, 10) {
				t.Fatalf("%s asks %v, want 3, the decider and one more", name, got)
			}
			for _, j := range got {
				if !slices.Contains(want, j) && j != 10 {
					extra[j] = true
				}
			}
			for _, j := range want {
				if !slices.Contains(got, j) {
					t.Fatalf("%s asks %v, want %v among them", name, got, want)
				}
			}
		}
		if len(extra) != 8 || !extra[4] {
			t.Errorf("%s: in time one more was each of %v, want all 8 others", name, extra)
		}
		if got := polled(mustMake(t, name, Config{}, 1), v, 0); len(got) != 12 {
			t.Errorf("%s without a limit asks %v", name, got)
		}
	}
}

// In a lab of machines that look alike, not all deciders ask the same.
func TestAskSpreads(t *testing.T) {
	var v View
	for j := range 200 {
		v.Nodes = append(v.Nodes, State{Node: nodeID(j), ECT: 1})
	}
	p := mustMake(t, "mct", Node(), 1)
	asked := map[int]int{}
	for range 400 {
		for _, j := range polled(p, v, 0) {
			asked[j]++
		}
	}
	for j, n := range asked {
		if n > 60 {
			t.Errorf("machine %d was asked %d times of 400", j, n)
		}
	}
	if len(asked) < 190 {
		t.Errorf("only %d of 200 were ever asked", len(asked))
	}
}

func TestTwoChoicesAreUniform(t *testing.T) {
	var v View
	for j := range 5 {
		v.Nodes = append(v.Nodes, State{Node: nodeID(j), ECT: float64(j)})
	}
	p := mustMake(t, "two_choices", Node(), 1)
	var n [5]int
	for range 5000 {
		got := polled(p, v, 0)
		if len(got) != 2 {
			t.Fatalf("asks %v", got)
		}
		n[got[0]-1]++
		n[got[1]-1]++
	}
	for _, k := range n {
		if k < 1850 || k > 2150 {
			t.Errorf("asked %v times, want about 2000 each", n)
		}
	}
	if got := polled(p, View{Nodes: v.Nodes[:1]}, 0); len(got) != 1 {
		t.Errorf("asks %v of one", got)
	}
}

// What has started moves three times, under PE-A as often as is said, and under PE-T where its bid is so much higher.
func TestMovement(t *testing.T) {
	for policy, want := range map[string]Movement{"mct": {Most: 3}, "pe_p": {Most: 3}, "pe_a": {Most: 8, Running: true},
		"pe_a:2": {Most: 2, Running: true}, "pe_t": {Most: 3, Outbid: 2}, "pe_t:5": {Most: 3, Outbid: 5},
		"pe_t:1": {Most: 3}, "hbp_t:5": {Most: 3}, "pe_a:9": {Most: 3}} {
		if got := Moves(policy); got != want {
			t.Errorf("%s: %+v, want %+v", policy, got, want)
		}
	}
	if market.MostMoves != grid.MaxTaskMoves {
		t.Error("the largest budget of moves is not that of a node")
	}
}
