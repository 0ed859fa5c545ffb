package p2p

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/reachability"
	"skep/node/p2p/wire"
)

func TestStrangerCannotConnect(t *testing.T) {
	t.Parallel() // it waits for the dial's deadline
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	// The stranger knows the address but not the secret.
	forged := wire.Token{Secret: [32]byte{1}, Addrs: a.Addrs()}
	s := openMember(t, filepath.Join(t.TempDir(), "stranger"), nil, forged.String())
	rig.Await(t, "a failed dial", func() bool { return !s.reach.Dialable(a.self) })
	if s.fake.count(grid.EvPeerUp) != 0 || a.fake.count(grid.EvPeerUp) != 0 || len(a.transport.Peers()) != 0 {
		t.Error("a stranger without the secret got in")
	}
	b := openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	waitUp(t, a, b)
}

func TestAllowList(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	friend := filepath.Join(t.TempDir(), "friend")
	os.Mkdir(friend, 0o700)
	key, err := identity.LoadKey(friend, grid.NodeID{})
	if err != nil {
		t.Fatal(err)
	}
	f := grid.NodeID(key[32:])
	gated := openMember(t, filepath.Join(t.TempDir(), "gated"), func(c *Config) { c.Allow = []grid.NodeID{f} }, a.token())
	b := openMember(t, friend, nil, gated.token())
	waitUp(t, gated, b)
	if gated.fake.isUp(a.self) || gated.fake.count(grid.EvPeerUp) != 1 {
		t.Error("a node that is not on the allow-list got in")
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	token := a.token()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := "/ip4/127.0.0.1/tcp/" + l.Addr().String()[len("127.0.0.1:"):]
	own := a.listenAddr()
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	tests := []struct {
		name   string
		change func(*Config)
		join   string
		want   string
	}{
		{"token cut", nil, token[:len(token)/2], "token"},
		{"no token", nil, "hello", "token"},
		{"port in use", func(c *Config) { c.Listen = []string{port} }, token, "address already in use"},
		{"port of another node", func(c *Config) { c.Listen = []string{own} }, token, "address already in use"},
		{"bad address", func(c *Config) { c.Listen = []string{"127.0.0.1:4001"} }, token, "want a multiaddress"},
		{"udp address", func(c *Config) { c.Listen = []string{"/ip4/127.0.0.1/udp/1"} }, token, "/tcp/PORT"},
		{"os label", func(c *Config) { c.Labels = []grid.Label{{Key: "os", Value: "plan9"}} }, token, "cannot be set"},
		{"label not printable", func(c *Config) { c.Labels = []grid.Label{{Key: "zone", Value: "a\u202eb"}} }, token,
			`"zone"="a\u202eb": want`},
		{"name not printable", func(c *Config) { c.Name = "\u009b2J" }, token, `name "\u009b2J": want printable text`},
		{"bad label", func(c *Config) { c.Labels = []grid.Label{{Key: "a b"}} }, token, "want a key"},
		{"negative memory", func(c *Config) { c.Memory = -1 }, token, "memory -1"},
		{"absurd cpus", func(c *Config) { c.CPUs = 1 << 40 }, token, "cpus"},
		{"share", func(c *Config) { c.Share = map[string]float64{"x": 2} }, token, "share 2"},
		{"no folder", func(c *Config) { c.DataDir = "" }, token, "data folder"},
		{"folder is a file", func(c *Config) { c.DataDir = file }, token, "data folder"},
		{"folder in use", func(c *Config) { c.DataDir = a.cfg.DataDir }, "", "in use"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new")
			empty := t.TempDir()
			var join []string
			if tt.join != "" {
				join = []string{tt.join}
			}
			for _, dir := range []string{dir, empty} {
				_, err := tryOpenMember(t, dir, tt.change, join...)
				if err == nil {
					t.Fatal("started")
				}
				if text := err.Error(); !strings.Contains(text, tt.want) || strings.Contains(text, "\n") {
					t.Errorf("error %q: want one line with %q", text, tt.want)
				}
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("left a folder behind")
			}
			if left, _ := os.ReadDir(empty); len(left) > 0 {
				t.Errorf("left %v behind", left)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(a.cfg.DataDir, identity.SecretFile)); err != nil {
		t.Errorf("the node in whose folder another one tried to start: %v", err)
	}
}

func TestRedialAfterRestart(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	// b comes back on its own, with its saved contacts; a cannot know b's new port.
	rig.Await(t, "b saves a", func() bool { return reachability.CountSaved(b.work.Context(), b.store.Datastore()) > 0 })
	b.close()
	rig.Await(t, "a hears that b is down", func() bool { return !a.fake.isUp(b.self) })
	b = openMember(t, b.cfg.DataDir, nil)
	waitUp(t, a, b)
	// The node that others joined by comes back on the same port: they find it again.
	port := a.listenAddr()
	a.close()
	rig.Await(t, "b hears that a is down", func() bool { return !b.fake.isUp(a.self) })
	a = reopenAt(t, a.cfg.DataDir, port)
	rig.Dial(t, b.transport.Host(), a.Addrs()) // do not wait for the back-off
	waitUp(t, a, b)
}
