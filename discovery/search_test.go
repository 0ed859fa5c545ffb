package discovery

import (
	"encoding/binary"
	"testing"
	"time"

	"skep/grid"
)

func id(i int) (n grid.NodeID) {
	binary.BigEndian.PutUint32(n[:], uint32(i+1))
	return n
}

func ids(from, to int) (s []grid.NodeID) {
	for i := from; i <= to; i++ {
		s = append(s, id(i))
	}
	return s
}

func nobody(*grid.Needs, string) *grid.Ad { return nil }

func made(i int, c Config) *Discovery { return new(New(id(i), &c, grid.NewRand(1, uint64(i)))) }

func at(s float64) grid.Time { return grid.Time(s * 1e9) }

// find returns the one message of the kind that was sent.
func sent(t *testing.T, fx *grid.Effects, k grid.Kind) grid.Send {
	t.Helper()
	if len(fx.Sends) != 1 || fx.Sends[0].Msg.Kind != k {
		t.Fatalf("sends %+v, want one %v", fx.Sends, k)
	}
	return fx.Sends[0]
}

func TestSearchStepByStep(t *testing.T) {
	c := Defaults()
	c.Retries, c.CallHold = 2, 0
	d, fx, near := made(0, c), new(grid.Effects), ids(1, 3)
	n := need(8000, 0)
	handle := d.Search(at(0), n, "process", near, fx)
	if handle == 0 {
		t.Fatal("the ID is 0")
	}
	walk := sent(t, fx, grid.KindFind).Msg.Find
	if walk.Asker != id(0) || walk.Left != 16 || walk.Needs.CPU != 8000 || walk.Engine != "process" ||
		walk.Within != c.Deadline {
		t.Errorf("find %+v", walk)
	}
	if other := d.Search(at(0.1), need(8000, 0), "process", near, fx); other != handle || len(fx.Sends) != 1 {
		t.Error("the same needs are searched twice")
	}
	seen := map[uint64]bool{walk.ID: true}

	// Its miss makes the second walk, whose silence makes the third.
	fx.Reset()
	if _, ended := d.Miss(at(0.5), &grid.Find{ID: walk.ID}, near, fx); ended {
		t.Fatal("ended by its first miss")
	}
	walk = sent(t, fx, grid.KindFind).Msg.Find
	if seen[walk.ID] {
		t.Error("a new walk has an old ID")
	}
	stale := walk.ID
	seen[walk.ID] = true
	fx.Reset()
	d.Wake(at(2), grid.Timer{Kind: grid.TimerSearch, Key: handle}, near, nobody, fx)
	if len(fx.Sends) != 0 {
		t.Error("the first walk's deadline ended the second")
	}
	d.Wake(at(2.5), grid.Timer{Kind: grid.TimerSearch, Key: handle}, near, nobody, fx)
	walk = sent(t, fx, grid.KindFind).Msg.Find
	fx.Reset()
	d.Miss(at(2.6), &grid.Find{ID: stale}, near, fx)
	if len(fx.Sends)+len(fx.Announces) != 0 {
		t.Error("a miss of a walk given up counts")
	}

	// Then a call asks all nodes, once, and then the search ends.
	d.Miss(at(2.7), &grid.Find{ID: walk.ID}, near, fx)
	if len(fx.Announces) != 1 || fx.Announces[0].Kind != grid.KindCall || fx.Announces[0].Find.Asker != id(0) {
		t.Fatalf("announces %+v, want a call", fx.Announces)
	}
	fx.Reset()
	f, ended := d.Wake(at(5.7), grid.Timer{Kind: grid.TimerSearch, Key: handle}, near, nobody, fx)
	if !ended || f.ID != handle || f.Ad != nil {
		t.Errorf("%+v, %v: want the end without a find", f, ended)
	}

	// The next search for the same walks but does not call until CallGap has gone by.
	calls := func(from float64) int {
		fx.Reset()
		handle := d.Search(at(from), n, "process", near, fx)
		for s := 0.0; s < 20; s++ {
			if _, ended := d.Wake(at(from+s), grid.Timer{Kind: grid.TimerSearch, Key: handle}, near, nobody, fx); ended {
				return len(fx.Announces)
			}
		}
		t.Fatal("it does not end")
		return 0
	}
	if n := calls(6); n != 0 {
		t.Errorf("%d calls soon after one that found nobody", n)
	}
	if n := calls(40); n != 1 {
		t.Errorf("%d calls after CallGap, want 1", n)
	}
	if n := calls(90); n != 0 {
		t.Errorf("%d calls within twice CallGap", n)
	}
}

