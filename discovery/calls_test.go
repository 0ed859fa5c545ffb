package discovery

import (
	"container/heap"
	"testing"
	"time"

	"skep/grid"
)

// crowd is nodes that all hear each other after a random delay, in virtual time. The last one may have the label.
type crowd struct {
	nodes []*Discovery
	near  []grid.NodeID
	has   int
	rand  *grid.Rand
	queue deliveries
	order uint64
	found map[int]Found
	calls int
	sends int
}

type delivery struct {
	at       grid.Time
	order    uint64
	to, from int
	msg      *grid.Message // nil: a timer
	timer    grid.Timer
}

type deliveries []delivery

func (q deliveries) Len() int { return len(q) }
func (q deliveries) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q deliveries) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *deliveries) Push(x any)   { *q = append(*q, x.(delivery)) }
func (q *deliveries) Pop() any {
	x := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return x
}

func newCrowd(n, has int, c Config, seed uint64) *crowd {
	w := &crowd{near: ids(0, n-1), has: has, rand: grid.NewRand(seed, 0), found: map[int]Found{}}
	for i := range n {
		w.nodes = append(w.nodes, new(New(id(i), &c, grid.NewRand(seed, uint64(i+1)))))
	}
	return w
}

func (w *crowd) push(d delivery) {
	w.order++
	d.order = w.order
	heap.Push(&w.queue, d)
}

// carry takes what a node wants done. Messages take 20 to 60 ms, announcements 100 to 400 ms, as a flood does.
func (w *crowd) carry(now grid.Time, from int, fx *grid.Effects) {
	between := func(lo, hi int64) grid.Time {
		return now.Add(time.Duration(lo+w.rand.Int64N(hi-lo)) * time.Millisecond)
	}
	for i := range fx.Sends {
		m := fx.Sends[i].Msg
		m.Find.Visited = append([]grid.NodeID(nil), m.Find.Visited...)
		m.Digest = append([]grid.AdEntry(nil), m.Digest...)
		w.sends++
		w.push(delivery{at: between(20, 60), to: indexOf(fx.Sends[i].To), from: from, msg: &m})
	}
	for i := range fx.Announces {
		m := fx.Announces[i]
		w.calls++
		for j := range w.nodes {
			if j != from {
				w.push(delivery{at: between(100, 400), to: j, from: from, msg: &m})
			}
		}
	}
	for _, k := range fx.Wakes {
		w.push(delivery{at: k.At, to: from, timer: k.Timer})
	}
	fx.Reset()
}

func (w *crowd) ask(now grid.Time, asker int) {
	fx := new(grid.Effects)
	w.nodes[asker].Search(now, need(1000, 0, label("rare", "yes")), "process", w.near, fx)
	w.carry(now, asker, fx)
}

// run runs until no message is in flight.
func (w *crowd) run() {
	fx := new(grid.Effects)
	for len(w.queue) > 0 {
		d := heap.Pop(&w.queue).(delivery)
		n := w.nodes[d.to]
		local := func(*grid.Needs, string) *grid.Ad {
			ad := adOf(id(d.to))
			if d.to == w.has {
				ad.Labels = append(ad.Labels, grid.Label{Key: "rare", Value: "yes"})
			}
			return ad
		}
		var f Found
		var ended bool
		switch {
		case d.msg == nil:
			f, ended = n.Wake(d.at, d.timer, w.near, local, fx)
		case d.msg.Kind == grid.KindFind:
			n.Find(d.at, id(d.from), &d.msg.Find, w.near, local, fx)
		case d.msg.Kind == grid.KindCall:
			n.Call(d.at, id(d.from), &d.msg.Find, local, fx)
		case d.msg.Kind == grid.KindHit:
			f, ended = n.Hit(d.at, id(d.from), d.msg)
		case d.msg.Kind == grid.KindMiss:
			f, ended = n.Miss(d.at, &d.msg.Find, w.near, fx)
		}
		if ended {
			w.found[d.to] = f
		}
		w.carry(d.at, d.to, fx)
	}
}

