package p2p

import (
	"context"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/wire"
)

// rootKey is that of the networks with certificates.
var rootKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// openIssuer founds a network with certificates.
func openIssuer(t testing.TB, change func(*Config)) *member {
	return openMember(t, filepath.Join(t.TempDir(), "issuer"), func(c *Config) {
		c.RootKey = rootKey
		if change != nil {
			change(c)
		}
	})
}

// invite returns an invite for one node.
func (m *member) invite(name string, roles ...string) string {
	m.t.Helper()
	text, err := m.Invite(name, roles, 1, time.Hour)
	if err != nil {
		m.t.Fatal(err)
	}
	return text
}

// letIn opens a member that the issuer lets in; it knows the addresses of others, too.
func (m *member) letIn(name string, change func(*Config), roles []string, others ...*member) *member {
	m.t.Helper()
	join := []string{m.invite(name, roles...)}
	for _, o := range others {
		join = append(join, wire.Token{Secret: m.secret, Addrs: o.Addrs()}.String())
	}
	return openMember(m.t, filepath.Join(m.t.TempDir(), name), change, join...)
}

var (
	mayRun    = []string{"run"}
	maySubmit = []string{"submit"}
	mayBoth   = []string{"run", "submit"}
)

// Whoever has an invite is let in, once; whoever has not, with the secret of the network or without, is not.
func TestOnlyTheInvitedGetIn(t *testing.T) {
	t.Parallel()
	a := openIssuer(t, nil)
	invite := a.invite("b", "run", "submit")
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, invite)
	waitUp(t, a, b)

	var denied atomic.Value
	openMember(t, filepath.Join(t.TempDir(), "second"), func(c *Config) {
		c.Fatal = func(err error) { denied.Store(err.Error()) }
	}, invite)
	rig.Await(t, "the second use is denied", func() bool { return denied.Load() != nil })
	if text := denied.Load().(string); !strings.Contains(text, "used up: 1 of 1 uses are taken") {
		t.Errorf("the second node is told %q", text)
	}

	// The outsider knows the network's secret, as every member does, and the addresses.
	forged := wire.Token{Secret: a.secret, Addrs: append(a.Addrs(), b.Addrs()...)}
	out := openMember(t, filepath.Join(t.TempDir(), "outsider"), nil, forged.String())
	rig.Await(t, "failed dials", func() bool { return !out.reach.Dialable(a.self) && !out.reach.Dialable(b.self) })
	if out.fake.count(grid.EvPeerUp) != 0 {
		t.Error("the outsider got in")
	}
	if n := len(a.transport.Peers()); n != 1 {
		t.Errorf("the issuer has %d peers: want the one that was let in", n)
	}
	if _, err := a.Token(); err == nil || !strings.Contains(err.Error(), "skep node invite") {
		t.Errorf("a token of the old kind: %v", err)
	}
}

// A node that was let in comes back without invite, when the issuer is away too.
func TestMembersComeBackWithoutIssuer(t *testing.T) {
	t.Parallel()
	a := openIssuer(t, nil)
	b := a.letIn("b", nil, mayRun)
	c := a.letIn("c", nil, mayRun, b)
	waitUp(t, a, b, c)
	a.close()
	dir, at := b.cfg.DataDir, b.listenAddr()
	b.close()
	b = reopenAt(t, dir, at)
	waitUp(t, b, c)
}

// Joining waits until the issuer is there, and goes on after a restart without the invite.
func TestJoiningWaitsForTheIssuer(t *testing.T) {
	t.Parallel()
	a := openIssuer(t, nil)
	invite, dir, at := a.invite("b", "run"), a.cfg.DataDir, a.listenAddr()
	a.close()
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, invite)
	if b.keeper.Of(b.self) != nil {
		t.Error("a certificate without the issuer")
	}
	b.close()
	b = openMember(t, b.cfg.DataDir, nil)
	waitUp(t, reopenAt(t, dir, at), b)
}

// Certificates are renewed while nodes run, and those that hold older ones are told.
func TestCertificatesAreRenewed(t *testing.T) {
	t.Parallel()
	const life = 4 * time.Second
	a := openIssuer(t, func(c *Config) { c.life = life })
	b := a.letIn("b", nil, mayRun)
	c := a.letIn("c", nil, mayRun, b)
	waitUp(t, a, b, c)
	first := b.keeper.Of(b.self)
	rig.Await(t, "a newer certificate at all", func() bool {
		newer := func(at *member) bool { return at.keeper.Of(b.self).Until > first.Until }
		return newer(a) && newer(b) && newer(c)
	})
	if b.fake.count(grid.EvPeerDown) != 0 {
		t.Error("a connection ended")
	}
}

