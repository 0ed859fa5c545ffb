package generation

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"skep/grid"
)

func nodeID(i int) (n grid.NodeID) {
	binary.BigEndian.PutUint32(n[:], uint32(i)+1)
	return n
}

// The newest statement of a node is kept, whatever comes late, and its age is that of the hearing.
func TestBookKeepsTheNewest(t *testing.T) {
	var b Book
	own, n := key(1)
	say := func(at time.Duration, s Statement) bool { return b.Heard(grid.Time(at), n, s.Sign(own)) }
	if !say(time.Second, Statement{2, 1, 10}) || say(2*time.Second, Statement{2, 1, 10}) ||
		say(2*time.Second, Statement{1, 1, 99}) || say(2*time.Second, Statement{2, 9, 9}) {
		t.Error("what is not newer is taken for news, or news is not")
	}
	if !say(3*time.Second, Statement{2, 1, 11}) || !say(4*time.Second, Statement{3, 1, 1}) {
		t.Error("a later commit, or a later start, is no news")
	}
	signed, age := b.Known(grid.Time(10*time.Second), n)
	if s, ok := Open(n, signed); !ok || s != (Statement{3, 1, 1}) || age != 6*time.Second {
		t.Errorf("%+v, %v, heard %v ago", s, ok, age)
	}
	if b.Heard(0, n, signed[1:]) || b.Heard(0, n, nil) {
		t.Error("what is no statement is kept")
	}
	if signed, _ := b.Known(0, nodeID(9)); signed != nil {
		t.Error("a statement of a node that told none")
	}
	if got := b.Unsaved(); len(got) != 1 || len(b.Unsaved()) != 0 {
		t.Errorf("%d entries to save, then %d: want 1, 0", len(got), len(b.Unsaved()))
	}
}

// What an earlier process kept goes on to age. Where the clock of the machine was set back it is of unknown age, which
// is longer than any process has run: it is not taken for news that a copy told meanwhile.
func TestRestoredStatementAges(t *testing.T) {
	own, n := key(1)
	s := Statement{2, 1, 10}
	start := Start{Boot: 2, Instance: 2, Saved: 9}
	for restored, want := range map[time.Duration]time.Duration{0: time.Minute, time.Hour: time.Hour + time.Minute,
		-1: unknownAge + time.Minute, -time.Hour: unknownAge + time.Minute, math.MinInt64: unknownAge + time.Minute} {
		var b Book
		b.Restore(n, s.Sign(own), restored)
		if _, age := b.Known(grid.Time(time.Minute), n); age != want {
			t.Errorf("restored at the age of %v, a minute later it is %v old", restored, age)
		} else if age > time.Hour && start.Check(s, age, time.Hour, 9) != PutBack {
			t.Errorf("restored at the age of %v, it is %v", restored, start.Check(s, age, time.Hour, 9))
		}
	}
}

// However many nodes tell, MaxKept statements are kept: those of the nodes heard last.
func TestBookIsBounded(t *testing.T) {
	var b Book
	own, _ := key(1)
	s := Statement{1, 1, 1}
	signed := s.Sign(own)
	for i := range MaxKept + 20 {
		b.Heard(grid.Time(i+1), nodeID(i), signed)
	}
	evicted := b.Evict(grid.Time(time.Second))
	if len(evicted) != 20 || len(b.entries) != MaxKept {
		t.Fatalf("%d evicted, %d kept", len(evicted), len(b.entries))
	}
	for i, n := range evicted {
		if n != nodeID(i) {
			t.Errorf("evicted %v, want the one heard longest ago", n)
		}
	}
}

// A peer is told when it connects, and then only after a commit that it has not been told of, once it is sent
// something.
func TestTellingIsForNews(t *testing.T) {
	var l Telling
	at := func(s float64) grid.Time { return grid.Time(s * float64(time.Second)) }
	round := func(s float64, saved uint64) int { return len(l.Round(at(s), saved)) }
	if l.Sent(nodeID(0), 5) || l.Next() != grid.Never {
		t.Error("a peer that takes no statements is to be told")
	}
	l.Up(nodeID(0))
	if l.Next() != 0 || round(1, 5) != 1 || l.Next() != grid.Never {
		t.Error("a peer that has connected is not told, or more than once")
	}
	if l.Sent(nodeID(0), 5) || round(9, 5) != 0 {
		t.Error("told though nothing was saved")
	}
	if round(9, 6) != 0 {
		t.Error("told though nothing was sent")
	}
	if !l.Sent(nodeID(0), 6) || l.Next() != at(2) || round(9, 7) != 1 {
		t.Error("not told of a commit")
	}
	if l.Sent(nodeID(0), 7) {
		t.Error("told again of what was saved when it was told")
	}
	if l.Sent(nodeID(0), 8); round(9.9, 8) != 0 || round(10, 8) != 1 {
		t.Error("want a round a second")
	}
	if l.Failed(nodeID(0)); round(11, 8) != 1 {
		t.Error("one that could not be told is not told again")
	}
	if l.Sent(nodeID(0), 9); l.Next() == grid.Never {
		t.Error("not to be told")
	}
	if l.Down(nodeID(0)); l.Next() != grid.Never {
		t.Error("a peer that is gone is to be told")
	}
}

// However many peers there are, a round has PerRound of them, and each has its turn.
func TestRoundsAreBounded(t *testing.T) {
	var l Telling
	const peers = 5 * PerRound
	for i := range peers {
		l.Up(nodeID(i))
	}
	counts := map[grid.NodeID]int{}
	for r := range 20 {
		for i := range peers {
			l.Sent(nodeID(i), uint64(r+1))
		}
		nodes := l.Round(grid.Time(r+1)*grid.Time(Interval), uint64(r+1))
		if len(nodes) != PerRound {
			t.Fatalf("round %d has %d", r, len(nodes))
		}
		for _, n := range nodes {
			counts[n]++
		}
	}
	for i := range peers {
		if counts[nodeID(i)] != 4 {
			t.Errorf("peer %d was told %d times of 20 rounds, want 4", i, counts[nodeID(i)])
		}
	}
}

// A node waits for those that it knows: ten seconds for the first one, a second more for the others.
func TestSettling(t *testing.T) {
	at := func(s float64) grid.Time { return grid.Time(100*time.Second) + grid.Time(s*float64(time.Second)) }
	for _, c := range []struct {
		name  string
		boot  uint64
		known int
		met   []float64
		want  float64
	}{
		{"a first start", 1, 5, nil, 0},
		{"a node alone", 9, 0, nil, 0},
		{"nobody answers", 9, 3, nil, 10},
		{"one answers", 9, 3, []float64{2}, 3},
		{"one answers late", 9, 3, []float64{9.5}, 10},
		{"all answer", 9, 3, []float64{2, 2.1, 2.4}, 2.4},
		{"the only one answers", 9, 1, []float64{4}, 4},
	} {
		var s Settling
		s.Begin(at(0), c.boot, c.known)
		ends := 0
		if s.Settled() {
			ends = 1
		}
		var got grid.Time
		for step := 0; step <= 200; step++ {
			now := at(float64(step) / 20)
			for _, m := range c.met {
				if at(m) == now && s.Met(now) {
					ends++
				}
			}
			if now >= s.Until() && s.Over(now) {
				ends++
			}
			if s.Settled() {
				got = now
				break
			}
		}
		if got != at(c.want) || ends != 1 || s.Over(got.Add(time.Hour)) || s.Met(got) {
			t.Errorf("%s: over at %v, told %d times; want %v, once", c.name, got, ends, at(c.want))
		}
	}
}
