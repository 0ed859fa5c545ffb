package contract

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node/gangs"
)

var terms = grid.Contract{Tolerance: 0.5, Window: 10, Moves: 3}

const second = grid.Time(time.Second)

// says tells a contract that a rank has done so many iterations of 1000.
func says(c *Contract, at grid.Time, rank uint32, done float64) bool {
	return c.Note(at, rank, &grid.Progress{Done: done, Total: 1000})
}

// started is a contract that promises iterations of 1 s, and whose ranks start at 0. A report is up to 3 s old.
func started() *Contract {
	var c Contract
	c.Promise(1)
	c.Start(0, terms, 3*time.Second)
	return &c
}

// An attempt whose iterations take as long as they may keeps its contract for ever; one whose iterations take longer
// breaks it once that is sure: after ten of them, and more than the age of reports.
func TestSlowIterationsBreakTheContract(t *testing.T) {
	for _, x := range []struct {
		iteration float64
		broken    int // the done iterations at which it is broken; 0 = never
	}{{0.5, 0}, {1, 0}, {1.5, 0}, {1.6, 31}, {2, 10}, {4, 5}, {30, 1}} {
		c, at := started(), 0
		for done := 0; done <= 200 && at == 0; done++ {
			if says(c, grid.Time((5+x.iteration*float64(done))*1e9), 0, float64(done)) {
				at = done
			}
		}
		if at != x.broken {
			t.Errorf("iterations of %g s, where 1.5 are allowed: broken after %d, want %d", x.iteration, at, x.broken)
		}
	}
}

// Iterations that are shorter than reports are apart are watched over a longer time, not passed over.
func TestShortIterations(t *testing.T) {
	c := started()
	c.Promise(0.001)
	c.Start(0, terms, 3*time.Second)
	at := grid.Time(0)
	for n := 0; n < 100 && !says(c, at, 0, float64(n)*1000); n++ { // 2 ms each
		at = at.Add(2 * time.Second)
	}
	if at < 8*second || at > 14*second {
		t.Errorf("iterations of 2 ms, where 1.5 are allowed: broken at %v, want about 12 s", at)
	}
}

// What was slow for less than a window and is not any more breaks nothing, and the next window begins anew.
func TestADisturbanceThatEnds(t *testing.T) {
	c, now, done := started(), 5*second, 0.0
	for k := range 1000 {
		took := time.Second
		if k%20 == 7 { // 12 s instead of 1
			took = 12 * time.Second
		}
		now, done = now.Add(took), done+1
		if says(c, now, 0, done) {
			t.Fatalf("broken at iteration %d", k)
		}
	}
}

// The lowest rank that says anything counts. A count that begins again is another one, and a report that is told again
// no news.
func TestWhoIsHeard(t *testing.T) {
	c := started()
	says(c, 5*second, 2, 100)
	if says(c, 60*second, 3, 0) {
		t.Error("a higher rank counts")
	}
	says(c, 60*second, 1, 100)
	if says(c, 62*second, 1, 90); c.window.from.done != 90 {
		t.Error("iterations that are not done any more count")
	}
	says(c, 63*second, 1, 91)
	if says(c, 1000*second, 1, 91) || c.Note(1000*second, 1, nil) {
		t.Error("what was said before is judged again")
	}
	if !says(c, 1001*second, 1, 92) {
		t.Error("a report that is late is not judged")
	}
}

// A worker repeats a report every 16 s. A program that tells of a hundred iterations at a time, each in time, keeps its
// contract: a repeat does not say that none was done since.
func TestRepeatedReports(t *testing.T) {
	c := started()
	for now, done := 5*second, 0.0; done < 1000; now, done = now+100*second, done+100 {
		for repeat := range grid.Time(6) {
			if says(c, now+repeat*16*second, 0, done) {
				t.Fatalf("broken at iteration %g, told for time %d", done, repeat+1)
			}
		}
	}
}

// Without a prediction, or a move that may be made, nothing is watched.
func TestNothingToHold(t *testing.T) {
	for promised, terms := range map[float64]grid.Contract{0: terms, 1: {Tolerance: 0.5, Window: 10}} {
		var c Contract
		c.Promise(promised)
		c.Start(0, terms, time.Second)
		says(&c, 0, 0, 0)
		if says(&c, 1000*second, 0, 1) {
			t.Errorf("%g s promised, %+v: broken", promised, terms)
		}
	}
}

