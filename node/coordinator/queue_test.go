package coordinator

import (
	"testing"

	"skep/grid"
	"skep/node/barrier"
)

// Of tasks that arrived at the same time the older one is placed first, and of jobs whose barriers are due at the same
// time the one with the lower ID is checked first, whatever order they were queued in.
func TestEqualTimesHaveAnOrder(t *testing.T) {
	var retries retryQueue
	retries.Track((*liveTask).setQueueIndex)
	for _, handle := range []uint64{3, 1, 2} {
		retries.Push(7, &liveTask{handle: handle})
	}
	retries.Push(5, &liveTask{handle: 9})
	for _, want := range []uint64{9, 1, 2, 3} {
		if _, l := retries.Pop(); l.handle != want || l.queueIndex != notQueued {
			t.Errorf("task %d at %d, want %d", l.handle, l.queueIndex, want)
		}
	}
	var barriers barrierHeap
	barriers.Track((*job).setBarrierIndex)
	for _, n := range []byte{3, 1, 2} {
		barriers.Push(7, &job{id: grid.JobID{Nonce: [10]byte{n}}, cancelling: cancelling{barrier: barrier.New(0)}})
	}
	for _, want := range []byte{1, 2, 3} {
		if _, j := barriers.Pop(); j.id.Nonce[0] != want {
			t.Errorf("job %d, want %d", j.id.Nonce[0], want)
		}
	}
}
