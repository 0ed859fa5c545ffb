package discovery

import (
	"testing"

	"skep/grid"
)

// met makes d search, find a node over the given path, and try it.
func met(t *testing.T, d *Discovery, fx *grid.Effects, path []grid.NodeID, taken bool) {
	t.Helper()
	n := need(2000, 0)
	d.Search(0, n, "process", ids(1, 3), fx)
	walk := fx.Sends[len(fx.Sends)-1].Msg.Find.ID
	fx.Reset()
	m := &grid.Message{Kind: grid.KindHit, Find: grid.Find{ID: walk, Asker: id(0), Visited: path},
		Digest: []grid.AdEntry{{Ad: adOf(id(7))}}}
	if _, ok := d.Hit(0, id(7), m); !ok {
		t.Fatal("the hit was dropped")
	}
	d.Tried(0, id(8), n, "process", taken, fx)             // somebody else
	d.Tried(0, id(7), need(4000, 0), "process", taken, fx) // another kind of task
	if s := d.Stats(); s.Met+s.Refused != 0 {
		t.Errorf("stats %+v before it was tried", s)
	}
	d.Tried(0, id(7), n, "process", taken, fx)
}

// whither returns where d sends another node's walk for similar needs.
func whither(t *testing.T, d *Discovery, walk uint64) grid.NodeID {
	t.Helper()
	fx := new(grid.Effects)
	f := find(walk)
	f.Needs = *need(1900, 0)
	d.Find(1, id(1), f, ids(1, 3), nobody, fx)
	return sent(t, fx, grid.KindFind).To
}

// A request is met when the task is taken, not when a node answers.
func TestOnlyTasksTakenCount(t *testing.T) {
	c := Defaults()
	c.Explore = 0
	for _, taken := range []bool{true, false} {
		d, fx := made(0, c), new(grid.Effects)
		met(t, d, fx, nil, taken)
		if got := whither(t, d, 9) == id(7); got != taken {
			t.Errorf("taken %v: the next walk goes there: %v", taken, got)
		}
		if s := d.Stats(); taken && s.Met != 1 || !taken && s.Refused != 1 || len(d.untried) != 0 {
			t.Errorf("stats %+v", s)
		}
	}
	d := made(0, c)
	d.begin()
	for i := range 1000 {
		s := &search{like: uint64(i), needs: need(1, 0)}
		d.owe(0, s, &grid.Message{Digest: []grid.AdEntry{{Ad: adOf(id(i))}}})
	}
	if len(d.untried) != maxFinds {
		t.Errorf("%d finds wait to be tried", len(d.untried))
	}
}

// With Reverse those on the path learn, and only from the asker of a walk that came by.
func TestPathLearns(t *testing.T) {
	c := Defaults()
	c.Explore, c.Reverse = 0, true
	asker, fx := made(0, c), new(grid.Effects)
	met(t, asker, fx, append(ids(3, 5), id(7)), true)
	if len(fx.Sends) != 3 {
		t.Fatalf("%d messages to the path, want 3", len(fx.Sends))
	}
	told := fx.Sends[1]
	if told.To != id(4) || told.Msg.Kind != grid.KindHit || told.Msg.Find.Asker != id(0) ||
		told.Msg.Digest[0].Ad.Node != id(7) {
		t.Fatalf("told %+v", told)
	}
	by := find(told.Msg.Find.ID)
	by.Asker = id(0)
	for name, change := range map[string]func(*grid.Message) grid.NodeID{
		"as it is":                 func(*grid.Message) grid.NodeID { return id(0) },
		"from another":             func(*grid.Message) grid.NodeID { return id(9) },
		"of a walk never seen":     func(m *grid.Message) grid.NodeID { m.Find.ID++; return id(0) },
		"of one that does not fit": func(m *grid.Message) grid.NodeID { m.Find.Needs.CPU = 8000; return id(0) },
		"impossible needs":         func(m *grid.Message) grid.NodeID { m.Find.Needs.CPU = -1; return id(0) },
		"without an ad":            func(m *grid.Message) grid.NodeID { m.Digest = nil; return id(0) },
	} {
		d := made(4, c)
		d.Find(0, id(3), by, ids(1, 3), nobody, new(grid.Effects))
		m := told.Msg
		from := change(&m)
		if _, ok := d.Hit(0, from, &m); ok {
			t.Errorf("%s: ends a search", name)
		}
		if got, want := whither(t, d, 99) == id(7), name == "as it is"; got != want {
			t.Errorf("%s: learned %v", name, got)
		}
	}
}