// A hundred nodes that miss the same at the same time make a few calls, not a hundred, and if a node has it all of
// them learn it.
func TestStormOfCalls(t *testing.T) {
	for _, forward := range []string{"random_walk", "learning"} {
		for _, has := range []int{-1, 299} {
			c := Defaults()
			c.Forward = forward
			w := newCrowd(300, has, c, 3)
			for i := range 100 {
				w.ask(at(float64(i)/100), i)
			}
			w.run()
			met := 0
			for _, f := range w.found {
				if f.Ad != nil {
					met++
				}
			}
			t.Logf("%s, there is one %v: %d calls, %d messages, %d of %d met", forward, has >= 0, w.calls, w.sends, met,
				len(w.found))
			if w.calls < 1 || w.calls > 12 || len(w.found) != 100 {
				t.Errorf("%s: %d calls by 100 askers, %d ends", forward, w.calls, len(w.found))
			}
			if has >= 0 && met < 99 {
				t.Errorf("%s: %d of 100 met", forward, met)
			}
		}
	}
}

// Nodes that miss it later, within CallGap, ask the node that called.
func TestLaterAskersFollowTheCall(t *testing.T) {
	c := Defaults()
	c.Hops, c.Retries, c.Forward = 2, 0, "random_walk"
	w := newCrowd(300, 299, c, 4)
	w.ask(0, 0)
	w.run()
	for i := range 50 {
		w.ask(at(10+float64(i)/10), i+1)
	}
	w.run()
	if w.calls != 1 {
		t.Errorf("%d calls, want 1", w.calls)
	}
	for i := range 51 {
		if w.found[i].Ad == nil {
			t.Errorf("node %d was not told", i)
		}
	}
}

// A node that calls again and again does not keep the others from calling.
func TestCallsDoNotSilence(t *testing.T) {
	c := Defaults()
	d := made(0, c)
	n, f := need(1000, 0, label("rare", "yes")), find(0xff)
	f.Needs = *n
	key, quiet := hash(canonical(n, "process")), 0.0
	for s := 0.0; s < 3600; s++ {
		f.ID += 0x100
		d.Call(at(s), f.Asker, f, nobody, new(grid.Effects))
		if d.hushed(at(s), key) != nil {
			quiet++
		}
	}
	if quiet > c.CallGap.Seconds()+1 {
		t.Errorf("one caller held others back for %g of 3600 s, want at most the %v of its first call", quiet, c.CallGap)
	}
	for i := range 1000 {
		f.ID, f.Asker, f.Needs.CPU = f.ID+0x100, id(100+i), grid.MilliCPU(i+1)
		d.Call(at(4000+float64(i)), f.Asker, f, nobody, new(grid.Effects))
	}
	if len(d.heard) > maxFailures {
		t.Errorf("%d calls remembered, want at most %d", len(d.heard), maxFailures)
	}
}

// Nor does one that calls for a hundred other things in between, so that its last call for this is forgotten.
func TestManyCallsDoNotSilence(t *testing.T) {
	c := Defaults()
	d := made(0, c)
	n, f := need(1000, 0, label("rare", "yes")), find(0xff)
	f.Needs = *n
	key, quiet := hash(canonical(n, "process")), 0.0
	for s := 0.0; s < 3600; s++ {
		for k := range 10 {
			f.ID, f.Needs.CPU = f.ID+0x100, 1000
			if k > 0 {
				f.Needs.CPU = grid.MilliCPU(2000 + (int(s)*10+k)%100)
			}
			d.Call(at(s+float64(k)/20), f.Asker, f, nobody, new(grid.Effects))
		}
		if d.hushed(at(s+0.9), key) != nil {
			quiet++
		}
	}
	if quiet > c.CallGap.Seconds()+1 {
		t.Errorf("one caller held others back for %g of 3600 s, want at most the %v of its first call", quiet, c.CallGap)
	}
	if k := d.callsOf(at(3600), f.Asker); k > mostHeard {
		t.Errorf("%d calls of one node remembered, want at most %d", k, mostHeard)
	}
}
