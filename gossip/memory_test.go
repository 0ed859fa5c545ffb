package gossip

import (
	"runtime"
	"testing"
	"time"

	"skep/grid"
)

// crowd makes n nodes with full views and ten connections each; the ads are shared, as in a simulator.
func crowd(n int, c Config) []*Gossip {
	all := make([]*Gossip, n)
	ads := make([]*grid.Ad, n)
	for i := range ads {
		ads[i] = adOf(i, 1)
	}
	fx := new(grid.Effects)
	for i := range all {
		g := new(New(id(i), &c, grid.NewRand(1, uint64(i))))
		g.Start(0, ads[i], fx)
		for j := 1; j <= 10; j++ {
			g.Up(0, id((i+j)%n), time.Millisecond, fx)
		}
		for j := 1; j <= 2*c.View; j++ {
			k := (i + j) % n
			g.Hear(grid.Time(j), ads[k].Node, []grid.AdEntry{{Ad: ads[k], Hops: 1}}, fx, nil)
		}
		fx.Reset()
		all[i] = g
	}
	return all
}

// The simulator's goal is 100,000 nodes with a view of 32 in 8 KiB each, of which this may be the larger part.
func TestMemoryOfANode(t *testing.T) {
	const n = 1000
	c := Defaults()
	c.View = 32
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	all := crowd(n, c)
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / n
	if len(all[n-1].Peers()) != 32 {
		t.Fatalf("%d in the view", len(all[n-1].Peers()))
	}
	t.Logf("%d bytes a node, its ad included", each)
	if each > 6<<10 {
		t.Errorf("%d bytes a node, want at most 6 KiB", each)
	}
	runtime.KeepAlive(all)
}

func BenchmarkHear(b *testing.B) {
	c := Defaults()
	for _, what := range []string{"known", "news"} {
		b.Run(what, func(b *testing.B) {
			g := crowd(300, c)[0]
			fx := new(grid.Effects)
			var d []grid.AdEntry
			for i := range 32 {
				d = append(d, grid.AdEntry{Ad: adOf(11+i, 1), Hops: 1})
			}
			now := grid.Time(time.Second)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				now = now.Add(10 * time.Millisecond)
				fx.Reset()
				if what == "news" {
					for j := range d {
						d[j].Ad.Seq.N++ // in place only here
						if p := g.Peer(d[j].Ad.Node); p != nil {
							p.Ad, p.sent = other, other
						}
					}
				}
				g.Hear(now, id(1+i%8), d, fx, nil)
				g.Wake(now, grid.Timer{Kind: grid.TimerGossip}, fx)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*32), "ns/ad")
		})
	}
}

var other = adOf(999, 0.3)
