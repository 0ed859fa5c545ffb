package discovery

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"skep/grid"
)

// Whatever is lost, repeated, late or forged: at most one message for each message, and every search ends.
func TestEverySearchEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Defaults()
		c.Retries = rapid.IntRange(0, 4).Draw(t, "retries")
		c.Walkers = rapid.IntRange(1, 4).Draw(t, "walkers")
		c.Searches = rapid.IntRange(1, 5).Draw(t, "searches")
		d, fx := new(New(id(0), &c, grid.NewRand(rapid.Uint64().Draw(t, "seed"), 0))), new(grid.Effects)
		open := map[uint64]bool{}
		var known []uint64
		var wakes []grid.Wake
		now := grid.Time(0)
		ended := func(f Found, ok bool) {
			if ok && !open[f.ID] {
				t.Fatalf("%x ended twice or never began", f.ID)
			}
			if ok {
				delete(open, f.ID)
			}
		}
		one := func(what string, do func()) {
			before := len(fx.Sends)
			do()
			if len(fx.Sends)-before > c.Walkers {
				t.Fatalf("%d messages for one %s", len(fx.Sends)-before, what)
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms")) * time.Millisecond)
			near := ids(1, rapid.IntRange(0, 5).Draw(t, "neighbours"))
			walk := uint64(rapid.IntRange(1, 300).Draw(t, "walk"))
			if len(known) > 0 && rapid.Bool().Draw(t, "own") {
				walk = rapid.SampledFrom(known).Draw(t, "of")
			}
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				n := need(grid.MilliCPU(rapid.IntRange(1, 9).Draw(t, "cpu")*1000), 0)
				id := d.Search(now, n, "process", near, fx)
				if id == 0 {
					t.Fatal("the ID is 0")
				}
				open[id] = true
			case 1:
				one("miss", func() { ended(d.Miss(now, &grid.Find{ID: walk}, near, fx)) })
			case 2:
				ended(d.Hit(now, id(7), &grid.Message{Find: grid.Find{ID: walk}, Digest: []grid.AdEntry{{Ad: adOf(id(3))}}}))
			case 3:
				f := find(walk)
				f.Asker = id(rapid.IntRange(0, 9).Draw(t, "asker"))
				one("find", func() { d.Find(now, id(rapid.IntRange(1, 9).Draw(t, "from")), f, near, nobody, fx) })
			}
			known = known[:0]
			for _, s := range fx.Sends {
				known = append(known, s.Msg.Find.ID)
			}
			wakes = append(wakes, fx.Wakes...)
			fx.Wakes = fx.Wakes[:0]
		}
		for len(wakes) > 0 { // the network falls silent
			w := wakes[0]
			wakes = wakes[1:]
			now = max(now, w.At)
			ended(d.Wake(now, w.Timer, ids(1, 2), nobody, fx))
			wakes = append(wakes, fx.Wakes...)
			fx.Wakes = fx.Wakes[:0]
		}
		if len(open) > 0 || d.traffic != nil && len(d.searches) > 0 {
			t.Fatalf("%d searches never ended", len(open))
		}
	})
}
