package generations

import (
	"context"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/grid"
	"skep/node/generation"
	"skep/node/p2p/transport"
	"skep/node/p2p/wire"
)

// Protocol is the protocol of streams by which a node tells its generation. The answer is a status.
const Protocol = "/skep/generation/1"

// tellTime bounds how long a peer is told.
const tellTime = 5 * time.Second

// Peers opens streams to connected peers.
type Peers interface {
	OpenStream(ctx context.Context, n grid.NodeID, id protocol.ID) (network.Stream, error)
}

// Attach tells the keeper how to reach peers, and begins its work.
func (k *Keeper) Attach(p Peers) {
	k.peers = p
	k.work.Go(k.tellAll)
	k.work.Go(k.saveAll)
}

// tellAll tells peers this node's generation whenever that is due.
func (k *Keeper) tellAll() {
	done := k.work.Context().Done()
	for {
		select {
		case <-done:
			return
		case <-k.kick:
		}
		for {
			k.mu.Lock()
			next := k.telling.Next()
			k.mu.Unlock()
			if next == grid.Never {
				break
			}
			select {
			case <-done:
				return
			case <-time.After(max(next.Sub(k.cfg.Now()), 0)):
			}
			k.round()
		}
	}
}

// round tells the peers of a round, side by side: one that does not answer delays no other.
func (k *Keeper) round() {
	s := generation.Statement{Boot: k.cfg.Start.Boot, Instance: k.cfg.Start.Instance, Saved: k.cfg.Saved()}
	k.mu.Lock()
	nodes := k.telling.Round(k.cfg.Now(), s.Saved)
	k.mu.Unlock()
	if len(nodes) == 0 {
		return
	}
	signed := s.Sign(k.cfg.Key)
	for _, n := range nodes {
		k.work.Go(func() {
			if k.tell(n, signed) != nil {
				k.mu.Lock()
				k.telling.Failed(n)
				k.mu.Unlock()
				notify(k.kick)
			}
		})
	}
}

func (k *Keeper) tell(n grid.NodeID, signed []byte) error {
	ctx, cancel := context.WithTimeout(network.WithNoDial(k.work.Context(), "skep"), tellTime)
	defer cancel()
	st, err := k.peers.OpenStream(ctx, n, Protocol)
	if err != nil {
		return err
	}
	defer st.Close()
	stop := context.AfterFunc(ctx, func() { st.Reset() })
	defer stop()
	if _, err := st.Write(signed); err != nil {
		st.Reset()
		return err
	}
	var status [1]byte
	if _, err := io.ReadFull(st, status[:]); err != nil {
		st.Reset()
		return err
	}
	if status[0] != wire.StatusOK {
		return errBusy
	}
	return nil
}

// Service returns the service by which peers tell their generations: one of a peer in half a second.
func (k *Keeper) Service() transport.Service {
	return transport.Service{Protocol: Protocol, Request: generation.Size, PerPeer: 2, All: 256, Inbound: 4,
		Cooldown: generation.Interval / 2, Serve: k.serve}
}

func (k *Keeper) serve(from grid.NodeID, _ network.Stream, signed []byte, w io.Writer) {
	k.mu.Lock()
	if k.book.Heard(k.cfg.Now()-k.began, from, signed) {
		notify(k.unsaved)
	}
	k.mu.Unlock()
	w.Write([]byte{wire.StatusOK})
}
