package transport

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/grid"
)

// As many peers as there may be are remembered, those that were met last, and each for a while.
func TestVersionGapsAreBounded(t *testing.T) {
	v := newVersionGaps()
	at := time.Unix(1e9, 0)
	id := func(i int) grid.NodeID { return grid.NodeID{byte(i), byte(i >> 8), 1} }
	for i := range maxGaps + 10 {
		v.note(id(i), VersionGap{Theirs: 2, Ours: 1, Seen: at.Add(time.Duration(i) * time.Second)})
	}
	last := at.Add((maxGaps + 9) * time.Second)
	all := v.all(last)
	if len(all) != maxGaps {
		t.Errorf("%d peers are remembered: want %d", len(all), maxGaps)
	}
	for i := range 10 {
		if _, ok := all[id(i)]; ok {
			t.Errorf("peer %d, met before all others, is remembered", i)
		}
	}
	if n := len(v.all(last.Add(gapLasts))); n != 0 {
		t.Errorf("%d are remembered for ever", n)
	}
	v.closed(id(maxGaps))
	if _, ok := v.all(last)[id(maxGaps)]; ok {
		t.Error("one with which there is a session is remembered")
	}
}

// A peer that is dialled again and again is told of once an hour, or when it has changed its version.
func TestVersionGapIsToldOnce(t *testing.T) {
	v := newVersionGaps()
	at := time.Unix(1e9, 0)
	for i, c := range []struct {
		after  time.Duration
		theirs uint64
		tell   bool
	}{{0, 2, true}, {time.Minute, 2, false}, {2 * time.Minute, 3, true}, {time.Hour, 3, false},
		{time.Hour + 2*time.Minute, 3, true}, {time.Hour + 3*time.Minute, 3, false}} {
		if got := v.note(grid.NodeID{1}, VersionGap{Theirs: c.theirs, Ours: 1, Seen: at.Add(c.after)}); got != c.tell {
			t.Errorf("%d: after %v it is told: %v, want %v", i, c.after, got, c.tell)
		}
	}
}

// Whatever peers say, and however many there are, the log has few lines about it.
func TestVersionGapsDoNotFloodTheLog(t *testing.T) {
	v := newVersionGaps()
	told := 0
	for i := range 1000 {
		id := grid.NodeID{byte(i), byte(i >> 8)}
		if v.note(id, VersionGap{Theirs: uint64(2 + i%2), Ours: 1, Seen: time.Unix(1e9, int64(i))}) {
			told++
		}
	}
	if told != gapLines || v.by.Len() > maxGaps {
		t.Errorf("told %d times, %d are remembered", told, v.by.Len())
	}
}

func TestControlVersion(t *testing.T) {
	for id, want := range map[string]uint64{controlProtocol: 1, "/skep/control/27": 27, "/skep/control/": 0,
		"/skep/control/-1": 0, "/skep/control/1/x": 0, "/skep/blob/1": 0, "/skep/control/99999999999": 0} {
		if got := controlVersion(protocol.ID(id)); got != want {
			t.Errorf("%q: %d, want %d", id, got, want)
		}
	}
}
