package sim

import (
	"fmt"
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