// Bar: whoever is put out is heard by nobody within 2 s of the acknowledgement; one that was away refuses him at once
// when it comes back.
func TestRevocationReachesAll(t *testing.T) {
	a := openIssuer(t, nil)
	var all []*member
	for _, name := range []string{"b", "c", "d", "e", "f", "g"} {
		all = append(all, a.letIn(name, nil, mayRun, all...))
	}
	away := a.letIn("away", nil, mayRun, all...)
	bad := a.letIn("bad", nil, mayBoth, append([]*member{away}, all...)...)
	all = append(all, a)
	waitUp(t, append([]*member{bad, away}, all...)...)
	dir, at := away.cfg.DataDir, away.listenAddr()
	away.close()

	stop, sent := make(chan struct{}), make(chan struct{})
	go func() { // the bad node goes on sending to all
		defer close(sent)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				bad.do(func(fx *grid.Effects) {
					for _, m := range all {
						fx.Send(m.self, grid.KindKeepalive)
					}
				})
			}
		}
	}()
	defer func() { close(stop); <-sent }()
	heard := func(m *member) (n int) {
		for _, ev := range m.fake.all(grid.EvMessage) {
			if ev.Peer == bad.self {
				n++
			}
		}
		return n
	}
	for _, m := range all {
		rig.Await(t, m.cfg.Name+" hears the bad node", func() bool { return heard(m) > 0 })
	}
	if _, _, err := a.Revoke("bad"); err != nil {
		t.Fatal(err)
	}
	acknowledged := time.Now()
	last, counts := time.Duration(0), make([]int, len(all))
	for time.Since(acknowledged) < 3*time.Second {
		for i, m := range all {
			if n := heard(m); n != counts[i] {
				counts[i], last = n, time.Since(acknowledged)
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Logf("last message of the node that was put out: %v after the acknowledgement", last)
	if last > 2*time.Second {
		t.Errorf("the node that was put out was heard %v later", last)
	}
	for _, m := range all {
		if m.transport.Connected(bad.self) {
			t.Errorf("%s is connected to the node that was put out", m.cfg.Name)
		}
	}
	away = reopenAt(t, dir, at)
	waitUp(t, away, all[0])
	if heard(away) != 0 || away.fake.isUp(bad.self) {
		t.Error("a node that comes back lets in the one that was put out")
	}
}

// What a role does not allow is not to be had of others: jobs of a node without the role submit run nowhere else.
func TestRolesAreEnforced(t *testing.T) {
	t.Parallel()
	a := openIssuer(t, nil)
	worker := a.letIn("worker", nil, mayRun)
	guest := a.letIn("guest", nil, maySubmit, worker)
	waitUp(t, a, worker, guest)
	if err := worker.Submit(context.Background(), worker.job(1), rig.Sh("true")); err == nil ||
		!strings.Contains(err.Error(), "no role submit") {
		t.Errorf("a job submitted at a node without the role: %v", err)
	}
	offer := func(fx *grid.Effects) {
		id := grid.AttemptID{Task: grid.TaskID{Job: worker.job(2)}, Attempt: grid.Attempt{N: 1}}
		job := rig.Sh("true")
		job.Submitter.Node = worker.self
		spec, err := wire.SealSpec(worker.key, worker.job(2), job)
		if err != nil {
			t.Error(err)
		}
		fx.Send(guest.self, grid.KindOffer).Offer = grid.Offer{ID: id, Spec: spec, Class: grid.ClassOf(spec)}
		fx.Send(guest.self, grid.KindKeepalive)
	}
	worker.do(offer)
	rig.Await(t, "what follows the offer", func() bool {
		_, ok := guest.fake.find(grid.EvMessage, func(ev *grid.Event) bool { return ev.Msg.Kind == grid.KindKeepalive })
		return ok
	})
	if _, ok := guest.fake.find(grid.EvMessage, func(ev *grid.Event) bool { return ev.Msg.Kind == grid.KindOffer }); ok {
		t.Error("an offer of a node without the role submit was taken")
	}
	if !guest.fake.cfg.Private || worker.fake.cfg.Private {
		t.Error("want the node without the role run to take only what is submitted to it")
	}
	if worker.IsAdmin(guest.self) || !worker.IsAdmin(a.self) {
		t.Error("want the issuer alone to be an admin")
	}
}

// A new identity in a copied data folder is another node: it wants an invite of its own.
func TestNewIdentityWantsAnInvite(t *testing.T) {
	t.Parallel()
	a := openIssuer(t, nil)
	b := a.letIn("b", nil, mayRun)
	waitUp(t, a, b)
	b.close()
	dir := b.cfg.DataDir
	if _, err := Renew(dir, true); err != nil {
		t.Fatal(err)
	}
	token, err := Rejoin(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tryOpenMember(t, dir, nil, token); err == nil || !strings.Contains(err.Error(), "want an invite") {
		t.Errorf("without an invite: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "certificates", "root")); err != nil {
		t.Errorf("the folder has forgotten its network's root: %v", err)
	}
	waitUp(t, a, openMember(t, dir, nil, a.invite("b2", "run")))
}

// Real nodes of a network with certificates run a job for each other; one without the role run gets no task of others.
func TestRealNodesWithCertificates(t *testing.T) {
	t.Parallel()
	real := func(c *Config) { c.newNode, c.CPUs = nil, grid.CPU }
	a := openIssuer(t, real)
	b, c := a.letIn("b", real, mayBoth), a.letIn("c", real, mayRun)
	guest := a.letIn("guest", real, maySubmit)
	for _, m := range []*member{a, b, c, guest} {
		rig.Await(t, m.cfg.Name+" sees the others", func() bool { return m.connected() >= 3 })
	}
	b.timeJob(1, 60)
	where := map[grid.NodeID]int{}
	b.Read(t.Context(), func(n *node.Node, _ grid.Time) {
		for _, v := range n.Tasks(b.job(1), nil) {
			where[v.Worker]++
		}
	})
	if where[guest.self] != 0 {
		t.Errorf("%d tasks ran at the node without the role run", where[guest.self])
	}
	guest.timeJob(1, 20)
}
