package p2p

import (
	"io"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/internal/hostile"
	"skep/node/p2p/identity"
	"skep/node/p2p/instance"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/wire"
)

// A node of a version that does not know the protocol of instances keeps its connection when another process asks for
// it: it lives, and cannot say so.
func TestNodeThatKnowsNoInstancesStaysConnected(t *testing.T) {
	t.Parallel()
	a, _ := openPair(t)
	old := newSilentRogue(t, a)
	hello := helloOf(1)
	hello.Instance = 5
	old.SetStreamHandler(hostile.Control, func(st network.Stream) { answerHello(st, hello) }) // else its session ends
	// Both open control streams, and one of them is reset.
	rig.Await(t, "the node hears the older one's hello", func() bool {
		control, err := old.NewStream(t.Context(), identity.Peer(a.self), hostile.Control)
		return err == nil && sayHello(control, hello) == nil
	})
	m, err := hostile.Join(t.Context(), hostile.Options{Token: a.token(), Key: old.key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	find := append([]byte{1}, make([]byte, 40)...)
	find[40] = 6
	rig.Await(t, "the witness says that it cannot tell", func() bool {
		st, err := m.Host().NewStream(t.Context(), identity.Peer(a.self), instance.Protocol)
		if err != nil {
			return false
		}
		defer st.Reset()
		var status [1]byte
		st.Write(find)
		_, err = io.ReadFull(st, status[:])
		return err == nil && status[0] == wire.StatusBusy
	})
	closed := func(c network.Conn) bool { return c.IsClosed() }
	if conns := old.Network().ConnsToPeer(identity.Peer(a.self)); len(conns) == 0 || slices.ContainsFunc(conns, closed) {
		t.Errorf("connections of the older node: %v", conns)
	}
}
