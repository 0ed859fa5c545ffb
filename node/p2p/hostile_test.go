package p2p

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"

	"skep/grid"
	"skep/internal/hostile"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/wire"
)

// rogue is a member that knows the secret and sends anything.
type rogue struct {
	host.Host
	key  ed25519.PrivateKey
	node grid.NodeID
	st   network.Stream
	t    *testing.T
}

func helloOf(boot uint64) *wire.Hello {
	return &wire.Hello{Version: wire.Version, Kinds: grid.AllKinds, Boot: boot}
}

// newSilentRogue makes a rogue that is connected and has said nothing yet.
func newSilentRogue(t *testing.T, a *member) *rogue {
	t.Helper()
	pub, key, _ := ed25519.GenerateKey(nil)
	m, err := hostile.Join(t.Context(), hostile.Options{Token: a.token(), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return &rogue{Host: m.Host(), key: key, node: grid.NodeID(pub), t: t}
}

// sayHello begins a control stream.
func sayHello(st network.Stream, own *wire.Hello) error {
	for range 3 {
		body := own.Append(nil)
		if _, err := st.Write(append(binary.AppendUvarint(nil, uint64(len(body))), body...)); err != nil {
			return err
		}
		if err := hearHello(st); err != nil {
			return err
		}
	}
	return nil
}

// answerHello answers the hellos of a control stream.
func answerHello(st network.Stream, own *wire.Hello) {
	for range 3 {
		if hearHello(st) != nil {
			return
		}
		body := own.Append(nil)
		st.Write(append(binary.AppendUvarint(nil, uint64(len(body))), body...))
	}
}

func hearHello(st network.Stream) error {
	var size [1]byte
	if _, err := io.ReadFull(st, size[:]); err != nil {
		return err
	}
	if size[0] >= 0x80 { // two bytes of length
		var high [1]byte
		if _, err := io.ReadFull(st, high[:]); err != nil {
			return err
		}
		_, err := io.ReadFull(st, make([]byte, int(size[0]&0x7f)|int(high[0])<<7))
		return err
	}
	_, err := io.ReadFull(st, make([]byte, size[0]))
	return err
}

// maxOffences is how many offences at once a peer may commit.
const maxOffences = 20

func newRogue(t *testing.T, a *member) *rogue {
	t.Helper()
	r := newSilentRogue(t, a)
	r.open(a)
	rig.Await(t, "the rogue is up", func() bool { return a.fake.isUp(r.node) })
	return r
}

func (r *rogue) open(a *member) {
	r.t.Helper()
	st, err := r.NewStream(context.Background(), identity.Peer(a.self), hostile.Control)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := sayHello(st, helloOf(1)); err != nil {
		r.t.Fatal(err)
	}
	r.st = st
}

// send sends a properly encoded message.
func (r *rogue) send(m *grid.Message) error {
	var c wire.Codec
	b, err := c.Append(nil, m, func(a *grid.Ad) []byte { return a.Sealed })
	if err != nil {
		r.t.Fatal(err)
	}
	return r.frame(b)
}

func attemptOf(m *member) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: m.job(1)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
}

func (r *rogue) frame(body []byte) error {
	_, err := r.st.Write(append(binary.AppendUvarint(nil, uint64(len(body))), body...))
	return err
}

// attempt returns an attempt of a job of the rogue's own, and signed that job's spec as the rogue signs it.
func (r *rogue) attempt(nonce byte) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: r.node, Nonce: [10]byte{nonce}}},
		Attempt: grid.Attempt{Epoch: 1, N: 1}}
}

func (r *rogue) signed(nonce byte, user string) *grid.JobSpec {
	r.t.Helper()
	s := rig.Sh("exit 9")
	s.Submitter = grid.Submitter{Node: r.node, User: user}
	sealed, err := wire.SealSpec(r.key, r.attempt(nonce).Task.Job, s)
	if err != nil {
		r.t.Fatal(err)
	}
	return sealed
}

