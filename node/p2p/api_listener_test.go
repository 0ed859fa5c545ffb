package p2p

import (
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/internal/hostile"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/transport"
)

// holdSeats has identities of one attacker take all the seats that a protocol gives them, and hold them.
func holdSeats(t *testing.T, a *member, identities, streams int, id protocol.ID) {
	t.Helper()
	for range identities {
		m := rig.Attacker(t, a.token())
		for range streams {
			st, err := m.Stream(t.Context(), a.self, id)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := st.Write([]byte("G")); err != nil { // an incomplete request
				t.Fatal(err)
			}
		}
	}
}

// Nine identities of an attacker hold all seats of the API listener. A member that holds none gets one.
func TestAPIListenerSeatsAreShared(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	go func() { // as the API does: every connection is held until it ends
		for {
			c, err := a.Listener().Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var b [1]byte
				for {
					if _, err := c.Read(b[:]); err != nil {
						return
					}
					if b[0] == '?' {
						c.Write([]byte("!"))
					}
				}
			}()
		}
	}()
	holdSeats(t, a, 9, transport.ServesPerPeer, hostile.APIStream)
	rig.Await(t, "the listener is full", func() bool {
		return rig.Served(a.transport.Host(), hostile.APIStream) == transport.ServesAll
	})
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	waitUp(t, a, b)
	for i := range 8 {
		c, err := b.Dial(t.Context(), a.self)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ask(t, i, c)
	}
}

func ask(t *testing.T, i int, c net.Conn) {
	t.Helper()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	var answer [1]byte
	if _, err := c.Write([]byte("?")); err != nil {
		t.Fatalf("visit %d of an honest member: %v", i, err)
	}
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		t.Fatalf("visit %d of an honest member is not answered: %v", i, err)
	}
}

// Incomplete requests for blobs do not keep a member from fetching its own.
func TestBlobSeatsAreShared(t *testing.T) {
	a, b := openPair(t)
	f := a.put("f", noiseOf(1, 1<<16), false)
	holdSeats(t, a, 9, transport.ServesPerPeer, hostile.Blob)
	rig.Await(t, "all places are taken",
		func() bool { return rig.Served(a.transport.Host(), hostile.Blob) == transport.ServesAll })
	if err := b.runner.Get(t.Context(), a.self, &f); err != nil || !b.hasBlob(f) {
		t.Errorf("fetch in a crowd: %v", err)
	}
}
