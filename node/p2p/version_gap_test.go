package p2p

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"skep/grid"
	"skep/node/p2p/internal/rig"
)

// lockedLog is a log that several goroutines write.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Two nodes of different versions of the control protocol are connected and have no session: each names the version of
// the other as the reason, and says once in its log which of the two is the older one.
func TestNodesOfOtherVersionsAreNamed(t *testing.T) {
	logs := map[string]*lockedLog{"old": {}, "new": {}}
	open := func(name string, change func(*Config), join ...string) *member {
		return openMember(t, filepath.Join(t.TempDir(), name), func(c *Config) {
			c.Logger = slog.New(slog.NewTextHandler(logs[name], nil))
			change(c)
		}, join...)
	}
	a := open("old", func(*Config) {})
	b := open("new", func(c *Config) { c.control = "/skep/control/7" }, a.token())
	for _, x := range []struct {
		at, of       *member
		theirs, ours uint64
	}{{a, b, 7, 1}, {b, a, 1, 7}} {
		rig.Await(t, x.at.cfg.Name+" says why", func() bool {
			g, ok := x.at.VersionGaps()[x.of.self]
			return ok && g.Theirs == x.theirs && g.Ours == x.ours && g.Older() == (x.theirs < x.ours)
		})
		said := logs[x.at.cfg.Name].String()
		if n := strings.Count(said, "another version of the control protocol"); n != 1 ||
			!strings.Contains(said, x.of.self.Short()) {
			t.Errorf("%s says so %d times:\n%s", x.at.cfg.Name, n, said)
		}
		if older := strings.Contains(said, `"this is older"=true`); older != (x.ours < x.theirs) {
			t.Errorf("%s says that it is older: %v\n%s", x.at.cfg.Name, older, said)
		}
		if n := x.at.fake.count(grid.EvPeerUp); n != 0 {
			t.Errorf("%s is told that %d peers are up", x.at.cfg.Name, n)
		}
	}
	c := openMember(t, filepath.Join(t.TempDir(), "same"), nil, a.token())
	waitUp(t, a, c)
	if _, ok := a.VersionGaps()[c.self]; ok {
		t.Error("a node of the same version is said to be of another one")
	}
}