// situation is a gang of two ranks at nodes 1 and 2, which are of speed 1, beside node 3, which is of the given one.
func situation(one, three float64) *Situation {
	node := func(id byte, speed float64) grid.GangNode {
		return grid.GangNode{Node: grid.NodeID{id}, Free: grid.Resources{CPU: grid.CPU, Memory: grid.GiB}, Speed: speed,
			Coord: grid.Coord{At: [3]float32{0}, Height: 1e-5, Error: 0.1}}
	}
	spec := &grid.JobSpec{Count: 2, Retries: 1}
	spec.Gang = grid.Gang{Ranks: 2, Search: &grid.ScheduleSearch{Model: "life",
		Parameters: []grid.Parameter{{Name: "n", Value: 9000}}}}
	return &Situation{Spec: spec, Size: gangs.Size{Min: 2, Max: 2}, Rooms: []int{1, 1, 1}, Step: 40,
		Nodes: []grid.GangNode{node(1, one), node(2, 1), node(3, three)},
		Layout: []grid.RankPlace{{Node: grid.NodeID{1}, Ranks: 1, Shares: []uint32{4500}},
			{Node: grid.NodeID{2}, Ranks: 1, Shares: []uint32{4500}}}}
}

// breach is a contract whose gang has done 50 iterations, of 1 s promised, the last 10 in 5 s each.
func breach() *Contract {
	c := started()
	says(c, 5*second, 0, 40)
	says(c, 55*second, 0, 50)
	return c
}

// A gang moves away from a node that has become slow. What a move saves is the model's word about both schedules, times
// what is measured: 0.97 s of each 5 s iteration where node 1 has a fifth of its speed and node 3 is as fast as it was.
func TestMoves(t *testing.T) {
	c, at := breach(), situation(0.2, 1)
	v := c.Weigh(55*second, at)
	for _, p := range v.Choice.Places {
		if p.Node == (grid.NodeID{1}) {
			t.Errorf("it moves to %+v, want nodes 2 and 3", v.Choice.Places)
		}
	}
	// 950 iterations save 5 − 5·(1/5) s each; a restart costs 5 + 5 s and 10 iterations of 1 s
	if len(v.Choice.Places) != 2 || !v.News || !strings.Contains(v.Text, "checkpoint 40: saves 3.8e+03 s and costs 20") {
		t.Errorf("%+v", v)
	}
}

// The same work in other shares is a better schedule, too.
func TestMovesToOtherShares(t *testing.T) {
	at := situation(0.2, 0)
	at.Rooms[2] = 0
	v := breach().Weigh(55*second, at)
	if len(v.Choice.Places) != 2 || v.Choice.Places[0].Shares[0] == 4500 {
		t.Errorf("%+v", v)
	}
}

// It stays where nothing is gained, and says why. That a program is slower than its model, on nodes that are as they
// were, is no reason to move.
func TestStays(t *testing.T) {
	for _, x := range []struct {
		name string
		with func(*Contract, *Situation)
		want string
	}{
		{"nothing is better", func(_ *Contract, s *Situation) { s.Nodes[0].Speed = 1 },
			"to take 5 s, and a move has to save 0.5 s"},
		{"a drift of speeds", func(c *Contract, s *Situation) {
			s.Nodes[0].Speed, c.window.said = 0.99, &grid.Progress{Done: 50, Total: 1e6}
		}, "to take 4.95 s, and a move has to save 0.5 s"},
		{"not worth it", func(c *Contract, _ *Situation) { c.window.said = &grid.Progress{Done: 50, Total: 54} },
			"saves 16 s and costs 20"},
		{"not paid", func(_ *Contract, s *Situation) {
			toMore(s)
			s.Pays = func(ranks uint32, seconds float64) bool { return ranks != 12 }
		}, "its budget does not pay for 12 ranks of another "},
		{"at most once", func(_ *Contract, s *Situation) { s.Spec.Retries = 0 }, "retries 0"},
		{"moves", func(_ *Contract, s *Situation) { s.Moves = 3 }, "moved 3 times"},
		{"no checkpoint", func(_ *Contract, s *Situation) { s.Step = 0 }, "no checkpoint"},
		{"endless", func(c *Contract, _ *Situation) { c.window.said = &grid.Progress{Done: 50} }, "how many iterations"},
		{"shares", func(_ *Contract, s *Situation) { s.Layout = nil }, "shares"},
		{"a node is gone", func(_ *Contract, s *Situation) { s.Nodes, s.Rooms = s.Nodes[1:], s.Rooms[1:] }, "not known now"},
		{"no room", func(_ *Contract, s *Situation) { s.Rooms = []int{0, 0, 1} }, "no schedule was found"},
	} {
		c, at := breach(), situation(0.2, 1)
		x.with(c, at)
		measured := c.window
		v := c.Weigh(55*second, at)
		if v.Choice.Places != nil || !v.News || !strings.Contains(v.Text, x.want) {
			t.Errorf("%s: %+v, want %q", x.name, v, x.want)
		}
		c.window = measured
		if v = c.Weigh(60*second, at); v.News {
			t.Errorf("%s: it is news twice", x.name)
		}
	}
}

