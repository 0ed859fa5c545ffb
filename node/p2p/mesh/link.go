package mesh

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"sync"

	libp2p "github.com/libp2p/go-libp2p/core/network"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/wire"
)

// link is what goes between this node and another of an attempt. It has one stream at a time.
type link struct {
	member *Member
	node   grid.NodeID
	queue  *queue

	mu     sync.Mutex
	stream libp2p.Stream // of now; nil = none
	turn   sync.Mutex    // held by who carries
}

// keepOpen opens the stream, again when it breaks, until the membership ends.
func (l *link) keepOpen() {
	ctx, x := l.member.work.Context(), l.member
	Reopen(ctx, func() (libp2p.Stream, error) {
		request := wire.AppendAttempt(make([]byte, 0, Request), x.layout.ID)
		return OpenGranted(ctx, x.mesh.cfg.Peers, l.node, Protocol, request)
	}, l.carry)
}

// carry sends and receives on a stream until it breaks, the next comes, or the membership ends.
func (l *link) carry(st libp2p.Stream) {
	work := l.member.work
	if !work.Begin() {
		st.Reset()
		return
	}
	defer work.Done()
	l.mu.Lock()
	if l.stream != nil {
		l.stream.Reset() // the other side has lost it
	}
	l.stream = st
	l.mu.Unlock()
	l.turn.Lock() // until who carried on that stream has ended
	defer l.turn.Unlock()
	l.member.counts.streams.Add(1)
	ctx, cancel := context.WithCancel(work.Context())
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	var wait sync.WaitGroup
	wait.Go(func() {
		defer cancel()
		l.write(ctx, st)
	})
	l.read(st)
	cancel()
	stop()
	st.Reset()
	wait.Wait()
	l.mu.Lock()
	if l.stream == st {
		l.stream = nil
	}
	l.mu.Unlock()
}

// write sends what is in the queue. Of a stream that breaks the packets under way are lost, which TCP sends again.
func (l *link) write(ctx context.Context, st libp2p.Stream) {
	var taken []*frames
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.queue.ready:
		}
		taken = l.queue.take(taken)
		for i, f := range taken {
			_, err := st.Write(f.b[:f.n])
			spare.Put(f)
			taken[i] = nil
			if err != nil {
				return
			}
		}
	}
}

// readAhead is how much is read at once, if it is there: more than a frame.
const readAhead = 128 << 10

// read gives the device what comes, if the other node may have sent it.
func (l *link) read(st libp2p.Stream) {
	r := bufio.NewReaderSize(st, readAhead)
	for {
		head, err := r.Peek(frameHead)
		if err != nil {
			return
		}
		size := int(binary.BigEndian.Uint16(head))
		frame, err := r.Peek(frameHead + size)
		if err != nil || !l.deliver(frame[frameHead:]) {
			return
		}
		r.Discard(len(frame))
	}
}

// deliver reports false when the device is gone.
func (l *link) deliver(packet []byte) bool {
	x := l.member
	p, ok := network.Parse(packet)
	if !ok {
		x.counts.invalid.Add(1)
		return true
	}
	from, known := network.Rank(p.Source, len(x.byRank))
	to, found := network.Rank(p.Dest, len(x.byRank))
	if !known || !found || x.byRank[from] != l || x.byRank[to] != nil {
		x.counts.forged.Add(1)
		return true
	}
	switch _, err := x.device.Write(packet); {
	case errors.Is(err, network.ErrDropped):
		x.counts.refused.Add(1)
	case err != nil:
		return false
	default:
		x.counts.received.Add(1)
	}
	return true
}
