package contract

import (
	"testing"

	"skep/grid"
	"skep/node/gangs"
)

// Before it moves a gang asks the nodes where it has no rank, and moves once all of these keep what they were asked
// for. What another node says, or of another round or other slots, counts for nothing. When it stays all is released.
func TestAsksAhead(t *testing.T) {
	own, b, c, stranger := grid.NodeID{1}, grid.NodeID{2}, grid.NodeID{3}, grid.NodeID{4}
	to := gangs.Choice{Places: []gangs.Place{{Node: own, Ranks: 1}, {Node: b, Ranks: 2}, {Node: c, Ranks: 1}}, Time: 2}
	holds := map[grid.NodeID]grid.Resources{own: {CPU: grid.CPU}}
	var x Contract
	var fx grid.Effects
	if !x.AskAhead(to, holds, &grid.Reserve{Round: 7}, &fx) || len(fx.Sends) != 2 || fx.Sends[0].To != b ||
		fx.Sends[0].Msg.Reserve.Ranks != 2 || fx.Sends[1].To != c || x.AsksAhead() != 7 {
		t.Fatalf("asks %+v", fx.Sends)
	}
	for _, s := range []struct {
		from      grid.NodeID
		round, of uint32
		answers   bool
		all       bool
	}{
		{stranger, 7, 1, false, false}, {own, 7, 1, false, false}, {c, 6, 1, false, false},
		{b, 7, 1, true, false}, {b, 7, 2, true, false}, {b, 7, 2, true, false}, {c, 7, 2, true, false}, {c, 7, 1, true, true},
	} {
		r := &grid.Reserve{Round: s.round, Ranks: s.of}
		if x.Answers(s.from, r) != s.answers {
			t.Errorf("%+v: an answer: %v", s, !s.answers)
		} else if !s.answers {
			continue
		}
		if where, all := x.KeptAhead(s.from, r); all != s.all || all && where.Time != 2 {
			t.Errorf("%+v: all are kept: %v", s, all)
		}
	}
	fx.Reset()
	x.Stay(0, &fx)
	if len(fx.Sends) != 2 || fx.Sends[0].Msg.Reserve.Ranks != 0 || fx.Sends[0].Msg.Reserve.Round != 7 ||
		x.AsksAhead() != 0 {
		t.Errorf("releases %+v", fx.Sends)
	}
	fx.Reset()
	if x.Stay(0, &fx); len(fx.Sends) != 0 {
		t.Errorf("releases twice: %+v", fx.Sends)
	}
	holds[b], holds[c] = holds[own], holds[own]
	if x.AskAhead(to, holds, &grid.Reserve{Round: 8}, &fx) || len(fx.Sends) != 0 {
		t.Errorf("asks where it has ranks: %+v", fx.Sends)
	}
}
