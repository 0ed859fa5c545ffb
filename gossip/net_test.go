package gossip

import (
	"container/heap"
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"
	"time"

	"skep/grid"
)

// network runs many instances in virtual time: requested links come up if they can, messages take half a round trip,
// and nothing is lost on a link that is up.
type network struct {
	t      testing.TB
	now    grid.Time
	queue  events
	serial uint64
	nodes  []*node
	split  func(a, b int) bool // cannot reach each other
	rand   *grid.Rand

	digests, ads int
	hash         uint64 // of all that was delivered
}

type node struct {
	*Gossip
	i    int
	x, y float64
	fx   grid.Effects
	up   map[int]bool
	keep map[int]bool // asked for now
	once map[int]bool // asked for some time: the driver persists them
	ad   *grid.Ad
	dead bool

	describe func(ad *grid.Ad) // if not nil, completes the ad before each refresh, as a node does
}

type event struct {
	at     grid.Time
	serial uint64
	do     func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].serial < q[j].serial
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(e any)   { *q = append(*q, e.(event)) }
func (q *events) Pop() any {
	e := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return e
}

// id spreads the indices, so that the order of identities is not that of coming.
func id(i int) (n grid.NodeID) {
	binary.BigEndian.PutUint32(n[:], uint32(i+1)*2654435761)
	binary.BigEndian.PutUint32(n[4:], uint32(i))
	return n
}

func index(n grid.NodeID) int { return int(binary.BigEndian.Uint32(n[4:])) }

func adOf(i int, free float64) *grid.Ad {
	return &grid.Ad{Node: id(i), Seq: grid.Seq{Boot: 1, N: 1}, Capacity: grid.Resources{CPU: 8000, Memory: grid.GiB},
		Speed: 1, Availability: 1,
		Free:   grid.Resources{CPU: grid.MilliCPU(8000 * free), Memory: grid.GiB},
		Labels: []grid.Label{{Key: "os", Value: "linux"}}, Engines: []string{grid.EngineProcess}}
}

func load(ad *grid.Ad) float64 { return 1 - float64(ad.Free.CPU)/float64(ad.Capacity.CPU) }

func newNetwork(t testing.TB, n int, seed uint64, c Config) *network {
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	w := &network{t: t, rand: grid.NewRand(seed, 0)}
	for i := range n {
		w.nodes = append(w.nodes, &node{Gossip: new(New(id(i), &c, grid.NewRand(seed, uint64(i+1)))), i: i,
			x: w.rand.Float64(), y: w.rand.Float64(), up: map[int]bool{}, keep: map[int]bool{}, once: map[int]bool{},
			ad: adOf(i, 1)})
	}
	return w
}

// join starts all nodes, one every gap; each knows one earlier node's address.
func (w *network) join(gap time.Duration) {
	for i := range w.nodes {
		w.after(time.Duration(i)*gap, func() {
			n := w.nodes[i]
			w.step(n, func() { n.Start(w.now, n.ad, &n.fx) })
			if i > 0 {
				w.dial(i, w.rand.IntN(min(i, 3)))
			}
		})
	}
}

func (w *network) rtt(a, b int) time.Duration {
	p, q := w.nodes[a], w.nodes[b]
	return time.Duration((2 + 100*math.Hypot(p.x-q.x, p.y-q.y)) * float64(time.Millisecond))
}

func (w *network) after(d time.Duration, do func()) {
	w.serial++
	heap.Push(&w.queue, event{w.now.Add(d), w.serial, do})
}

func (w *network) run(d time.Duration) {
	end := w.now.Add(d)
	for len(w.queue) > 0 && w.queue[0].at <= end {
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.do()
	}
	w.now = end
}

func (w *network) reach(a, b int) bool {
	return a != b && !w.nodes[a].dead && !w.nodes[b].dead && (w.split == nil || !w.split(a, b))
}

