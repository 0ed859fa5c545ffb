package p2p

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"skep/exec/sandbox"
	"skep/grid"
	"skep/node/p2p/disk"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
)

func TestCalibrationIsSaved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	var speeds [2]float64
	for i := range speeds {
		m := openMember(t, dir, func(c *Config) { c.Node.Speed = 0 })
		speeds[i] = m.fake.cfg.Speed
		m.close()
	}
	t.Logf("speed %.3g", speeds[0])
	if speeds[0] <= 0 || speeds[0] != speeds[1] {
		t.Errorf("speeds %v: want one measured once", speeds)
	}
}

func TestLabelsAndCapacity(t *testing.T) {
	m := openMember(t, filepath.Join(t.TempDir(), "a"), func(c *Config) {
		c.Labels = []grid.Label{{Key: "zone", Value: "x"}, {Key: "hostname", Value: "mine"}}
		c.CPUs, c.Memory, c.Version = 1500, grid.GiB, "1.2"
	})
	got := map[string]string{}
	for i, l := range m.fake.cfg.Labels {
		got[l.Key] = l.Value
		if i > 0 && m.fake.cfg.Labels[i-1].Key >= l.Key {
			t.Error("labels are not in order")
		}
	}
	if got["zone"] != "x" || got["hostname"] != "mine" || got["os"] == "" || got["arch"] == "" ||
		got["skep.version"] != "1.2" {
		t.Errorf("labels %v", got)
	}
	if m.fake.cfg.Capacity != (grid.Resources{CPU: 1500, Memory: grid.GiB}) {
		t.Errorf("capacity %v", m.fake.cfg.Capacity)
	}
}

func TestLowDiskSpace(t *testing.T) {
	m := openMember(t, filepath.Join(t.TempDir(), "a"), func(c *Config) { c.DiskLow = 1 << 60 })
	rig.Await(t, "the node hears that space is low", func() bool {
		ev, ok := m.fake.find(grid.EvDisk, nil)
		return ok && ev.Low
	})
	m.fake.mu.Lock()
	defer m.fake.mu.Unlock()
	if first := m.fake.seen[0].Kind; first != grid.EvStart {
		t.Errorf("the node's first event is %v", first)
	}
}

// If the node is root each attempt has its own user ID, which owns its inputs.
func TestAttemptsHaveTheirOwnUserAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run tasks as other users")
	}
	m := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	seen := make(map[string]bool)
	for i := range byte(3) {
		spec := rig.Sh("id -u; cat in; echo more >>in; cat in | wc -l")
		spec.Inputs = []grid.File{m.put("in", []byte("input\n"), false)}
		r := m.run(1+i, spec)
		id, rest, _ := strings.Cut(string(r.Stdout.Inline), "\n")
		if n, err := strconv.ParseUint(id, 10, 32); err != nil || uint32(n) < sandbox.DefaultRange.First ||
			rest != "input\n2\n" {
			t.Errorf("stdout %q, stderr %q, %s", r.Stdout.Inline, r.Stderr.Inline, r.Error)
		}
		seen[id] = true
	}
	if len(seen) != 3 {
		t.Errorf("3 attempts ran as %d users", len(seen))
	}
}

func TestLocalNetworkSearch(t *testing.T) {
	if os.Getenv("SKEP_MDNS") == "" {
		t.Skip("SKEP_MDNS is not set: needs a network with multicast")
	}
	everywhere := func(c *Config) { c.MDNS, c.Listen = true, []string{"/ip4/0.0.0.0/tcp/0"} }
	a := openMember(t, filepath.Join(t.TempDir(), "a"), everywhere)
	dir := filepath.Join(t.TempDir(), "b")
	os.Mkdir(dir, 0o700)
	if err := identity.SaveSecret(dir, a.secret); err != nil {
		t.Fatal(err)
	}
	b := openMember(t, dir, everywhere) // with the secret, and no address
	start := time.Now()
	waitUp(t, a, b)
	t.Logf("found in %v", time.Since(start))
}

func TestNoFileOfATaskCanFillTheDisk(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	free, err := disk.Free(a.Driver.cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	r := a.run(1, rig.Sh("ulimit -f"))
	blocks, err := strconv.ParseInt(strings.TrimSpace(string(r.Stdout.Inline)), 10, 64)
	if err != nil || blocks <= 0 || grid.Bytes(blocks)*512 > free+64*grid.MiB {
		t.Errorf("a task may write files of %q blocks of 512 bytes (%v): want at most the %d bytes that are free",
			r.Stdout.Inline, err, free)
	}
}