func TestHit(t *testing.T) {
	d, fx := made(0, Defaults()), new(grid.Effects)
	handle := d.Search(0, need(2000, 0), "process", ids(1, 2), fx)
	m := &grid.Message{Kind: grid.KindHit, Find: grid.Find{ID: fx.Sends[0].Msg.Find.ID, Hops: 3}}
	small, mine := adOf(id(7)), adOf(id(0))
	small.Capacity.CPU = 1000
	for _, digest := range [][]grid.AdEntry{nil, {{}}, {{Ad: small}}, {{Ad: mine}},
		{{Ad: adOf(id(7))}, {Ad: adOf(id(8))}}} {
		m.Digest = digest
		if _, ended := d.Hit(1, id(7), m); ended {
			t.Errorf("a hit with %+v ends the search", digest)
		}
	}
	m.Digest = []grid.AdEntry{{Ad: adOf(id(7))}}
	f, ended := d.Hit(1, id(7), m)
	if !ended || f.ID != handle || f.Ad != m.Digest[0].Ad || f.Hops != 3 {
		t.Errorf("%+v, %v: want the find", f, ended)
	}
	if _, ended := d.Hit(2, id(7), m); ended {
		t.Error("a second hit ends it again")
	}
	if s := d.Stats(); s.Found != 1 || s.Dropped.Bad != 5 || s.Dropped.Stale != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestSearchWithoutNeighboursEnds(t *testing.T) {
	d, fx := made(0, Defaults()), new(grid.Effects)
	handle := d.Search(at(1), need(2000, 0), "process", nil, fx)
	if len(fx.Wakes) != 1 || fx.Wakes[0].At != at(1) {
		t.Fatalf("wakes %v", fx.Wakes)
	}
	if f, ended := d.Wake(at(1), fx.Wakes[0].Timer, nil, nobody, fx); !ended || f.ID != handle || len(fx.Announces) != 0 {
		t.Errorf("%+v, %v: want the end", f, ended)
	}
}

func TestTooManySearchesShareAnEnd(t *testing.T) {
	c := Defaults()
	c.Searches = 4
	d, fx := made(0, c), new(grid.Effects)
	got := map[uint64]bool{}
	for i := range 10 {
		got[d.Search(0, need(grid.MilliCPU(1000+i), 0), "process", ids(1, 3), fx)] = true
	}
	if len(got) != 5 || len(fx.Sends) != 4 || len(d.searches) != 5 {
		t.Errorf("%d IDs, %d walks: want 4 searches and one that all others share", len(got), len(fx.Sends))
	}
}

func TestWalkersGoApart(t *testing.T) {
	c := Defaults()
	c.Walkers = 3
	d, fx := made(0, c), new(grid.Effects)
	d.Search(0, need(2000, 0), "process", ids(1, 5), fx)
	to := map[grid.NodeID]bool{}
	for _, s := range fx.Sends {
		to[s.To] = true
	}
	if len(to) != 3 {
		t.Errorf("3 walkers went to %d neighbours", len(to))
	}
	walks := append([]grid.Send(nil), fx.Sends...)
	fx.Reset()
	for i, s := range walks {
		if len(fx.Sends) != 0 {
			t.Errorf("new walks after %d of 3 misses", i)
		}
		d.Miss(at(0.1), &grid.Find{ID: s.Msg.Find.ID}, ids(1, 5), fx)
	}
	if len(fx.Sends) != 3 {
		t.Errorf("%d walks after the last miss, want 3", len(fx.Sends))
	}
}

func TestConfig(t *testing.T) {
	if err := Defaults().Check(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	err := Config{Hops: 65, CallDelay: -time.Second}.Check()
	if u, ok := err.(interface{ Unwrap() []error }); !ok || len(u.Unwrap()) < 9 {
		t.Errorf("problems %v; want each named", err)
	}
}
