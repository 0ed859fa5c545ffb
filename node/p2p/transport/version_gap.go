package transport

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"
	"golang.org/x/time/rate"

	"skep/grid"
	"skep/node/p2p/identity"
)

// A peer whose control protocol is of another version can be connected to, and nothing else: there is no session
// with it. Each of the two finds that as it opens its own control stream. It is told apart from a peer that is
// merely silent by the protocols that libp2p says it has.

// Bounds of what is remembered of such peers. A node that is away for longer than gapLasts has been dialled in vain
// often.
const (
	maxGaps  = 32 // each is a line of lists, and a member may invent as many as it likes
	gapLasts = 15 * time.Minute
	gapTold  = time.Hour // between two lines of the log about a peer
)

// Lines of the log about all such peers: some at once, and one in a while.
const (
	gapLines     = 20
	gapLineEvery = time.Minute
)

// VersionGap is that a peer speaks another version of the control protocol.
type VersionGap struct {
	Theirs, Ours uint64
	Seen         time.Time
}

// Older reports whether the peer's is the older version.
func (g *VersionGap) Older() bool { return g.Theirs < g.Ours }

// gap is one that is remembered.
type gap struct {
	VersionGap
	told time.Time
}

// versionGaps are the peers of another version that were met last.
type versionGaps struct {
	mu    sync.Mutex
	by    *simplelru.LRU[grid.NodeID, gap]
	lines *rate.Limiter
}

func newVersionGaps() *versionGaps {
	by, err := simplelru.NewLRU[grid.NodeID, gap](maxGaps, nil)
	if err != nil {
		panic("transport: version gaps: " + err.Error())
	}
	return &versionGaps{by: by, lines: rate.NewLimiter(rate.Every(gapLineEvery), gapLines)}
}

// note remembers a peer, in place of the one that was seen longest ago if there are too many, and reports whether to
// tell of it.
func (v *versionGaps) note(n grid.NodeID, g VersionGap) (tell bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	was, _ := v.by.Peek(n)
	tell = was.Theirs != g.Theirs || g.Seen.Sub(was.told) >= gapTold
	if tell = tell && v.lines.AllowN(g.Seen, 1); tell {
		was.told = g.Seen
	}
	v.by.Add(n, gap{g, was.told})
	return tell
}

// closed forgets a peer with which there is a session.
func (v *versionGaps) closed(n grid.NodeID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.by.Remove(n)
}

// all returns those that were met lately.
func (v *versionGaps) all(now time.Time) map[grid.NodeID]VersionGap {
	v.mu.Lock()
	defer v.mu.Unlock()
	found := make(map[grid.NodeID]VersionGap, v.by.Len())
	for _, n := range v.by.Keys() {
		if g, _ := v.by.Peek(n); now.Sub(g.Seen) < gapLasts {
			found[n] = g.VersionGap
		}
	}
	return found
}

// VersionGaps returns the peers met in the last minutes that speak another version of the control protocol.
func (t *Transport) VersionGaps() map[grid.NodeID]VersionGap { return t.gaps.all(time.Now()) }

// noteRefusal takes the error of opening a control stream, and remembers a peer that speaks another version.
func (s *session) noteRefusal(err error) {
	if !errors.Is(err, multistream.ErrNotSupported[protocol.ID]{}) {
		return
	}
	has, err := s.t.host.Peerstore().GetProtocols(identity.Peer(s.node))
	if err != nil {
		return
	}
	ours := controlVersion(s.t.cfg.Control)
	theirs := uint64(0)
	for _, id := range has {
		if v := controlVersion(id); v != ours {
			theirs = max(theirs, v)
		}
	}
	if theirs == 0 {
		return
	}
	g := VersionGap{Theirs: theirs, Ours: ours, Seen: time.Now()}
	if s.t.gaps.note(s.node, g) {
		s.t.cfg.Log.Warn("a peer speaks another version of the control protocol: neither takes work of the other until "+
			"the older one is brought up to date", "node", s.node.Short(), "theirs", theirs, "ours", ours,
			"this is older", !g.Older())
	}
}

// controlFamily is what the control protocols of all versions begin with.
const controlFamily = "/skep/control/"

// controlVersion is the version of a control protocol; 0 = it is none.
func controlVersion(id protocol.ID) uint64 {
	text, ok := strings.CutPrefix(string(id), controlFamily)
	if !ok {
		return 0
	}
	v, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0
	}
	return v
}