// toMore has the gang be one of a single rank that may have twelve, at node 3, which is half as fast.
func toMore(s *Situation) {
	s.Spec.Gang.Ranks, s.Spec.Gang.Min = 12, 1
	s.Size = gangs.Size{Min: 12, Max: 12}
	s.Nodes[0].Speed, s.Nodes[2].Speed, s.Nodes[2].Free.CPU = 1, 0.5, 12*grid.CPU
	s.Layout, s.Rooms = []grid.RankPlace{{Node: grid.NodeID{1}, Ranks: 1, Shares: []uint32{9000}}}, []int{1, 0, 12}
}

// A move of which the budget pays no part is made all the same if to stay takes more of it: of as many ranks it always
// does.
func TestMovesIfToStayIsDearer(t *testing.T) {
	at, asked := situation(0.2, 1), 0
	at.Pays = func(uint32, float64) bool { asked++; return false }
	if v := breach().Weigh(55*second, at); len(v.Choice.Places) != 2 || asked > 0 {
		t.Errorf("%+v, and the budget was asked %d times", v, asked)
	}
}

// The moment in which a move is no longer worth it: as much is saved as it costs.
func TestGainAgainstCost(t *testing.T) {
	for left, moves := range map[float64]bool{5: false, 6: true} { // 4 s saved by each, for 20 s and the rest of a second
		c := breach()
		c.window.said = &grid.Progress{Done: 50, Total: 50 + left}
		if v := c.Weigh(55*second, situation(0.2, 1)); (v.Choice.Places != nil) != moves {
			t.Errorf("%g iterations are left: %s", left, v.Text)
		}
	}
}

// Searches that come to nothing are ever farther apart.
func TestPausesBetweenSearches(t *testing.T) {
	c, now, looks := breach(), 55*second, []string{}
	at := situation(1, 1)
	c.Weigh(now, at)
	last := now
	for done := 51.0; done < 400; done++ {
		now = now.Add(5 * time.Second)
		if says(c, now, 0, done) {
			looks = append(looks, fmt.Sprint(now.Sub(last).Round(time.Second)))
			c.Weigh(now, at)
			last = now
		}
	}
	if got := strings.Join(looks, " "); !strings.HasPrefix(got, "20s 20s 40s 1m20s 2m40s") {
		t.Errorf("pauses of %s", got)
	}
}

// A checkpoint may be kept at any moment, so a gang that lacks one is looked at again a second later, however often it
// was; that is told once.
func TestUnsavedIsSeenAgain(t *testing.T) {
	c, now, at := breach(), 55*second, situation(0.2, 1)
	at.Step = 0
	for n := range 20 {
		if v := c.Weigh(now, at); v.Choice.Places != nil || v.News != (n == 0) {
			t.Fatalf("look %d: %+v", n, v)
		}
		if says(c, now.Add(time.Second/2), 0, 51+float64(n)/10) {
			t.Fatal("want no look within half a second")
		}
		if now = now.Add(3 * time.Second / 2); !says(c, now, 0, 51.05+float64(n)/10) {
			t.Fatal("want a look after a second and a half")
		}
	}
	at.Step = 40
	if v := c.Weigh(now, at); v.Choice.Places == nil {
		t.Errorf("%+v: want that it moves once a checkpoint is kept", v)
	}
}

// The schedule of a move is tried twice more, while its nodes can be asked, suit, and have not said to have too few
// slots; each round has places of its own.
func TestPlanned(t *testing.T) {
	id := grid.NodeID{1}
	var c Contract
	nodes, g := []grid.GangNode{{Node: id}}, gangs.New(1, 2)
	next := func() gangs.Choice { return c.Planned(0, g, nodes) }
	if next().Places != nil {
		t.Error("there is a plan before a move")
	}
	to := gangs.Choice{Places: []gangs.Place{{Node: id, Ranks: 2}}, Time: 3}
	c.Moved(to)
	to.Places[0].Ranks = 9
	first := next()
	first.Places[0].Ranks = 9
	g.SetRoom(id, 2, 100)
	if x := next(); x.Places[0].Ranks != 2 || x.Time != 3 {
		t.Errorf("%+v", x)
	}
	if next().Places != nil {
		t.Error("there is a plan for a third further round")
	}
	for _, x := range []struct {
		name string
		with func()
	}{
		{"that is gone", func() { nodes[0].Refuses.Why = grid.WhyGone }},
		{"that has said to have too few slots", func() { g.SetRoom(id, 1, 100) }},
		{"that cannot execute a rank", func() { g.Unfit(id, &grid.Result{Exit: 127}) }},
	} {
		c.Moved(gangs.Choice{Places: []gangs.Place{{Node: id, Ranks: 2}}})
		x.with()
		if next().Places != nil {
			t.Errorf("a node is asked %s", x.name)
		}
		nodes[0].Refuses.Why, g = grid.WhyNone, gangs.New(1, 2)
		if next().Places != nil {
			t.Errorf("a node %s: the plan was given up, and is tried again", x.name)
		}
	}
}