// forged returns a digest with an ad of another node, signed by the rogue.
func (r *rogue) forged(victim grid.NodeID) []byte {
	ad := &grid.Ad{Node: r.node, Seq: grid.Seq{Boot: 1, N: 1}, Speed: 1}
	sealed, err := wire.Seal(r.key, ad)
	if err != nil {
		r.t.Fatal(err)
	}
	sealed = append([]byte(nil), sealed...)
	sealed[len(sealed)/2] ^= 1
	m := grid.Message{Kind: grid.KindDigest,
		Digest: []grid.AdEntry{{Ad: &grid.Ad{Node: victim, Sealed: sealed, Speed: 1}}}}
	var c wire.Codec
	b, err := c.Append(nil, &m, func(a *grid.Ad) []byte { return a.Sealed })
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

func TestHostilePeersAreBlocked(t *testing.T) {
	a, b := openPair(t)
	tests := []struct {
		name, reason string
		say          func(r *rogue) error
	}{
		{"rubbish", "malformed", func(r *rogue) error { return r.frame([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3}) }},
		{"broken message", "malformed", func(r *rogue) error { return r.frame([]byte{byte(grid.KindPoll)<<3 | 2, 9, 1}) }},
		{"nothing", "malformed", func(r *rogue) error { return r.frame(nil) }},
		{"announcement on a control stream", "misplaced",
			func(r *rogue) error { return r.frame([]byte{byte(grid.KindCall)<<3 | 2, 0}) }},
		{"forged ad", "signature", func(r *rogue) error { return r.frame(r.forged(b.self)) }},
		{"job in another user's name", "signature", func(r *rogue) error {
			s := r.signed(1, "rogue")
			s.Sealed = strings.Replace(s.Sealed, "rogue", "admin", 1)
			return r.send(&grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: r.attempt(1), Spec: s, Class: "x"}})
		}},
		{"job that its origin signed for another ID", "signature", func(r *rogue) error {
			return r.send(&grid.Message{Kind: grid.KindWrite, Register: grid.RegisterMessage{Job: r.attempt(2).Task.Job,
				Epoch: 1, Spec: r.signed(1, "rogue"),
				Members: []grid.NodeID{r.node, a.self, b.self}}})
		}},
		{"oversize", "size", func(r *rogue) error {
			_, err := r.st.Write(binary.AppendUvarint(nil, 1<<40))
			return err
		}},
		{"foreign offer", "foreign", func(r *rogue) error {
			return r.send(&grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: attemptOf(b), Spec: rig.Sh("exit 9"),
				Class: "x"}})
		}},
		{"foreign drop", "foreign", func(r *rogue) error {
			return r.send(&grid.Message{Kind: grid.KindDrop, Attempts: []grid.AttemptID{attemptOf(b)}})
		}},
		{"foreign result", "foreign", func(r *rogue) error {
			return r.send(&grid.Message{Kind: grid.KindResult, Attempts: []grid.AttemptID{attemptOf(b)},
				Result: &grid.Result{Cause: grid.Exited}})
		}},
		{"framing", "framing", func(r *rogue) error {
			_, err := r.st.Write([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80})
			return err
		}},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRogue(t, a)
			before := a.Dropped()[tt.reason]
			for range maxOffences + 1 {
				if tt.say(r) == nil && (tt.reason == "size" || tt.reason == "framing") {
					r.st.SetReadDeadline(time.Now().Add(rig.Timeout))
					r.st.Read(make([]byte, 1)) // the node resets the stream
				} else if r.Network().Connectedness(identity.Peer(a.self)) == network.Connected {
					continue
				}
				if r.Network().Connectedness(identity.Peer(a.self)) != network.Connected {
					break
				}
				if st, err := r.NewStream(context.Background(), identity.Peer(a.self), hostile.Control); err == nil {
					r.st = st
					sayHello(st, helloOf(1))
				}
			}
			rig.Await(t, "the rogue is cut off", func() bool { return !a.fake.isUp(r.node) && !a.transport.Connected(r.node) })
			if n := a.Dropped()[tt.reason] - before; n < 5 {
				t.Errorf("%d counted as %s: want those that were sent", n, tt.reason)
			}
			if _, err := a.transport.Host().Network().DialPeer(t.Context(), identity.Peer(r.node)); !errors.Is(err,
				swarm.ErrGaterDisallowedConnection) {
				t.Error("the rogue may come back at once")
			}
			if got := a.run(byte(i+1), rig.Sh("echo still here")); string(got.Stdout.Inline) != "still here\n" {
				t.Errorf("the node does not go on: %+v", got)
			}
		})
	}
	if !a.fake.isUp(b.self) {
		t.Error("the honest peer is gone")
	}
}

func TestLaterVersionsAreNoOffence(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	r := newRogue(t, a)
	for range 3 * maxOffences {
		if err := r.frame([]byte{60<<3&0x7f | 2 | 0x80, 60 << 3 >> 7, 0}); err != nil {
			t.Fatal(err)
		}
	}
	rig.Await(t, "all unknown kinds are counted", func() bool { return a.Dropped()["kind"] == 3*maxOffences })
	if !a.fake.isUp(r.node) {
		t.Error("a peer of a later version was cut off")
	}
}

func TestGossipBeyondItsRateIsDropped(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	r := newRogue(t, a)
	var c wire.Codec
	digest, err := c.Append(nil, &grid.Message{Kind: grid.KindDigest}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const sent = 1000
	for range sent {
		if err := r.frame(digest); err != nil {
			t.Fatal(err)
		}
	}
	rig.Await(t, "the flood is over", func() bool {
		return int(a.Dropped()["rate"]+a.transport.Counts().Received[grid.KindDigest].Load()) == sent
	})
	if got := a.transport.Counts().Received[grid.KindDigest].Load(); got > sent/2 {
		t.Errorf("%d of %d digests got through: want about the burst", got, sent)
	}
}

func TestPeerRestartReplacesTheSession(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	r := newRogue(t, a)
	r.RemoveStreamHandler(hostile.Control)
	r.SetStreamHandler(hostile.Control, func(st network.Stream) {
		answerHello(st, helloOf(2))
	})
	st, err := r.NewStream(context.Background(), identity.Peer(a.self), hostile.Control)
	if err != nil {
		t.Fatal(err)
	}
	sayHello(st, helloOf(2))
	rig.Await(t, "the peer goes down and up", func() bool {
		return a.fake.count(grid.EvPeerDown) == 1 && a.fake.count(grid.EvPeerUp) == 2 && a.fake.isUp(r.node)
	})
}
