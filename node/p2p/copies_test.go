package p2p

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/internal/hostile"
	"skep/node/p2p/identity"
	"skep/node/p2p/instance"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/reachability"
)

// copyFolder copies the data folder of a node that is stopped.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"identity", "secret"} {
		if err := os.Chmod(filepath.Join(to, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// heardOf returns how often the member's node heard that a peer is up, and that it is down.
func (m *member) heardOf(n grid.NodeID) (up, down int) {
	m.fake.mu.Lock()
	defer m.fake.mu.Unlock()
	for i := range m.fake.seen {
		switch ev := &m.fake.seen[i]; {
		case ev.Kind == grid.EvPeerUp && ev.Peer == n:
			up++
		case ev.Kind == grid.EvPeerDown && ev.Peer == n:
			down++
		}
	}
	return up, down
}

// A node whose data folder was copied goes on; the one that is started with the copy does not start, and says why.
// Peers hear nothing of it but that there were two.
func TestCopyOfADataFolderDoesNotStart(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	rig.Await(t, "b saves a", func() bool { return slices.Contains(b.reach.Recent(8), a.self) })
	b.close()
	dir := copyFolder(t, b.cfg.DataDir)
	again := openMember(t, b.cfg.DataDir, nil)
	waitUp(t, a, again)
	up, down := a.heardOf(b.self)

	_, err := tryOpenMember(t, dir, nil)
	if err == nil {
		t.Fatal("a node with the copied folder runs")
	}
	for _, want := range []string{b.self.Short(), dir, "another node runs with it", "127.0.0.1", "--new-identity"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q: want %q in it", err, want)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q: want one line", err)
	}
	if c, ok := again.Copies()[b.self]; !ok || c.Witness != a.self || c.Process != uint32(os.Getpid()) {
		t.Errorf("the node that goes on knows of %+v, %v: want the copy", c, ok)
	}
	if c, ok := a.Copies()[b.self]; !ok || c.Witness != a.self {
		t.Errorf("the peer knows of %+v, %v: want that there were two", c, ok)
	}
	if u, d := a.heardOf(b.self); u != up || d != down {
		t.Errorf("the peer heard %d and %d times more that the node is up, or down: want never", u-up, d-down)
	}
	if !a.transport.Up(b.self) || !again.transport.Up(a.self) {
		t.Error("the two are not connected any more")
	}
}

// Two that start while nobody can tell them apart find out from the first peer that both meet: the one that began later
// stops, and says nothing to others that would be taken for a word of the one that goes on.
func TestLaterOfTwoCopiesStops(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	addr := a.listenAddr()
	rig.Await(t, "b saves a", func() bool { return slices.Contains(b.reach.Recent(8), a.self) })
	b.close()
	a.close()
	dir := copyFolder(t, b.cfg.DataDir)
	var stopped [2]atomic.Pointer[string]
	open := func(i int, dir string) *member {
		return openMember(t, dir, func(c *Config) {
			c.Fatal = func(err error) {
				text := err.Error()
				if stopped[i].Swap(&text) != nil {
					t.Errorf("copy %d is stopped twice", i)
				}
			}
		})
	}
	first := open(0, b.cfg.DataDir)
	second := open(1, dir)
	if first.self != second.self || first.instance == second.instance {
		t.Fatal("want one identity and two instances")
	}
	again := reopenAt(t, a.cfg.DataDir, addr)
	rig.Await(t, "one of the copies stops", func() bool { return stopped[0].Load() != nil || stopped[1].Load() != nil })
	kept, gone := first, second
	if stopped[0].Load() != nil {
		kept, gone = second, first
	}
	gone.close()
	rig.Await(t, "the other one is up", func() bool {
		return kept.transport.Up(again.self) && again.transport.Up(kept.self)
	})
	if stopped[0].Load() != nil && stopped[1].Load() != nil {
		t.Error("both stop")
	}
	select {
	case <-gone.inbox.Closed():
	case <-time.After(rig.Timeout):
		t.Error("the one that stops steps on")
	}
	if up, down := again.heardOf(kept.self); up != down+1 {
		t.Errorf("the peer heard %d times that the node is up and %d times that it is down", up, down)
	}
	again.fake.mu.Lock()
	defer again.fake.mu.Unlock()
	for i := range again.fake.seen {
		if ev := &again.fake.seen[i]; ev.Kind == grid.EvMessage && ev.Msg.Kind == grid.KindBye {
			t.Error("the copy announced that the node leaves")
		}
	}
	if _, ok := kept.Copies()[kept.self]; !ok {
		t.Error("the one that goes on does not know of the copy")
	}
}

// A member that says falsely that another process has a node's identity stops nobody: it cannot sign as the node, and
// what the node itself signs proves nothing to it.
func TestLyingWitnessStopsNobody(t *testing.T) {
	t.Parallel()
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil) // its Fatal fails the test
	r := newSilentRogue(t, a)
	ask := func(request []byte) []byte { // what a answers to a witness
		st, err := r.NewStream(t.Context(), identity.Peer(a.self), instance.Protocol)
		if err != nil {
			return nil
		}
		defer st.Reset()
		proof := append([]byte{2}, request[1:]...)
		var head [2]byte
		if _, err := st.Write(proof); err != nil {
			return nil
		}
		if _, err := io.ReadFull(st, head[:]); err != nil {
			return nil
		}
		b := make([]byte, head[1])
		io.ReadFull(st, b)
		return append(head[:], b...)
	}
	var lies atomic.Int32
	r.SetStreamHandler(instance.Protocol, func(st network.Stream) {
		defer st.Close()
		request := make([]byte, 41)
		if _, err := io.ReadFull(st, request); err != nil || request[0] != 1 {
			return
		}
		var answer []byte
		switch lies.Add(1) % 3 {
		case 0: // the node's own signature for its own challenge
			answer = ask(request)
		case 1: // its signature for another asker, which is no instance
			request[40]++
			answer = ask(request)
		default: // somebody else's
			answer = append([]byte{0, 90}, make([]byte, 90)...)
		}
		st.Write(append(answer, 0))
	})
	lying := helloOf(1)
	lying.Other = 77
	r.SetStreamHandler(hostile.Control, func(st network.Stream) { answerHello(st, lying) })
	if err := r.Network().ClosePeer(identity.Peer(a.self)); err != nil { // it has answered truly before
		t.Fatal(err)
	}
	rig.Dial(t, r.Host, a.Addrs())
	rig.Await(t, "the node has asked", func() bool { return lies.Load() >= 3 || a.Dropped()["instance"] > 0 })
	if n := len(a.Copies()); n != 0 {
		t.Errorf("it believes in %d copies: want none", n)
	}
	if a.copies.halted.Load() {
		t.Error("the node stops on a member's word")
	}
}

// A copy that gets a new identity is another member of the same network, and knows nothing of the other's jobs.
func TestNewIdentityOfACopy(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	b.run(1, rig.Sh("true"))
	rig.Await(t, "b saves a", func() bool { return reachability.CountSaved(t.Context(), b.store.Datastore()) > 0 })
	b.close()
	dir := copyFolder(t, b.cfg.DataDir)
	again := openMember(t, b.cfg.DataDir, nil)
	if _, err := Renew(b.cfg.DataDir); err == nil {
		t.Error("the folder of a node that runs gets another identity")
	}
	token, err := Renew(dir)
	if err != nil {
		t.Fatal(err)
	}
	other := openMember(t, dir, nil, token)
	waitUp(t, a, again)
	waitUp(t, a, other)
	if other.self == b.self || other.secret != b.secret {
		t.Error("want another identity in the same network")
	}
	if n := len(other.fake.old); n != 0 {
		t.Errorf("it restores %d records of the other node", n)
	}
	if _, err := Renew(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no node has run") {
		t.Errorf("an empty folder: %v", err)
	}
}