// Whatever is said, and whatever the model says, a verdict is finite text and a move has places for all ranks.
func TestAnyNumbers(t *testing.T) {
	for _, promised := range []float64{5e-324, 1e-9, 1, 1e300, math.MaxFloat64} {
		for _, done := range []float64{0, 1, 1e15} {
			for _, speed := range []float64{0, 5e-324, 1, 1e300} {
				var c Contract
				c.Promise(promised)
				c.Start(0, terms, time.Second)
				says(&c, 0, 0, 0)
				says(&c, grid.Never-1, 0, done)
				v := c.Weigh(grid.Never-1, situation(speed, 1))
				if strings.Contains(v.Text, "NaN") || v.Choice.Places != nil && v.Choice.Ranks() != 2 {
					t.Errorf("%g promised, %g done, speed %g: %+v", promised, done, speed, v)
				}
			}
		}
	}
}

// A gang that an earlier run of its owner, or an owner before it, has placed has the contract that the best schedule
// gives by what is known now: a node of it that is slow already is no excuse. Without shares, schedule or moves that
// are left there is none, and each search that was in vain is followed by a longer pause.
func TestFormedContracts(t *testing.T) {
	for _, x := range []struct {
		name    string
		with    func(*Contract, *Situation)
		allowed float64 // 0 = none is formed
	}{
		{"as it was", func(*Contract, *Situation) {}, 1.5},
		{"a node of it is slow", func(_ *Contract, s *Situation) { s.Nodes[0].Speed = 0.2 }, 1.5},
		{"all are slow", func(_ *Contract, s *Situation) {
			for i := range s.Nodes {
				s.Nodes[i].Speed = 0.5
			}
		}, 3},
		{"its shares are not known", func(_ *Contract, s *Situation) { s.Layout = nil }, 0},
		{"its shares are not the work", func(_ *Contract, s *Situation) { s.Layout[0].Shares = []uint32{1 << 31} }, 0},
		{"a node of it is gone", func(_ *Contract, s *Situation) { s.Nodes, s.Rooms = s.Nodes[1:], s.Rooms[1:] }, 0},
		{"there is no room", func(_ *Contract, s *Situation) { s.Rooms = []int{0, 0, 1} }, 0},
	} {
		var c Contract
		c.Start(0, terms, 3*time.Second)
		at := situation(1, 1)
		x.with(&c, at)
		if !c.Lacks(second, 2) || c.Lacks(second, 3) {
			t.Errorf("%s: it lacks a contract, unless it has moved three times: %v, %v", x.name, c.Lacks(second, 2),
				c.Lacks(second, 3))
		}
		c.Form(second, at)
		if math.Abs(c.allowed-x.allowed) > 0.1*x.allowed {
			t.Errorf("%s: %g s an iteration allowed, want about %g", x.name, c.allowed, x.allowed)
		}
		if c.Lacks(second.Add(minPause-1), 0) || c.Lacks(second.Add(minPause), 0) != (x.allowed == 0) {
			t.Errorf("%s: it is formed again before a pause of %v, or not after it", x.name, minPause)
		}
	}
}

// The ranks of a node stand next to each other.
func TestLayout(t *testing.T) {
	a, b := grid.NodeID{1}, grid.NodeID{2}
	got := Layout([]grid.NodeID{a, a, b}, []uint32{3, 4, 5})
	if fmt.Sprint(got) != fmt.Sprint([]grid.RankPlace{{Node: a, Ranks: 2, Shares: []uint32{3, 4}},
		{Node: b, Ranks: 1, Shares: []uint32{5}}}) {
		t.Errorf("%+v", got)
	}
	if Layout([]grid.NodeID{a, b}, []uint32{3}) != nil {
		t.Error("a rank without a share")
	}
}
