package hostile

import (
	"path/filepath"
	"testing"
	"time"

	"skep/grid"
	"skep/node/p2p"
)

// A node accepts a hostile member as a member; otherwise its attacks would show nothing.
func TestAHostileMemberIsAMember(t *testing.T) {
	cfg := p2p.Config{DataDir: filepath.Join(t.TempDir(), "a"), Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Name: "a"}
	cfg.Node.Speed = 1
	d, err := p2p.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(t.Context())
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Join(t.Context(), Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Node() != d.Self() {
		t.Errorf("joined %v: want %v", m.Node().Short(), d.Self().Short())
	}
	talk, err := m.Control(t.Context(), m.Node())
	if err != nil {
		t.Fatal(err)
	}
	ghost, err := Ghost("ghost", "/ip4/192.0.2.1/tcp/22")
	if err != nil {
		t.Fatal(err)
	}
	if err := talk.Say(Digest(ghost)); err != nil {
		t.Fatal(err)
	}
	if err := talk.Frame([]byte{0xff}); err != nil {
		t.Fatal(err)
	}
	g, err := m.Gossip(t.Context(), m.Node())
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Announcement([]byte{byte(grid.KindPoll)<<3 | 2, 0})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Send(&RPC{Subscribe: []string{m.Topic()}, Publish: []*Published{a}}); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		if n := d.Dropped(); n["malformed"] == 1 && n["misplaced"] == 1 && n["signature"] == 0 {
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatalf("dropped %v: want the frame and the announcement to have been read, and nothing to be forged", d.Dropped())
		}
	}
}
