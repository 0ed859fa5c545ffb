package discovery

import (
	"maps"
	"slices"

	"skep/grid"
)

// Forward picks the next node of a walk. It may keep state; it draws only from the given randomness.
type Forward interface {
	// Next picks where the walk goes: one of the eligible neighbours, or another node that it knows and that is open
	// to this walk. It reports false if there is none.
	Next(h *Hop) (grid.NodeID, bool)

	// Learn records that a request was met by the node of the ad: it took the task.
	Learn(now grid.Time, key uint64, ad *grid.Ad)

	// Fail records that a walk sent to the node for the key did not end with it, or that it refused the task. It is
	// lost if nothing came back at all.
	Fail(now grid.Time, key uint64, node grid.NodeID, lost bool)
}

// Hop is a choice of the next node.
type Hop struct {
	Now      grid.Time
	Rand     *grid.Rand
	Key      uint64        // the same for similar needs
	Eligible []grid.NodeID // neighbours open to the walk, sorted by identity; may be empty

	visited []grid.NodeID
	shut    [3]grid.NodeID // this node, the sender, the asker
}

// Open reports whether the walk may go to a node: it has not visited it.
func (h *Hop) Open(n grid.NodeID) bool {
	return n != h.shut[0] && n != h.shut[1] && n != h.shut[2] && !slices.Contains(h.visited, n)
}

var forwards = map[string]func(c *Config) Forward{
	"random_walk":             func(*Config) Forward { return randomWalk{} },
	"learning":                func(c *Config) Forward { return inform(c, true, false) },
	"best_neighbour":          func(c *Config) Forward { return inform(c, false, true) },
	"learning_best_neighbour": func(c *Config) Forward { return inform(c, true, true) },
}

// Forwards lists the names of the forwarding strategies, in order.
func Forwards() []string { return slices.Sorted(maps.Keys(forwards)) }

// randomWalk picks any neighbour with equal probability [1].
type randomWalk struct{}

func (randomWalk) Next(h *Hop) (grid.NodeID, bool) {
	if len(h.Eligible) == 0 {
		return grid.NodeID{}, false
	}
	return h.Eligible[h.Rand.IntN(len(h.Eligible))], true
}

func (randomWalk) Learn(grid.Time, uint64, *grid.Ad)         {}
func (randomWalk) Fail(grid.Time, uint64, grid.NodeID, bool) {}

// informed asks nodes that met requests before [1]. Learning: one that met a request of this kind; best neighbour: the
// one that met most, of any kind; both: the former, else the latter. Where there is none, and sometimes besides, it
// walks at random.
type informed struct {
	cfg           *Config
	learns, ranks bool
	known         experience
	best          ranking
}

func inform(c *Config, learns, ranks bool) *informed {
	return &informed{cfg: c, learns: learns, ranks: ranks, best: ranking{load: c.Load}}
}

func (f *informed) Next(h *Hop) (to grid.NodeID, ok bool) {
	f.best.age(h.Now, f.cfg.Age)
	if f.cfg.Explore == 0 || h.Rand.Float64() >= f.cfg.Explore {
		if f.learns {
			to, ok = f.provider(h)
		}
		if f.ranks && !ok && (f.cfg.BestShare == 1 || h.Rand.Float64() < f.cfg.BestShare) {
			to, ok = f.best.pick(h)
		}
	}
	if !ok {
		to, ok = randomWalk{}.Next(h)
	}
	if ok && f.ranks {
		f.best.sent(to)
	}
	return to, ok
}

// provider picks a node that met requests for the key: the newest, or, where load counts, the one that this node has
// sent least.
func (f *informed) provider(h *Hop) (to grid.NodeID, ok bool) {
	least := 0.0
	for _, p := range f.known.of(h.Now, f.cfg.Age, h.Key) {
		if !h.Open(p.node) {
			continue
		}
		load := 0.0
		if f.ranks && f.cfg.Load > 0 {
			load = f.best.burden(p.node)
		}
		if !ok || load < least {
			to, ok, least = p.node, true, load
		}
	}
	return to, ok
}

func (f *informed) Learn(now grid.Time, key uint64, ad *grid.Ad) {
	if f.learns {
		f.known.met(now, key, ad.Node, f.cfg.Keys)
	}
	if f.ranks {
		f.best.age(now, f.cfg.Age)
		f.best.met(ad)
	}
}

func (f *informed) Fail(_ grid.Time, key uint64, node grid.NodeID, lost bool) {
	f.known.failed(key, node)
	if lost {
		f.best.lost(node)
	}
}
