package p2p

import (
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/node/p2p/hostile"
)

// crowd has so many identities of one attacker take all the places that a protocol gives them, and keep them.
func crowd(t *testing.T, a *member, identities, streams int, id protocol.ID) {
	t.Helper()
	for range identities {
		m := attacker(t, a)
		for range streams {
			st, err := m.Stream(t.Context(), a.self, id)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := st.Write([]byte("G")); err != nil { // a request that does not come to its end
				t.Fatal(err)
			}
		}
	}
}

// Nine identities hold all places of the members' door, with more than they may have. A member that holds none is let in.
func TestTheDoorCannotBeFilled(t *testing.T) {
	a := begin(t, filepath.Join(t.TempDir(), "a"), nil)
	go func() { // as the API does: every visit is held until its end
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
	crowd(t, a, 9, apiPerPeer, hostile.Door)
	await(t, "the door is full", func() bool { return a.apiListener.seats.Taken() == apiAll })
	b := begin(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	meet(t, a, b)
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

// Requests for blobs that never come to their end do not keep a member from its own.
func TestBlobsAreServedInACrowd(t *testing.T) {
	a, b := pair(t)
	f := a.put("f", noiseOf(1, 1<<16), false)
	crowd(t, a, 9, servesPerPeer, hostile.Blob)
	await(t, "all places are taken", func() bool { return a.blobsServed.Taken() == servesAll })
	if err := b.fetches.get(t.Context(), a.self, &f); err != nil || !b.holds(f) {
		t.Errorf("fetch in a crowd: %v", err)
	}
}
