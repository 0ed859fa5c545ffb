package discovery

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// strategy makes one by name, with what is changed of the defaults and no exploration.
func strategy(name string, change func(*Config)) Forward {
	c := Defaults()
	c.Explore, c.BestShare = 0, 1
	if change != nil {
		change(&c)
	}
	return forwards[name](&c)
}

func hop(now grid.Time, key uint64, r *grid.Rand) *Hop {
	return &Hop{Now: now, Rand: r, Key: key, Eligible: ids(1, 8), shut: [3]grid.NodeID{id(0), id(0), id(0)}}
}

// goes returns how often of n walks for the key each node is chosen.
func goes(f Forward, now grid.Time, key uint64, n int) map[grid.NodeID]int {
	r, to := grid.NewRand(1, 1), map[grid.NodeID]int{}
	for range n {
		if x, ok := f.Next(hop(now, key, r)); ok {
			to[x]++
		}
	}
	return to
}

// Random walk picks any; learning the one that met such a request last, though it is no neighbour; best neighbour the
// one that met most, whatever they were; both the first, else the second [1].
func TestWhoIsAsked(t *testing.T) {
	for name, want := range map[string][2]int{"random_walk": {0, 0}, "learning": {30, 0}, "best_neighbour": {20, 20},
		"learning_best_neighbour": {30, 20}} {
		f := strategy(name, func(c *Config) { c.Load = 0 })
		for k := range 3 {
			f.Learn(at(float64(k)), 7, adOf(id(20)))
		}
		f.Learn(at(5), 9, adOf(id(30)))
		for i, key := range []uint64{9, 8} {
			to := goes(f, at(6), key, 400)
			if w := want[i]; w > 0 && to[id(w)] != 400 {
				t.Errorf("%s: %d of 400 walks went to node %d", name, to[id(w)], w)
			}
			if want[i] == 0 {
				for _, n := range ids(1, 8) {
					if to[n] < 25 || to[n] > 80 {
						t.Errorf("%s: %d of 400 walks to one of 8 neighbours", name, to[n])
					}
				}
			}
		}
	}
}

func TestNobodyIsAskedTwice(t *testing.T) {
	for _, name := range Forwards() {
		f := strategy(name, nil)
		f.Learn(0, 7, adOf(id(20)))
		h := hop(0, 7, grid.NewRand(1, 1))
		h.Eligible, h.visited, h.shut[1] = nil, ids(3, 4), id(20)
		if to, ok := f.Next(h); ok {
			t.Errorf("%s: goes to %v, which sent it", name, to.Short())
		}
		h.shut[1], h.visited = id(1), ids(19, 21)
		if to, ok := f.Next(h); ok {
			t.Errorf("%s: goes to %v, which was visited", name, to.Short())
		}
	}
}

// A provider is forgotten after Age, and after two failures in a row.
func TestExperienceAges(t *testing.T) {
	c := Defaults()
	f := strategy("learning", nil)
	f.Learn(0, 7, adOf(id(20)))
	if n := goes(f, grid.Time(c.Age)-1, 7, 50)[id(20)]; n != 50 {
		t.Errorf("%d of 50 walks before Age", n)
	}
	if n := goes(f, grid.Time(c.Age), 7, 50)[id(20)]; n != 0 {
		t.Errorf("%d of 50 walks after Age", n)
	}
	for fails, want := range []int{20, 20, 0} {
		f := strategy("learning", nil)
		f.Learn(0, 7, adOf(id(20)))
		f.Fail(0, 7, id(20), false)
		f.Learn(1, 7, adOf(id(20))) // met again: it starts anew
		for range fails {
			f.Fail(2, 7, id(20), false)
			f.Fail(2, 8, id(20), false) // of another kind
		}
		if n := goes(f, 3, 7, 20)[id(20)]; n != want {
			t.Errorf("after %d failures %d of 20 walks, want %d", fails, n, want)
		}
	}
}

