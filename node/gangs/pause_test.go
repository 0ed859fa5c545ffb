package gangs

import (
	"testing"
	"time"

	"skep/grid"
)

var (
	asked, other = grid.NodeID{1}, grid.NodeID{2}
	pauses       = grid.NewRand(1, 2)
)

// refused is a gang of two ranks that pauses since a worker has refused it slots in round 1.
func refused(now grid.Time) *Gang {
	g := New(1, 2)
	round(g, now, 1)
	return g
}

// round has a gang ask the worker once more in vain, and pause.
func round(g *Gang, now grid.Time, n uint32) {
	g.Reserve(grid.Attempt{Epoch: 1, N: 1}, Choice{Places: []Place{{Node: asked, Ranks: 2}}}, n, now.Add(time.Second))
	g.Refused(now, asked, &grid.Reserve{Round: n, Refusal: grid.Refusal{Why: grid.WhyBusy}})
	g.GiveUp()
	g.Rest(now, pauses)
}

func handsOver(g *Gang, now grid.Time, from grid.NodeID, round uint32) bool {
	return g.HandOver(now, from, &grid.Reserve{Round: round, Refusal: grid.Refusal{Why: grid.WhyHandOver}})
}

// A worker of the last round ends the pause that follows it, and the round that follows asks for slots that become
// free. It does so at most once, and nobody else does.
func TestHandOver(t *testing.T) {
	g := refused(10)
	due := g.Due
	if g.Later() || handsOver(g, 11, other, 1) || handsOver(g, 11, asked, 2) || handsOver(g, 11, asked, 0) ||
		handsOver(g, due, asked, 1) || g.Due != due || g.Later() {
		t.Errorf("due at %v, later %v: want that only a worker of the last round ends its pause", g.Due, g.Later())
	}
	if !handsOver(g, 11, asked, 1) || g.Due != 11 || !g.Later() {
		t.Errorf("due at %v, later %v: want a round for later slots now", g.Due, g.Later())
	}
	if handsOver(g, 12, asked, 1) || g.Due != 11 {
		t.Error("want that a pause ends once")
	}
	g.Reserve(grid.Attempt{Epoch: 1, N: 1}, Choice{Places: []Place{{Node: asked, Ranks: 2}}}, 2, 1e9)
	if !g.Later() || handsOver(g, 13, asked, 2) {
		t.Error("want that the round goes on as it began")
	}
}

// A worker that says in every pause that it keeps slots for nobody, and then refuses or keeps silent, begins every
// other round. The rounds between are as they would have been.
func TestEndlessHandOvers(t *testing.T) {
	for _, silent := range []bool{false, true} {
		g, told, own := refused(0), 0, 0
		for now, n := grid.Time(1), uint32(2); n < 40; n++ {
			if handsOver(g, now, asked, n-1) {
				told++
			} else {
				now, own = g.Due, own+1
			}
			if silent {
				reserve(g)
				g.GiveUp()
				g.Rest(now, pauses)
			} else {
				round(g, now, n)
			}
			now++
		}
		if told > own || own-told > 10 {
			t.Errorf("silent %v: %d rounds after a hand-over, %d after a pause: want no more, and about as many", silent, told,
				own)
		}
	}
}

// Workers that do so in turn begin three rounds in a row.
func TestHandOversInTurn(t *testing.T) {
	g := New(1, 2)
	var all Choice
	for i := range byte(8) {
		all.Places = append(all.Places, Place{Node: grid.NodeID{i}, Ranks: 1})
	}
	row, most := 0, 0
	for now, n := grid.Time(0), uint32(1); n < 40; n++ {
		g.Reserve(grid.Attempt{Epoch: 1, N: 1}, all, n, 1e9)
		g.Refused(now, grid.NodeID{byte(n % 8)}, &grid.Reserve{Round: n, Refusal: grid.Refusal{Why: grid.WhyReserved}})
		g.GiveUp()
		g.Rest(now, pauses)
		if row++; !handsOver(g, now, grid.NodeID{byte((n + 1) % 8)}, n) {
			row, now = 0, g.Due
		}
		most = max(most, row)
	}
	if most != 3 {
		t.Errorf("%d rounds in a row: want 3", most)
	}
}

// A gang that waits for nodes, or for a time after a loss, goes on waiting. So does one that has its slots or runs.
func TestNoPauseIsEnded(t *testing.T) {
	for what, wait := range map[string]func(g *Gang){
		"nodes":         func(g *Gang) { g.Due = g.Due.Add(time.Second) },
		"a loss":        func(g *Gang) { run(g); g.Lost(); g.Due = grid.Time(time.Hour) },
		"it is offered": func(g *Gang) { reserve(g); g.Offer(grid.Time(time.Hour)) },
		"it runs":       run,
	} {
		g := refused(10)
		wait(g)
		if was := g.Due; handsOver(g, 11, asked, g.Round()) || g.Due != was || g.Later() {
			t.Errorf("%s: due at %v, later %v: want nothing changed", what, g.Due, g.Later())
		}
	}
}

func reserve(g *Gang) {
	g.Reserve(grid.Attempt{Epoch: 1, N: 1}, Choice{Places: []Place{{Node: asked, Ranks: 2}}}, g.Round()+1, 1e9)
}

func run(g *Gang) {
	reserve(g)
	g.Offer(1e9)
	g.Confirm(0)
	g.Confirm(1)
	g.Start()
}

// A round for which no workers could be chosen asks nobody: those of the round before still have a say in its pause.
func TestPauseAfterNobodyWasAsked(t *testing.T) {
	g := refused(10)
	now := g.Due
	g.GiveUp()
	g.Rest(now, pauses)
	if handsOver(g, now.Add(1), other, 1) || !handsOver(g, now.Add(1), asked, 1) {
		t.Error("want that a worker of the last round ends it, and no other")
	}
}

// A worker that has failed a round for later slots is not heard before a round that asked somebody has begun by itself:
// one for which no workers could be chosen does not count.
func TestFailedWorkerIsNotHeardAfterNobodyWasAsked(t *testing.T) {
	g := refused(10)
	if !handsOver(g, 11, asked, 1) {
		t.Fatal("want that the worker ends the pause")
	}
	round(g, 12, 2) // for later slots
	now := g.Due
	g.GiveUp()
	g.Rest(now, pauses)
	if handsOver(g, now.Add(1), asked, 2) {
		t.Error("a worker that failed the last round ends the pause")
	}
	round(g, g.Due, 3) // for later slots, as three have failed
	now = g.Due
	round(g, now, 4)
	if !handsOver(g, now.Add(1), asked, 4) {
		t.Error("want that it is heard after a round that has begun by itself")
	}
}
