package discovery

import (
	"math"
	"slices"
	"testing"

	"skep/grid"
)

// overlay is a random graph of nodes, of which some have the label.
type overlay struct {
	nodes []*Discovery
	near  [][]grid.NodeID
	has   []bool
	sends int
}

func newOverlay(n, degree int, density float64, c Config, seed uint64) *overlay {
	r := grid.NewRand(seed, 0)
	w := &overlay{near: make([][]grid.NodeID, n), has: make([]bool, n)}
	link := func(a, b int) {
		if a != b && !slices.Contains(w.near[a], id(b)) {
			w.near[a] = append(w.near[a], id(b))
			w.near[b] = append(w.near[b], id(a))
		}
	}
	for i := range n {
		w.nodes = append(w.nodes, new(New(id(i), &c, grid.NewRand(seed, uint64(i+1)))))
		link(i, (i+1)%n)
		for range degree/2 - 1 {
			link(i, r.IntN(n))
		}
	}
	for _, i := range r.Perm(n)[:int(density*float64(n))] {
		w.has[i] = true
	}
	for i := range w.near {
		slices.SortFunc(w.near[i], grid.NodeID.Compare)
	}
	return w
}

func indexOf(n grid.NodeID) int { return int(n[0])<<24 + int(n[1])<<16 + int(n[2])<<8 + int(n[3]) - 1 }

// search starts a search and delivers every message until there is none.
func (w *overlay) search(now grid.Time, asker int) (found Found) {
	n := need(1000, 0, label("rare", "yes"))
	fx := new(grid.Effects)
	var queue []grid.Send
	w.nodes[asker].Search(now, n, "process", w.near[asker], fx)
	take := func() {
		for i := range fx.Sends {
			s := fx.Sends[i]
			s.Msg.Find.Visited = slices.Clone(s.Msg.Find.Visited)
			s.Msg.Digest = slices.Clone(s.Msg.Digest)
			queue = append(queue, s)
		}
		fx.Reset()
	}
	from := asker
	for take(); len(queue) > 0; take() {
		s := queue[0]
		queue = queue[1:]
		w.sends++
		to := indexOf(s.To)
		switch s.Msg.Kind {
		case grid.KindFind:
			w.nodes[to].Find(now, id(from), &s.Msg.Find, w.near[to], func(*grid.Needs, string) *grid.Ad {
				ad := adOf(id(to))
				if w.has[to] {
					ad.Labels = append(ad.Labels, grid.Label{Key: "rare", Value: "yes"})
				}
				return ad
			}, fx)
			from = to
		case grid.KindHit:
			found, _ = w.nodes[to].Hit(now, id(from), &s.Msg)
		case grid.KindMiss:
			w.nodes[to].Miss(now, &s.Msg.Find, w.near[to], fx)
		}
	}
	return found
}

// A random walk meets one of the share p of all nodes after about 1/p hops [1]; of those that end within h hops,
// after 1/p − h·q^h/(1 − q^h), q = 1 − p.
func TestRandomWalkTakesOneOverDensity(t *testing.T) {
	for _, density := range []float64{0.05, 0.1, 0.2, 0.4} {
		c := Defaults()
		c.Forward = "random_walk"
		c.Hops, c.Retries = grid.MaxHops, 0
		w := newOverlay(600, 8, density, c, 3)
		hops, found, asked := 0.0, 0, 0
		for i := range w.nodes {
			if w.has[i] {
				continue
			}
			asked++
			if f := w.search(grid.Time(i)*grid.Time(1e9), i); f.Ad != nil {
				found++
				hops += float64(f.Hops)
			}
		}
		q := math.Pow(1-density, grid.MaxHops)
		mean, want := hops/float64(found), 1/density-grid.MaxHops*q/(1-q)
		t.Logf("density %g: %.1f hops, expected %.1f, %.3f found", density, mean, want, float64(found)/float64(asked))
		if math.Abs(mean-want) > 0.15*want {
			t.Errorf("density %g: %.1f hops on average, want about %.1f", density, mean, want)
		}
		if p := float64(found) / float64(asked); p < 0.93 {
			t.Errorf("density %g: %.2f of the searches find", density, p)
		}
	}
}

func TestWalksEndWhereNobodyFits(t *testing.T) {
	c := Defaults()
	c.CallHold = 0
	for _, n := range []int{2, 3, 10, 200} {
		w := newOverlay(n, 8, 0, c, 4)
		if f := w.search(0, 0); f.Ad != nil {
			t.Errorf("found %+v where nobody fits", f)
		}
		if most := (c.Retries + 1) * (c.Hops + 1); w.sends > most {
			t.Errorf("%d nodes: %d messages, want at most %d", n, w.sends, most)
		}
		if calls := w.nodes[0].Stats().Calls; calls != 1 {
			t.Errorf("%d nodes: %d calls, want 1", n, calls)
		}
	}
}
