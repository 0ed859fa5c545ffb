package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/node"
	"skep/sim/keys"
)

// host is a machine that a node runs on: what outlives the node's crash, and what the world knows of it.
//
// Fields that every event of a node reads come first, in two cache lines: nodes wake in random order, so each line that
// an event touches is a miss.
type host struct {
	up                  bool
	lost                bool // never starts again
	full                bool // its disk is nearly full
	reportsAvailability bool // its node was told an availability below 1
	drifted             bool // pastClocks is not empty
	hostile             Behaviour
	boots               uint64
	clock
	pausedUntil  grid.Time // it handles no event before
	member       Member    // nil while it is down
	links        []link    // sorted by peer
	slow         float64   // factor by which it is slower than normal, 1 or more
	stalledUntil grid.Time // its disk writes nothing before
	disk         disk

	pastClocks     []pastClock // the clock before changes of its drift in this run
	id             grid.NodeID
	coreShare      float64          // share of the cores that other users leave
	upSince        grid.Time        // start of the current run
	deferred       []*grid.Event    // events that arrived while it was paused
	startedTooLate []grid.AttemptID // attempts whose start came after their start lease
	runs           int32            // chain of the runs on this node
	used           grid.Resources
	busy           float64 // core-seconds of ended runs
	cap            grid.Resources
	pace
	unanswered []int32 // submissions without an answer
	blobs      map[grid.BlobID]struct{}
}

// pace is how fast the runs of a node are.
type pace struct {
	speed float64 // of those that have cores to themselves, relative to normal
	level float64 // of those that share the cores: see proportional.Level
}

// boot is the number of the current run, as in events.
func (h *host) boot() uint16 { return uint16(h.boots) }

// wallStart is the wall time at which worlds begin.
var wallStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// nodeID returns a node's identity: its index, then pseudorandom bytes as of a key.
func nodeID(i int, seed uint64) grid.NodeID {
	var id grid.NodeID
	put32(id[:], uint32(i))
	for at := 4; at < len(id); at += 4 {
		put32(id[at:], uint32(splitmix(seed+uint64(i)<<8+uint64(at))))
	}
	return id
}

// index returns the node with an identity, or -1. Where nothing is checked, the index that the identity begins with is
// believed. Otherwise the identity is computed, which costs less than to look it up: that node's memory is seldom in
// the processor's cache.
func (w *World) index(id grid.NodeID) int32 {
	i := get32(id[:])
	if i < uint32(len(w.hosts)) && (w.cfg.Check == CheckNothing || nodeID(int(i), w.cfg.Seed) == id) {
		return int32(i)
	}
	return -1
}

// Member returns a running node, or nil while it is down.
func (w *World) Member(i int) Member { return w.hosts[i].member }

// NodeConfig returns the configuration of a node's current run.
func (w *World) NodeConfig(i int) (node.Config, grid.Wall) {
	h := &w.hosts[i]
	c := node.Defaults()
	c.Members, c.Pull = 1, false
	c.Name = fmt.Sprint("n", i)
	c.Capacity = grid.Resources{CPU: 4 * grid.CPU, Memory: 4 * grid.GiB}
	c.Labels = []grid.Label{{Key: "arch", Value: "amd64"}, {Key: "os", Value: "linux"}}
	if w.cfg.Node != nil {
		w.cfg.Node(i, &c)
	}
	c.Labels = w.versionLabels(int32(i), c.Labels)
	c.Decisions = 0 // nobody reads them
	c.Self, c.Boot, c.Known, c.Signer = h.id, w.bootOf(i), w.known(i), keys.Of(w.cfg.Seed, h.id)
	c.Scratch, c.Balance.Scratch = &w.scratch.node, &w.scratch.lp
	c.Seed = splitmix(w.cfg.Seed ^ splitmix(uint64(i)<<20+h.boots))
	return c, grid.Wall{Zero: wallStart.Add(h.wall - time.Duration(h.offset-h.since))}
}

