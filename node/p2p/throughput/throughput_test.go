package throughput

import (
	"testing"
	"time"

	"skep/grid"
)

// Sixteen files at the same time over a link of 128 MB/s are measured as that, whenever each of them ends; small ones
// count together, and a pause does not count.
func TestParallelTransfers(t *testing.T) {
	const size, files = 8 * 1000 * 1000, 16
	var m Meter
	way := Way{Peer: grid.NodeID{1}}
	start := time.Unix(1000, 0)
	for pause, step := range map[time.Duration]time.Duration{time.Hour: 1, 2 * time.Hour: 10 * time.Millisecond} {
		began := start.Add(pause)
		for range files {
			m.Begin(way, began)
		}
		m.Begin(Way{Peer: way.Peer, Sent: true}, began)
		var sum grid.Transfer
		for i := range files {
			x := m.End(way, size, 2*size, began.Add(time.Second-time.Duration(files-1-i)*step))
			sum.Bytes, sum.Took = sum.Bytes+x.Bytes, sum.Took+x.Took
		}
		if sum.Took != time.Second || sum.Bytes != files*size {
			t.Errorf("%d bytes in %v: want %d in a second", sum.Bytes, sum.Took, files*size)
		}
		if x := m.End(Way{Peer: way.Peer, Sent: true}, 2*size, size, began.Add(2*time.Second)); x.Took != 2*time.Second {
			t.Errorf("the other direction: %v, want 2s", x)
		}
	}
	if len(m.busy) > 0 {
		t.Errorf("%d are kept after their end", len(m.busy))
	}
}

// A transfer that goes on is measured piece by piece, and its end counts what came since.
func TestProgress(t *testing.T) {
	var m Meter
	way, start := Way{Peer: grid.NodeID{1}}, time.Unix(1000, 0)
	m.Begin(way, start)
	if x := m.Progress(way, 4, 8, start.Add(time.Second)); x.Bytes != 0 {
		t.Errorf("4 of 8 bytes: %+v, want nothing yet", x)
	}
	if x := m.Progress(way, 4, 8, start.Add(2*time.Second)); x != (grid.Transfer{Bytes: 8, Took: 2 * time.Second}) {
		t.Errorf("8 bytes in 2 s: %+v", x)
	}
	if x := m.End(way, 3, 1, start.Add(3*time.Second)); x != (grid.Transfer{Bytes: 3, Took: time.Second}) {
		t.Errorf("3 more in a second: %+v", x)
	}
	if len(m.busy) > 0 {
		t.Error("it is kept after its end")
	}
}
