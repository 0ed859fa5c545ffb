package p2p

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ds "github.com/ipfs/go-datastore"

	"skep/grid"
	"skep/node"
	"skep/node/generation"
	"skep/node/p2p/internal/rig"
)

// keptOf returns the number of the newest commit of another node that a member has on disk; 0 = of none.
func (m *member) keptOf(n grid.NodeID) (saved uint64) {
	m.t.Helper()
	b, err := m.store.Datastore().Get(m.t.Context(), ds.NewKey("/generation/"+n.String()))
	if err == nil && len(b) == 8+generation.Size {
		saved = binary.BigEndian.Uint64(b[8+16:])
	}
	return saved
}

// openAlone opens a member with the real node that keeps its jobs alone, and returns where it tells why it stops.
func openAlone(t *testing.T, dir string, change func(*Config), join ...string) (*member, chan error) {
	stopped := make(chan error, 1)
	m := openMember(t, dir, func(c *Config) {
		c.newNode, c.Node = nil, node.Defaults()
		c.Node.Members, c.Node.Speed = 1, 1
		c.Fatal = func(err error) { stopped <- err }
		if change != nil {
			change(c)
		}
	}, join...)
	return m, stopped
}

// A node whose data folder was put back to an earlier state stops, and says why, as soon as it meets a node that it
// worked with; that one may have restarted meanwhile. So of its tasks none runs twice that ran since. Put back to the
// state in which it was stopped last, it goes on.
func TestNodeThatWasPutBackStops(t *testing.T) {
	t.Parallel()
	shared := sharedFolder(t)
	ran := func() (n int) {
		files, err := os.ReadDir(shared)
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	a := openReal(t, filepath.Join(t.TempDir(), "a"))
	dir := filepath.Join(t.TempDir(), "b")
	b, _ := openAlone(t, dir, nil, a.token())
	spec := rig.Sh("mktemp " + filepath.Join(shared, strings.Repeat("X", 8)))
	spec.Count, spec.Retries, spec.Wait = 3, 0, true
	spec.Needs.Labels = []grid.LabelNeed{{Key: "zone", Values: []string{"late"}}}
	if err := b.Submit(t.Context(), b.job(1), spec); err != nil {
		t.Fatal(err)
	}
	b.close()
	early := copyFolder(t, dir)

	b, _ = openAlone(t, dir, nil)
	inZone := func(c *Config) {
		c.newNode, c.Labels = nil, []grid.Label{{Key: "zone", Value: "late"}}
	}
	w := openMember(t, filepath.Join(t.TempDir(), "w"), inZone, a.token(), b.token()) // b need not hear of it by a
	rig.Await(t, "the tasks end", func() bool { return b.view(b.job(1)).Ended == 3 })
	rig.Await(t, "their worker has on disk how far b has saved", func() bool { return w.keptOf(b.self) > 0 })
	saved := b.store.Saved()
	rig.Await(t, "and a too", func() bool { return a.keptOf(b.self) > 0 })
	if k := max(a.keptOf(b.self), w.keptOf(b.self)); k > saved {
		t.Errorf("b told that it had saved up to %d, and has up to %d", k, saved)
	}
	b.close()
	late := copyFolder(t, dir)
	addr, dirW := w.Addrs()[0], w.cfg.DataDir
	w.close()
	addr, _, _ = strings.Cut(addr, "/p2p/")
	w = openMember(t, dirW, func(c *Config) { inZone(c); c.Listen = []string{addr} })

	back, stopped := openAlone(t, early, nil, a.token())
	var err error
	select {
	case err = <-stopped:
	case <-time.After(20 * time.Second): // longer than it waits for others before it acts
	}
	if !errors.Is(err, ErrPutBack) {
		t.Fatalf("stopped for %v, want that the folder was put back; %d attempts of three tasks have run", err, ran())
	}
	for _, want := range []string{early, "put back to an earlier state", b.self.Short(), "--new-identity"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q: want %q in it", err, want)
		}
	}
	if n := ran(); n != 3 {
		t.Errorf("%d attempts of three tasks have run: want each once", n)
	}
	back.close()
	if _, err := tryOpenMember(t, early, nil); !errors.Is(err, ErrPutBack) {
		t.Errorf("started again where it reaches nobody: %v, want that it remembers", err)
	}

	again, stopped := openAlone(t, late, nil, a.token())
	rig.Await(t, "a sees it", func() bool { return a.transport.Up(again.self) })
	if v := again.view(b.job(1)); v.Ended != 3 || v.Exit != 0 {
		t.Errorf("job %+v: want three tasks ended", v)
	}
	select {
	case err := <-stopped:
		t.Errorf("put back to the newest state it stops: %v", err)
	default:
	}
}
