package transport

import (
	"sync/atomic"
	"testing"

	"skep/grid"
)

func TestQueueDropsGossipFirst(t *testing.T) {
	q := newQueue(new(atomic.Int64))
	body := make([]byte, 10)
	for i := range maxQueued {
		kind := grid.KindOffer
		if i%2 == 1 {
			kind = grid.KindDigest
		}
		if d := q.put(kind, body); d != nil {
			t.Fatalf("frame %d dropped %v", i, d)
		}
	}
	for i := range maxQueued {
		want := grid.KindDigest
		if i >= maxQueued/2 {
			want = grid.KindOffer
		}
		if d := q.put(grid.KindResult, body); len(d) != 1 || d[0] != want {
			t.Fatalf("frame %d beyond the bound dropped %v: want one %v", i, d, want)
		}
	}
	got := q.take(nil, grid.AllKinds)
	if len(got) != maxQueued*11 || !q.empty() {
		t.Errorf("%d bytes taken: want %d", len(got), maxQueued*11)
	}
	big := make([]byte, 3<<20)
	for range 10 {
		q.put(grid.KindResult, big)
	}
	if q.live > maxQueuedBytes || cap(q.buf) > 8*maxQueuedBytes {
		t.Errorf("%d bytes wait, %d are held: want at most %d", q.live, cap(q.buf), maxQueuedBytes)
	}
	q.take(nil, grid.AllKinds)
	q.put(grid.KindHit, body)
	q.put(grid.KindOffer, body)
	if got := q.take(nil, 1<<grid.KindOffer); len(got) != 11 {
		t.Errorf("%d bytes for a peer that knows one of two kinds: want 11", len(got))
	}
}
