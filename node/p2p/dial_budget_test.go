package p2p

import (
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"skep/grid"
	"skep/internal/hostile"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/transport/dials"
)

// A member sends ads of nodes that do not exist, each with the address of a third party, and the node takes them
// all for neighbours. The third party gets no more dials than the budget of one reporter.
func TestForgedAdsCauseFewDials(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	m := rig.Attacker(t, a.token())
	talk, err := m.Control(t.Context(), a.self)
	if err != nil {
		t.Fatal(err)
	}
	victim := rig.ListenThirdParty(t)
	at := fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", victim.Addr().(*net.TCPAddr).Port)
	const ghosts = 60
	var links []grid.Link
	for i := range ghosts {
		ad, err := hostile.Ghost(fmt.Sprint("ghost", i), at)
		if err != nil {
			t.Fatal(err)
		}
		if err := talk.Say(hostile.Digest(ad)); err != nil {
			t.Fatal(err)
		}
		links = append(links, grid.Link{Peer: ad.Node, Keep: true})
	}
	rig.Await(t, "all ghosts are known", func() bool { return a.fake.count(grid.EvMessage) >= ghosts })
	a.do(func(fx *grid.Effects) { fx.Links = links })
	rig.Await(t, "every ghost was tried, or was not", func() bool {
		return int(victim.Connections())+int(a.Dropped()["dial beyond the budget"]) >= ghosts
	})
	if n := victim.Connections(); n > dials.PerReporter+4 { // plus what accrues meanwhile
		t.Errorf("a third party was dialled %d times: want %d at once", n, dials.PerReporter)
	}
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	waitUp(t, a, b)
	a.reach.Learn(b.self, b.reach.Advertised(grid.MaxAddrs), b.self)
	a.transport.Host().Network().ClosePeer(identity.Peer(b.self))
	rig.Await(t, "an honest member is back", func() bool { return b.fake.count(grid.EvPeerUp) > 1 && a.fake.isUp(b.self) })
}
