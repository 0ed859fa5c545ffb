package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/wire"
)

// A frame reserves memory for the bytes that have arrived, and no more.
func TestSlowFramesReserveLittle(t *testing.T) {
	const size, sent = 1 << 20, 100_000
	head := protowire.AppendTag(binary.AppendUvarint(nil, size), protowire.Number(grid.KindWrite), protowire.BytesType)
	f := newFrames(recordedStream{strings.NewReader(string(head) + strings.Repeat("x", sent))})
	all := semaphore.NewWeighted(inboundAll)
	f.memory = newInboundMemory(t.Context(), all)
	if _, _, err := f.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("a frame cut off: %v", err)
	}
	if f.memory.reserved > sent+inboundPiece {
		t.Errorf("room for %d bytes is held by %d of %d", f.memory.reserved, sent, size)
	}
	f.memory.releaseNow()
	if !all.TryAcquire(inboundAll) || !f.memory.own.TryAcquire(inboundPerPeer) {
		t.Error("the room is not given back")
	}
}

// Without free memory a stream is not read; closing it ends the wait, and reserves nothing.
func TestFramesWaitForMemory(t *testing.T) {
	all := semaphore.NewWeighted(inboundAll)
	all.TryAcquire(inboundAll - 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := newInboundMemory(ctx, all)
	if _, err := in.reserve(11); err == nil || in.reserved != 0 || !in.own.TryAcquire(inboundPerPeer) {
		t.Errorf("took %d bytes where there were 10: %v", in.reserved, err)
	}
	if waited, err := newInboundMemory(ctx, all).reserve(10); waited || err != nil {
		t.Errorf("waited %v, %v for room that is there", waited, err)
	}
	if wire.MaxFrame > inboundPerPeer {
		t.Errorf("a frame of %d bytes never has room in %d", wire.MaxFrame, inboundPerPeer)
	}
}

// deadlineStream is a recordedStream that remembers its deadline.
type deadlineStream struct {
	io.Reader
	deadline time.Time
}

func (t *deadlineStream) SetReadDeadline(at time.Time) error { t.deadline = at; return nil }

// The deadline is extended while a frame waits for memory, and cleared after it.
func TestDeadlineIsClearedAfterWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 3 * inboundFree
		body := protowire.AppendTag(nil, protowire.Number(grid.KindWrite), protowire.BytesType)
		body = append(body, make([]byte, size-len(body))...)
		for _, room := range []int64{0, inboundAll} {
			all := semaphore.NewWeighted(inboundAll)
			all.TryAcquire(inboundAll - room)
			in := &deadlineStream{Reader: strings.NewReader(string(framed(body)))}
			f := newFrames(in)
			f.memory = newInboundMemory(t.Context(), all)
			go func() {
				synctest.Wait()
				all.Release(inboundAll - room)
			}()
			if _, b, err := f.next(); err != nil || len(b) != size {
				t.Fatalf("%d bytes, %v: want %d", len(b), err, size)
			}
			if !in.deadline.IsZero() {
				t.Errorf("with room for %d bytes a deadline is left", room)
			}
		}
	})
}

// Peers that read nothing do not fill the memory: the queues of all peers share a bound, and the queue of a peer
// that is gone does not count.
func TestQueuesShareABound(t *testing.T) {
	var all atomic.Int64
	var queues []*queue
	for range 16 {
		q := newQueue(&all)
		queues = append(queues, q)
		for range 64 {
			q.put(grid.KindWrite, make([]byte, 128<<10))
		}
	}
	if n := all.Load(); n > allQueuedBytes+int64(len(queues))*2*leastQueued {
		t.Errorf("%d bytes wait: want about %d", n, allQueuedBytes)
	}
	last := queues[len(queues)-1]
	if dropped := last.put(grid.KindAccept, make([]byte, 100)); len(dropped) > 1 || last.count < 2 {
		t.Errorf("who came last has %d frames", last.count)
	}
	for _, q := range queues {
		q.take(nil, grid.AllKinds)
		q.put(grid.KindAccept, make([]byte, 100))
		q.close()
		q.put(grid.KindAccept, make([]byte, 100))
	}
	if n := all.Load(); n != 0 {
		t.Errorf("%d bytes are counted when nothing waits", n)
	}
}

// The memory of messages is released when they have been stepped.
func TestMemoryIsReleasedAfterTheStep(t *testing.T) {
	a := openNode(t, nil)
	m := rig.Attacker(t, a.token())
	talk, err := m.Control(t.Context(), a.self)
	if err != nil {
		t.Fatal(err)
	}
	beat := &grid.Message{Kind: grid.KindBeat}
	for i := range uint32(900) {
		beat.Attempts = append(beat.Attempts,
			grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: a.self}, Index: 101 * i},
				Attempt: grid.Attempt{Epoch: 1, N: 1 + i*1000}})
	}
	const beats = 20
	for range beats {
		if err := talk.Say(beat); err != nil {
			t.Fatal(err)
		}
	}
	rig.Await(t, "all is stepped", func() bool { return a.count(grid.EvMessage) == beats })
	if n := a.counts.ReceivedBytes[grid.KindBeat].Load() / beats; n <= inboundFree {
		t.Fatalf("the messages have %d bytes: want more than are free", n)
	}
	a.cfg.Inbox.Wait()
	if !a.peers.inboundMemory.TryAcquire(inboundAll) {
		t.Error("room is held for messages that were stepped")
	}
}
