package reputation

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// A node of which nothing is known is taken for one of the grid, and of a grid of which nothing is known a loss a day
// is expected.
func TestHazardOfAnUnknownNode(t *testing.T) {
	var h Hazards
	a, b := grid.NodeID{1}, grid.NodeID{2}
	if got := h.Rate(0, a) * 86_400; math.Abs(got-1) > 1e-9 {
		t.Errorf("%v losses a day: want 1", got)
	}
	for k := range 100 {
		h.There(grid.Time(k), a, 100*time.Second)
		h.Lost(grid.Time(k), a)
	}
	if got := h.Rate(100, b) * 100; math.Abs(got-0.735) > 0.01 { // 100 losses in 10,000 s, and an hour without
		t.Errorf("%v losses in 100 s: want those of the grid", got)
	}
}

// What a node has done itself outweighs the grid: of two with the same runs the one that loses a fifth of them is told
// from the one that loses none, and a longer run is lost more often.
func TestHazardsAreANodesOwn(t *testing.T) {
	var h Hazards
	good, bad := grid.NodeID{1}, grid.NodeID{2}
	now := grid.Time(0)
	for k := range 100 {
		now = now.Add(10 * time.Second)
		h.There(now, good, 10*time.Second)
		h.There(now, bad, 10*time.Second)
		if k%5 == 0 {
			h.Lost(now, bad)
		}
	}
	if g, b := h.Risk(now, good, 10), h.Risk(now, bad, 10); g > 0.02 || b < 0.15 || b > 0.22 {
		t.Errorf("risks of a run of 10 s: %.3f and %.3f: want less than 0.02, about 0.18", g, b)
	}
	if short, long := h.Risk(now, bad, 10), h.Risk(now, bad, 40); math.Abs(1-long-math.Pow(1-short, 4)) > 1e-12 {
		t.Errorf("risk %v of a run, %v of one four times as long", short, long)
	}
	if h.Risk(now, bad, -1) != 0 {
		t.Error("what is done already can be lost")
	}
	later := now.Add(48 * time.Hour)
	if b := h.Risk(later, bad, 10); b > 0.01 {
		t.Errorf("two days later it is %v: want the losses forgotten", b)
	}
}

// The nodes are bounded: whoever was given nothing for longest goes.
func TestHazardsAreBounded(t *testing.T) {
	var h Hazards
	for k := range maxRecords + 10 {
		id := grid.NodeID{byte(k), byte(k >> 8)}
		h.There(grid.Time(k+1), id, time.Second)
		h.Lost(grid.Time(k+1), id)
	}
	if len(h.nodes) != maxRecords {
		t.Errorf("%d nodes: want %d", len(h.nodes), maxRecords)
	}
	if _, known := h.find(grid.NodeID{}); known {
		t.Error("the first node is still known")
	}
	last := grid.NodeID{byte((maxRecords + 9) & 255), byte((maxRecords + 9) >> 8)}
	if at, known := h.find(last); !known || h.nodes[at].lost != 1 {
		t.Error("the last node is not known")
	}
}

// Losses of attempts whose time is not known, after a restart or a takeover, say nothing of how often a node loses what
// it has.
func TestLossesWithoutTimeDoNotCount(t *testing.T) {
	var h Hazards
	id := grid.NodeID{1}
	before := h.Rate(0, id)
	for range 8 {
		h.Lost(0, id)
	}
	if got := h.Rate(0, id); got != before {
		t.Errorf("%v losses a second: want %v, as if nothing was known", got, before)
	}
}
