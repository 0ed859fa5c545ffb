package p2p

import (
	"io"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/internal/hostile"
	"skep/node/p2p/identity"
	"skep/node/p2p/instance"
	"skep/node/p2p/internal/rig"
)

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

// A member that has a node check all the time does not keep it from finding a copy of which another peer tells.
func TestBusyMemberHidesNoCopy(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	rig.Await(t, "b saves a", func() bool { return slices.Contains(b.reach.Recent(8), a.self) })
	b.close()
	dir := copyFolder(t, b.cfg.DataDir)
	again := openMember(t, b.cfg.DataDir, nil)
	waitUp(t, a, again)
	r := newSilentRogue(t, again)
	prove := append([]byte{2}, make([]byte, 40)...)
	prove[40] = 1
	flood := func(until func(answered int) bool) {
		for answered := 0; !until(answered); {
			st, err := r.NewStream(t.Context(), identity.Peer(again.self), instance.Protocol)
			if err != nil {
				continue
			}
			st.Write(prove)
			if b, _ := io.ReadAll(st); len(b) > 0 {
				answered++
			}
			st.Reset()
		}
	}
	flood(func(answered int) bool { return answered >= 12 }) // more checks than it may ask for
	go flood(func(int) bool { return t.Context().Err() != nil })
	if _, err := tryOpenMember(t, dir, nil); err == nil {
		t.Fatal("a node with the copied folder runs")
	}
	rig.Await(t, "the node that goes on knows of the copy", func() bool {
		c, ok := again.Copies()[again.self]
		return ok && c.Witness == a.self
	})
}