// dial connects after a round trip, and tries again every 20 s as long as it is asked for.
func (w *network) dial(a, b int) {
	w.nodes[a].once[b] = true
	w.after(w.rtt(a, b), func() {
		if w.nodes[a].up[b] {
			return
		}
		if !w.reach(a, b) {
			if w.nodes[a].keep[b] {
				w.after(20*time.Second, func() { w.dial(a, b) })
			}
			return
		}
		w.link(a, b, true)
	})
}

func (w *network) link(a, b int, up bool) {
	for _, e := range [...][2]int{{a, b}, {b, a}} {
		n, peer := w.nodes[e[0]], e[1]
		if n.dead || n.up[peer] == up {
			continue
		}
		if up {
			n.up[peer] = true
			w.step(n, func() { n.Up(w.now, id(peer), w.rtt(a, b), &n.fx) })
		} else {
			delete(n.up, peer)
			w.step(n, func() { n.Down(w.now, id(peer), &n.fx) })
		}
	}
}

func (w *network) step(n *node, f func()) {
	n.fx.Reset()
	f()
	type out struct {
		to int
		d  []grid.AdEntry
	}
	var outs []out
	for _, s := range n.fx.Sends {
		if s.Msg.Kind != grid.KindDigest || len(s.Msg.Digest) == 0 || len(s.Msg.Digest) > grid.MaxAds {
			w.t.Fatalf("node %d sends %v with %d ads", n.i, s.Msg.Kind, len(s.Msg.Digest))
		}
		outs = append(outs, out{index(s.To), append([]grid.AdEntry(nil), s.Msg.Digest...)})
	}
	for _, k := range n.fx.Wakes {
		w.after(k.At.Sub(w.now), func() {
			if !n.dead {
				if n.describe != nil && k.Timer.Kind == grid.TimerRefresh {
					ad := *n.ad
					n.describe(&ad)
					w.step(n, func() { n.Advertise(w.now, &ad, &n.fx) })
				}
				w.step(n, func() { n.Wake(w.now, k.Timer, &n.fx) })
			}
		})
	}
	for _, l := range n.fx.Links {
		b := index(l.Peer)
		if l.Keep {
			n.keep[b] = true
			if !n.up[b] {
				w.dial(n.i, b)
			}
		} else {
			delete(n.keep, b)
			w.after(time.Second, func() {
				if n.up[b] && !n.keep[b] && !w.nodes[b].keep[n.i] {
					w.link(n.i, b, false)
				}
			})
		}
	}
	for _, o := range outs {
		w.send(n.i, o.to, o.d)
	}
}

func (w *network) send(a, b int, d []grid.AdEntry) {
	w.digests++
	w.ads += len(d)
	w.after(w.rtt(a, b)/2, func() {
		n := w.nodes[b]
		if n.dead || !n.up[a] {
			return
		}
		h := fnv.New64a()
		binary.Write(h, binary.BigEndian, []uint64{w.hash, uint64(w.now), uint64(a), uint64(b), uint64(len(d)),
			d[0].Ad.Seq.N})
		w.hash = h.Sum64()
		w.step(n, func() { n.Hear(w.now, id(a), d, &n.fx, nil) })
	})
}

// say sets a node's free share.
func (w *network) say(i int, free float64) {
	n := w.nodes[i]
	n.ad = adOf(i, free)
	w.step(n, func() { n.Advertise(w.now, n.ad, &n.fx) })
}

// distances returns the hops from a node over connected neighbours; -1 = no way.
func (w *network) distances(from int) []int {
	d := make([]int, len(w.nodes))
	for i := range d {
		d[i] = -1
	}
	d[from] = 0
	for q := []int{from}; len(q) > 0; q = q[1:] {
		for _, m := range w.nodes[q[0]].Neighbours() {
			if j := index(m); d[j] < 0 {
				d[j] = d[q[0]] + 1
				q = append(q, j)
			}
		}
	}
	return d
}
