package p2p

import (
	"encoding/binary"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/runner"
	"skep/node/p2p/transport"
)

// joinRealNode connects the rogue to a member with a real node, which does not show who is up.
func joinRealNode(t *testing.T, a *member) *rogue {
	t.Helper()
	r := newSilentRogue(t, a)
	r.open(a)
	rig.Await(t, "the rogue is up", func() bool { return a.transport.Up(r.node) })
	return r
}

// TestFloods has a member send well-formed but false messages as fast as it can, and read nothing.
func TestFloods(t *testing.T) {
	a := openReal(t, filepath.Join(t.TempDir(), "a"))
	b := openReal(t, filepath.Join(t.TempDir(), "b"), a.token())
	rig.Await(t, "a sees b", func() bool { return a.connected() >= 1 })
	before := runtime.NumGoroutine()
	r := joinRealNode(t, a)
	quiet := a.timeJob(1, 20)
	done := attemptOf(a)
	gone := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: r.node, Nonce: [10]byte{9}}},
		Attempt: grid.Attempt{Epoch: 1, N: 1}}
	r.st.SetWriteDeadline(time.Now().Add(rig.Timeout))
	const times = 1000
	for i := range uint64(times) {
		offered := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: r.node}}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
		binary.BigEndian.PutUint64(offered.Task.Job.Nonce[2:], i)
		for _, m := range []*grid.Message{
			{Kind: grid.KindAccept, Attempts: []grid.AttemptID{done}},
			{Kind: grid.KindBeat, Attempts: []grid.AttemptID{done}},
			{Kind: grid.KindDrop, Attempts: []grid.AttemptID{gone}},
			{Kind: grid.KindOffer, Offer: grid.Offer{ID: offered, Spec: rig.Sh("exit 0"), Class: "x", Lease: time.Minute}},
			{Kind: grid.KindPoll, Poll: grid.Poll{ID: i, Class: "x"}},
			{Kind: grid.KindFind, Find: grid.Find{ID: i, Asker: r.node, Engine: grid.EngineProcess,
				Needs: grid.Needs{Resources: grid.Resources{CPU: 1}}, Within: time.Second, Left: 8}},
		} {
			if err := r.send(m); err != nil {
				t.Fatalf("%v: %v", m.Kind, err)
			}
		}
	}
	var open int
	for ; open < 2*transport.ServesPerPeer; open++ { // incomplete requests
		st, err := r.NewStream(t.Context(), identity.Peer(a.self), runner.BlobProtocol)
		if err != nil {
			break
		}
		st.Write(make([]byte, runner.BlobRequest-1))
	}
	busy := a.timeJob(2, 20)
	t.Logf("20 tasks took %v before the flood and %v in it; %d streams open; dropped %v", quiet, busy, open, a.Dropped())
	r.Close()
	rig.Await(t, "nothing is left of the rogue", func() bool { return runtime.NumGoroutine() <= before+10 })
	if b.connected() == 0 {
		t.Error("the honest peer is gone")
	}
}

// TestForgedResultsBlockTheirSender has a member send results of attempts that it was never offered.
func TestForgedResultsBlockTheirSender(t *testing.T) {
	a := openReal(t, filepath.Join(t.TempDir(), "a"))
	b := openReal(t, filepath.Join(t.TempDir(), "b"), a.token())
	rig.Await(t, "a sees b", func() bool { return a.connected() >= 1 })
	r := joinRealNode(t, a)
	a.timeJob(1, 20)
	done := attemptOf(a)
	r.st.SetWriteDeadline(time.Now().Add(rig.Timeout))
	for range 4 * maxOffences {
		if r.send(&grid.Message{Kind: grid.KindResult, Attempts: []grid.AttemptID{done},
			Result: &grid.Result{Cause: grid.Exited, Exit: 9}}) != nil {
			break
		}
	}
	rig.Await(t, "the forger is cut off", func() bool {
		return a.Dropped()["cut off"] > 0 && !a.transport.Connected(r.node)
	})
	a.Read(t.Context(), func(n *node.Node, at grid.Time) {
		if v, _ := n.Task(done.Task); v.Result == nil || v.Result.Exit != 0 {
			t.Errorf("a forged result counts: %+v", v.Result)
		}
	})
	if b.connected() == 0 {
		t.Error("the honest peer is gone")
	}
}
