package credentials

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/security/noise"

	"skep/node/p2p/identity"
)

// secured returns noise with a node's key, and with its certificates.
func secured(t *testing.T, k *Keeper) (plain, with sec.SecureTransport) {
	priv, err := crypto.UnmarshalEd25519PrivateKey(k.cfg.Key)
	if err != nil {
		t.Fatal(err)
	}
	plain, err = noise.New(noise.ID, priv, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain, k.Secure(plain)
}

// dialled returns both ends of a TCP connection.
func dialled(t *testing.T) (out, in net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if out, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if in, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close(); in.Close() })
	return out, in
}

// A connection of members is handed on, and carries bytes.
func TestSecuredConnectionOfMembers(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	a, b := w.member(by, "a"), w.member(by, "b")
	_, ofA := secured(t, a)
	_, ofB := secured(t, b)
	out, in := dialled(t)
	got := make(chan error, 1)
	go func() {
		c, err := ofB.SecureInbound(t.Context(), in, "")
		if err == nil {
			_, err = io.ReadFull(c, make([]byte, 5))
		}
		got <- err
	}()
	c, err := ofA.SecureOutbound(t.Context(), out, identity.Peer(b.cfg.Self))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	if c.RemotePeer() != identity.Peer(b.cfg.Self) {
		t.Errorf("the peer is %v", c.RemotePeer())
	}
}

// A stranger that has come through the handshake gets nothing but the answer that it is refused: what would be its
// muxer, identify or pubsub is no frame of this exchange, and the connection is closed.
func TestStrangerIsServedNothing(t *testing.T) {
	w := newWorld(t)
	by := w.issuer()
	_, ofB := secured(t, by)
	stranger := w.config("stranger")
	for _, says := range []string{"/multistream/1.0.0\n/yamux/1.0.0\n", "\x00\x00\x00\x01\x00\x00\x00\x01",
		"\x00\x01\x03", ""} {
		k := &Keeper{cfg: stranger}
		plain, _ := secured(t, k)
		out, in := dialled(t)
		refused := make(chan error, 1)
		begin := time.Now()
		go func() {
			_, err := ofB.SecureInbound(context.Background(), in, "")
			refused <- err
		}()
		c, err := plain.SecureOutbound(t.Context(), out, peer.ID(identity.Peer(by.cfg.Self)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(says)); err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(10 * time.Second))
		answer, err := io.ReadAll(c)
		if errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 8*time.Second {
			t.Errorf("%q: the connection is open after %v", says, time.Since(begin))
		}
		if err := <-refused; err == nil {
			t.Errorf("%q: the connection is handed on", says)
		}
		if len(answer) > 2+1+maxReason || len(answer) > 2 && answer[2] == answerOK {
			t.Errorf("%q: the answer is %q", says, answer)
		}
	}
}

// One address has so many exchanges at a time, whoever waits on them; another one has its own.
func TestSeats(t *testing.T) {
	s := newSeats()
	at := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }
	done, cancel := context.WithCancel(t.Context())
	cancel()
	var frees []func()
	for range seatsPerNet {
		free, err := s.take(t.Context(), at("192.0.2.1"))
		if err != nil {
			t.Fatal(err)
		}
		frees = append(frees, free)
	}
	if _, err := s.take(done, at("192.0.2.1")); !errors.Is(err, errBusy) {
		t.Errorf("one more from an address: %v", err)
	}
	free, err := s.take(t.Context(), at("192.0.2.2"))
	if err != nil {
		t.Errorf("another address: %v", err)
	}
	free()
	frees[0]()
	if free, err = s.take(t.Context(), at("192.0.2.1")); err != nil {
		t.Errorf("after one was given back: %v", err)
	}
	free()
	for _, free := range frees[1:] {
		free()
	}
	if len(s.nets) != 0 || len(s.all) != 0 {
		t.Errorf("%d networks and %d seats are left", len(s.nets), len(s.all))
	}
	a, b := netOf(at("2001:db8::1")), netOf(at("2001:db8:0:ff::1"))
	if a != b || a == netOf(at("2001:db8:0:100::1")) || netOf(nil) != netOf(&net.UnixAddr{Name: "x"}) {
		t.Error("want an IPv6 /56 to be a network")
	}
}
