package discovery

import (
	"maps"
	"slices"

	"skep/grid"
)

// Forward decides where a walk goes next. It may keep state; it draws only from the randomness given.
type Forward interface {
	// Next picks where the walk goes: one of the eligible neighbours, or another node that it knows and that is
	// open to this walk. It reports false if there is none.
	Next(h *Hop) (grid.NodeID, bool)

	// Learn tells that a request was met by the node of the ad: it took the task.
	Learn(now grid.Time, key uint64, ad *grid.Ad)

	// Fail tells that a walk sent to the node for the key did not end with it, or that it refused the task. It
	// is lost if nothing came back at all.
	Fail(now grid.Time, key uint64, node grid.NodeID, lost bool)
}

// Hop is a choice to be made.
type Hop struct {
	Now      grid.Time
	Rand     *grid.Rand
	Key      uint64        // the same for needs that are alike
	Eligible []grid.NodeID // neighbours open to the walk, ordered by identity; may be empty

	visited []grid.NodeID
	shut    [3]grid.NodeID // this node, the sender, the asker
}

// Open reports whether the walk may go to a node: it has not been there.
func (h *Hop) Open(n grid.NodeID) bool {
	return n != h.shut[0] && n != h.shut[1] && n != h.shut[2] && !slices.Contains(h.visited, n)
}

var forwards = map[string]func(c *Config) Forward{
	"random_walk":             func(*Config) Forward { return randomWalk{} },
	"learning":                func(c *Config) Forward { return inform(c, true, false) },
	"best_neighbour":          func(c *Config) Forward { return inform(c, false, true) },
	"learning_best_neighbour": func(c *Config) Forward { return inform(c, true, true) },
}

// Forwards lists the names of the ways to forward, in order.
func Forwards() []string { return slices.Sorted(maps.Keys(forwards)) }

// randomWalk picks any neighbour, each with the same chance [1].
type randomWalk struct{}

func (randomWalk) Next(h *Hop) (grid.NodeID, bool) {
	if len(h.Eligible) == 0 {
		return grid.NodeID{}, false
	}
	return h.Eligible[h.Rand.IntN(len(h.Eligible))], true
}

func (randomWalk) Learn(grid.Time, uint64, *grid.Ad)         {}
func (randomWalk) Fail(grid.Time, uint64, grid.NodeID, bool) {}

// informed asks those who met requests before [1]. Learning: whoever met one of this kind; best neighbour: whoever
// met most, of any kind; both: the one, else the other. Where nobody did, and now and then besides, it walks at random.
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

// provider picks one that met requests for the key: the newest, or, where load counts, the one that this node has sent
// least.
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
