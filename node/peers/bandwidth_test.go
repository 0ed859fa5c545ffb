package peers

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"skep/grid"
)

// The bandwidth with a node is the mean of its transfers, by their time, and newer ones count for more.
func TestBandwidths(t *testing.T) {
	var b bandwidths
	second := grid.Time(time.Second)
	one, two := grid.NodeID{1}, grid.NodeID{2}
	b.add(0, one, 100*grid.MiB, time.Second)
	b.add(0, one, 100*grid.MiB, 3*time.Second)
	b.add(second, two, grid.MiB, time.Second)
	b.add(second, two, 0, time.Second)
	b.add(second, two, grid.MiB, 0)
	want := func(what string, now grid.Time, id grid.NodeID, rate float64, age time.Duration) {
		t.Helper()
		if got := b.of(now, id); math.Abs(got.Rate-rate) > 0.01*rate || got.Age != age {
			t.Errorf("%s: %+v, want %.4g, %v", what, got, rate, age)
		}
	}
	mib := float64(grid.MiB)
	want("two transfers", 10*second, one, 50*mib, 10*time.Second)
	want("one", 10*second, two, mib, 9*time.Second)
	want("none", 10*second, grid.NodeID{3}, 0, 0)
	b.add(3600*second, one, 10*grid.MiB, time.Second)
	want("one after an hour", 3601*second, one, 200./4*mib*0.0099+10*mib*0.99, time.Second)
}

// A grid of many nodes takes no more memory than one of some.
func TestBandwidthsAreBounded(t *testing.T) {
	var b bandwidths
	id := func(i int) (n grid.NodeID) {
		binary.BigEndian.PutUint32(n[:], uint32(i))
		return n
	}
	for i := range mostBandwidths {
		b.add(0, id(i), grid.MiB, time.Second)
	}
	b.add(1, id(0), grid.MiB, time.Second)
	b.add(2, id(mostBandwidths), grid.MiB, time.Second)
	if b.known.Len() != mostBandwidths || b.of(2, id(0)).Rate == 0 || b.of(2, id(1)).Rate != 0 {
		t.Errorf("%d are known, the first %+v, the second %+v: want that the second has gone", b.known.Len(), b.of(2, id(0)),
			b.of(2, id(1)))
	}
}
