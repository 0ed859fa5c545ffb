package p2p

import (
	"testing"

	"skep/grid"
	"skep/node/p2p/internal/rig"
)

func TestTwoNodesRunATask(t *testing.T) {
	a, b := openPair(t)
	ev, ok := a.fake.find(grid.EvPeerUp, func(ev *grid.Event) bool { return ev.Peer == b.self })
	if !ok || ev.RTT <= 0 || ev.Kinds != grid.AllKinds || ev.Features != grid.AllFeatures {
		t.Errorf("peer up: RTT %v, kinds %x, features %x: want a measured RTT, and all kinds and features", ev.RTT, ev.Kinds,
			ev.Features)
	}
	r := a.run(1, rig.Sh("echo out; echo err >&2; exit 3"))
	if r.Cause != grid.Exited || r.Exit != 3 || string(r.Stdout.Inline) != "out\n" || string(r.Stderr.Inline) != "err\n" {
		t.Errorf("result %+v: want exit 3 with out and err", r)
	}
}