// start begins a new run of a node with the records of earlier ones.
func (w *World) start(i int32) {
	h := &w.hosts[i]
	if h.up || h.lost {
		return
	}
	h.boots++
	h.offset, h.since, h.pastClocks = grid.Time(w.rng.Int64N(int64(1000*time.Hour)))+w.now, w.now, h.pastClocks[:0]
	h.drifted = false
	if w.stores != nil {
		w.stores.Start(w.now, i, w.known(int(i)))
	}
	cfg, wall := w.NodeConfig(int(i))
	m, err := w.cfg.Make(cfg, wall)
	if err != nil {
		w.failf(i, "the node cannot be made: %v", err)
		return
	}
	if h.hostile = w.cfg.Hostile(int(i)); h.hostile != 0 {
		m = newHostile(m, h.hostile, &cfg)
		w.books.Hostile(i)
	}
	h.member, h.up, h.upSince, h.cap = m, true, w.now, cfg.Capacity
	w.books.Started(i, m, cfg.Capacity)
	w.restore(i)
	w.ev = grid.Event{Kind: grid.EvStart}
	w.step(i, &w.ev)
	w.reportAvailability(i)
	if h.full {
		w.ev = grid.Event{Kind: grid.EvDisk, Low: true}
		w.step(i, &w.ev)
	}
	w.dialKnown(i)
	w.resubmit = append(w.resubmit[:0], h.unanswered...)
	for _, s := range w.resubmit {
		w.submit(s)
	}
}

// crash ends a node's run between two steps: its tasks die, unwritten records are lost.
func (w *World) crash(i int32) {
	h := &w.hosts[i]
	if !h.up {
		return
	}
	h.up, h.member, h.pausedUntil, h.deferred, h.startedTooLate = false, nil, 0, nil, nil
	w.books.Stopped(i)
	if w.stores != nil {
		w.stores.Stop(w.now, i)
	}
	w.upTime += w.now.Sub(h.upSince)
	w.loseUnwritten(i)
	w.killRuns(i)
	w.dropConns(i)
	if w.wireFree != nil {
		w.wireFree[i] = 0
	}
}

// Index returns the node with an identity, or -1.
func (w *World) Index(id grid.NodeID) int { return int(w.index(id)) }

// Nodes that join while the world goes on, and take the places of those that died for good.

// joinsLater reports whether a node starts first when a fault has it join.
func (c *Config) joinsLater(i int) bool {
	return slices.ContainsFunc(c.Faults, func(f Fault) bool { return f.Kind == Join && slices.Contains(f.Nodes, i) })
}

// join starts a node for the first time. Whoever set it up knew some nodes that are up.
func (w *World) join(i int32) {
	if w.hosts[i].boots > 0 {
		return
	}
	var up []int32
	for k := range w.hosts {
		if w.hosts[k].up && int32(k) != i {
			up = append(up, int32(k))
		}
	}
	w.rng.Shuffle(len(up), func(a, b int) { up[a], up[b] = up[b], up[a] })
	if !w.cfg.Network.Mesh {
		up = up[:min(len(up), w.cfg.Network.Join)]
	}
	for _, k := range up {
		w.addPersistent(i, k)
	}
	w.start(i)
}

// addReplacements has members of registers be replaced in a sixth of the worlds that have such.
func addReplacements(seed uint64, c *Config) {
	if r := grid.NewRand(seed, 99); membersOf(seed) > 1 && c.Nodes > 3 && r.IntN(6) == 0 {
		replaceSome(r, c)
	}
}

// replaceSome has members be replaced that are silent for a while, up to three nodes die for good one after the other,
// most of them later than that, and new ones join. Tasks take long, that registers live to see it.
func replaceSome(r *grid.Rand, c *Config) {
	after := []time.Duration{time.Second, 25 * time.Second, 40 * time.Second}[r.IntN(3)]
	other, rate, n := c.Node, c.Machine.Rate, c.Nodes
	c.Conserves, c.Hindsight = false, false // nobody is to find a node at once that has just joined
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		n.ReplaceAfter, n.Bounds = after, nil
	}
	c.Machine.Rate = func(class string, i int) float64 { return rate(class, i) / 8 }
	die, at := r.Perm(n)[:1+r.IntN(min(3, n/2))], time.Duration(0)
	for k, i := range die {
		at += time.Duration(r.Int64N(int64(30 * time.Second)))
		join := at + time.Duration(r.Int64N(int64(40*time.Second)))
		c.Faults = append(c.Faults, Fault{At: at, Kind: Lose, Nodes: []int{i}},
			Fault{At: join, Kind: Join, Nodes: []int{n + k}})
		at += max(after, 20*time.Second)
	}
	c.Nodes += len(die)
	slices.SortStableFunc(c.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}