// Counts halve every Age: 3 of long ago weigh less than 2 of now.
func TestCountsHalve(t *testing.T) {
	c := Defaults()
	f := strategy("best_neighbour", func(c *Config) { c.Load = 0 })
	for range 3 {
		f.Learn(0, 7, adOf(id(20)))
	}
	late := grid.Time(0).Add(c.Age)
	for range 2 {
		f.Learn(late, 7, adOf(id(21)))
	}
	if to := goes(f, late, 7, 10); to[id(21)] != 10 {
		t.Errorf("walks %v, want all to the one that met 2 lately", to)
	}
	f.Fail(late, 7, id(21), true) // it may be dead
	if to := goes(f, late, 7, 10); to[id(20)] != 10 {
		t.Errorf("walks %v, want all to the other when one does not answer", to)
	}
	if to := goes(f, late.Add(20*c.Age), 7, 10); to[id(20)]+to[id(21)] != 0 {
		t.Errorf("walks %v long after", to)
	}
}

// With the load term a node gets walks by the power 1/(load − 1) of the share that it meets; without it the best gets
// nearly all.
func TestLoadSpreadsWalks(t *testing.T) {
	share := func(load float64) float64 {
		f := strategy("best_neighbour", func(c *Config) { c.Load = load })
		r := grid.NewRand(5, 1)
		f.Learn(0, 7, adOf(id(20)))
		f.Learn(0, 7, adOf(id(21)))
		sent := map[grid.NodeID]int{}
		for range 20_000 {
			to, _ := f.Next(hop(0, 7, r))
			sent[to]++
			if meets := map[grid.NodeID]float64{id(20): 0.9, id(21): 0.1}[to]; r.Float64() < meets {
				f.Learn(0, 7, adOf(to))
			}
		}
		return float64(sent[id(20)]) / float64(sent[id(21)])
	}
	for load, want := range map[float64]float64{2: 9, 3: 3, 5: math.Pow(9, 0.25)} {
		if got := share(load); math.Abs(got-want) > 0.2*want {
			t.Errorf("load %g: %.2f times as many walks to the better one, want about %.2f", load, got, want)
		}
	}
	if got := share(0); got < 100 {
		t.Errorf("load 0: %.2f times as many walks to the better one, want nearly all", got)
	}
	f := strategy("best_neighbour", nil)
	busy := adOf(id(20))
	busy.Backlog = time.Minute
	f.Learn(0, 7, busy)
	f.Learn(0, 7, adOf(id(21)))
	if to := goes(f, 0, 7, 1); to[id(21)] != 1 {
		t.Errorf("walks %v, want to the one with nothing to do", to)
	}
}

func TestExploration(t *testing.T) {
	f := strategy("learning", func(c *Config) { c.Explore = 0.05 })
	f.Learn(0, 7, adOf(id(20)))
	if n := 4000 - goes(f, 0, 7, 4000)[id(20)]; n < 150 || n > 250 {
		t.Errorf("%d of 4000 walks go by chance, want about 200", n)
	}
}

func TestExperienceIsBounded(t *testing.T) {
	f := strategy("learning_best_neighbour", func(c *Config) { c.Keys = 50 }).(*informed)
	for i := range 5000 {
		f.Learn(grid.Time(i), uint64(i), adOf(id(i)))
		f.Learn(grid.Time(i), 1<<40, adOf(id(i)))
	}
	if n := len(f.known.keys); n != 50 || len(f.known.lessons) != 50 {
		t.Errorf("%d kinds, want 50", n)
	}
	newest := f.known.of(5000, time.Minute, 1<<40)
	if len(newest) != maxProviders || newest[0].node != id(4999) || newest[3].node != id(4996) {
		t.Errorf("providers %v", newest)
	}
	if f.known.of(5000, time.Minute, 4999) == nil || f.known.of(5000, time.Minute, 4000) != nil {
		t.Error("it is not the oldest kinds that were forgotten")
	}
	if n := len(f.best.ranked); n != maxRanked {
		t.Errorf("%d ranked, want %d", n, maxRanked)
	}
}
