package ports

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	libp2p "github.com/libp2p/go-libp2p/core/network"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/mesh"
	"skep/node/p2p/wire"
)

// watcher is a node that is told what listens here.
type watcher struct {
	news chan struct{} // has a value when something else listens
	end  context.CancelFunc
}

const (
	writeTime = 30 * time.Second // for a list

	// hearEvery is how long the next list is not read. It is less than lookEvery, so that lists do not pile up.
	hearEvery = lookEvery / 2
)

// open opens a stream with a request, which is granted.
func (x *Member) open(ctx context.Context, n grid.NodeID, a ask) (libp2p.Stream, error) {
	return mesh.OpenGranted(ctx, x.proxies.cfg.Peers, n, Protocol, a.encode())
}

// watch hears what listens at another node, again when the stream breaks, until the membership ends.
func (x *Member) watch(n grid.NodeID) {
	ctx := x.work.Context()
	mesh.Reopen(ctx, func() (libp2p.Stream, error) {
		return x.open(ctx, n, ask{id: x.layout.ID, from: x.local[0]})
	}, func(st libp2p.Stream) { x.hear(n, st) })
}

// hear reads lists until the stream breaks.
func (x *Member) hear(n grid.NodeID, st libp2p.Stream) {
	ctx := x.work.Context()
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	defer stop()
	defer st.Reset()
	most := x.others[n] * len(x.layout.Ports)
	for {
		all, err := readList(st, most, func(e network.Endpoint) bool {
			return e.Rank < len(x.layout.Nodes) && x.layout.Nodes[e.Rank] == n && slices.Contains(x.layout.Ports, e.Port)
		})
		if errors.Is(err, errFalse) {
			x.proxies.cfg.Drop("request")
			x.proxies.cfg.Log.Debug("ports of a gang", "attempt", x.layout.ID, "node", n.Short(), "error", err)
		}
		select {
		case x.told <- heard{n, all}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(hearEvery):
		}
	}
}

// tell tells a node what listens here until the stream breaks, or the node opens another one.
func (x *Member) tell(n grid.NodeID, st libp2p.Stream, w io.Writer, freeSeat func() bool) {
	if !freeSeat() {
		return
	}
	ctx, cancel := context.WithCancel(x.work.Context())
	defer cancel()
	own := &watcher{news: make(chan struct{}, 1), end: cancel}
	x.mu.Lock()
	if before := x.watchers[n]; before != nil {
		before.end() // the other side has lost it
	}
	x.watchers[n] = own
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		if x.watchers[n] == own {
			delete(x.watchers, n)
		}
		x.mu.Unlock()
	}()
	defer st.Reset()
	if _, err := w.Write([]byte{wire.StatusOK}); err != nil {
		return
	}
	st.SetDeadline(time.Time{})
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	defer stop()
	x.work.Go(func() { // it sends nothing: a read ends with the stream
		defer cancel()
		st.Read(make([]byte, 1))
	})
	for {
		x.mu.Lock()
		list := encodeList(x.here)
		x.mu.Unlock()
		st.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := st.Write(list); err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-own.news:
		}
	}
}
