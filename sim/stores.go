package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/sim/codec"
	"skep/sim/event"
	"skep/sim/stores"
)

// Stores that are put back. Nodes tell each other how far they have saved only in worlds with such faults.

// watchStores has nodes tell each other if a store is put back in the world.
func (w *World) watchStores() {
	w.aims = slices.Clone(w.cfg.Aims)
	w.forgetful = slices.ContainsFunc(w.aims, func(a Aim) bool { return a.Kind == PutBack })
	if w.forgetful || slices.ContainsFunc(w.cfg.Faults, func(f Fault) bool { return f.Kind == PutBack }) {
		w.stores = stores.New(len(w.hosts), func(i int32) grid.NodeID { return w.hosts[i].id })
	}
}

// bootOf is how often a node has started, by what is on its disk.
func (w *World) bootOf(i int) uint64 {
	if w.stores != nil {
		return w.stores.Boot(int32(i))
	}
	return w.hosts[i].boots
}

// known is how many nodes a node knows when it starts.
func (w *World) known(i int) int {
	if w.hosts[i].boots > 1 {
		return min(w.cfg.Nodes-1, 2*grid.MaxMembers)
	}
	return 0
}

// undecidedAfter is how long a node that has forgotten something, and acts on nothing, is waited for.
const undecidedAfter = 2 * time.Minute

// forgets reports whether a node has forgotten something and has not found that out.
func (w *World) forgets(i int32) bool {
	return w.stores != nil && w.stores.Lacks(i) && !w.hosts[i].lost
}

// anyForgets reports whether some node that is up has forgotten something: what becomes of jobs then nobody promises.
func (w *World) anyForgets() bool {
	for i := range w.hosts {
		if w.hosts[i].up && w.forgets(int32(i)) {
			return true
		}
	}
	return false
}

// records returns what is on a node's disk.
func (w *World) records(i int32) []grid.Record {
	if w.forgets(i) {
		return slices.Clone(w.stores.Records(i))
	}
	return w.books.Records(i, nil)
}

// save makes records durable. The books keep what a node's store had before it was put back.
func (w *World) save(i int32, records []grid.Record) {
	if w.stores != nil && len(records) > 0 {
		w.stores.Saved(i)
	}
	if !w.forgets(i) {
		w.books.Save(i, records)
	}
}

// putBack puts the copy of a node's store in its place and starts the node.
func (w *World) putBack(i int32) {
	if w.hosts[i].lost {
		return
	}
	w.crash(i)
	w.stores.PutBack(i)
	w.start(i)
}

// rot flips bits of a record on a node's disk and starts the node, unless that finds what nothing can take the place
// of: then somebody has to decide, and it starts no more.
func (w *World) rot(i int32, bits int) {
	if w.hosts[i].lost || w.forgets(i) {
		return
	}
	w.crash(i)
	records := w.records(i)
	if len(records) > 0 {
		r := &records[w.rng.IntN(len(records))]
		switch read, err := new(codec.Codec).Rot(r, bits, w.rng.IntN); {
		case errors.Is(err, codec.ErrRotten):
			w.hosts[i].lost = true
			w.books.Lost(i)
			w.refused++
			return
		case err != nil:
			w.failf(i, "%v", err)
			return
		case read == nil:
			r.Delete = true
			w.save(i, []grid.Record{*r})
		}
	}
	w.start(i)
}

// meet has two nodes that connect tell each other what they know, and reports whether both go on.
func (w *World) meet(i, j int32) bool {
	if w.stores == nil {
		return true
	}
	ok := true
	for _, x := range [...][2]int32{{i, j}, {j, i}} {
		switch w.stores.Meet(w.now, x[0], x[1]) {
		case stores.Stops:
			w.findPutBack(x[0], x[1])
			ok = false
		case stores.GoesOn:
			w.failFor(false, x[0], "goes on with a store that was put back, and n%d has heard of what it lacks", x[1])
		case stores.Mistakes:
			w.failFor(false, x[0], "stops for what n%d has heard, and its store lacks nothing", x[1])
		}
	}
	return ok
}

// findPutBack stops a node for good, as its driver does and refuses each later start.
func (w *World) findPutBack(i, by int32) {
	if w.cfg.Log != nil {
		w.cfg.Log(fmt.Sprintf("%-14v n%d was put back, as n%d knows: it stops", time.Duration(w.now), i, by))
	}
	w.crash(i)
	w.hosts[i].lost = true
	w.books.Lost(i)
}

// checkStep checks what a node that has started again does too soon. The world ends, undecided, where one that has
// forgotten something acts and was not found out.
func (w *World) checkStep(i int32) {
	if what := w.stores.Check(w.now, i, &w.fx); what != "" {
		w.failFor(false, i, "%s", what)
	} else if w.stores.Lacks(i) && stores.Acts(&w.fx) {
		w.failFor(true, i, "has forgotten something, met nobody who knows, and acts")
	}
}

// peerKnown has node i tell node j, which has connected; peerGone that j is gone, told that a message leaves for it.
func (w *World) peerKnown(i, j int32) {
	if w.stores != nil {
		w.stores.Up(i, j)
		w.scheduleTelling(i)
	}
}

func (w *World) peerGone(i, j int32) {
	if w.stores != nil {
		w.stores.Down(i, j)
	}
}

func (w *World) noteSent(i int32, to grid.NodeID) {
	if w.stores != nil {
		w.stores.Sent(i, to)
		w.scheduleTelling(i)
	}
}

// Subs of kindTell.
const (
	tellRound = iota
	tellArrives
)

func (w *World) scheduleTelling(i int32) {
	if at, due := w.stores.Due(w.now, i); due {
		w.push(at, kindTell, i, tellRound, 0)
	}
}

// tellPeers begins a node's round of telling, or has what was told arrive. A statement goes by a stream: it arrives
// unless the nodes are cut off from each other.
func (w *World) tellPeers(e *event.Event) {
	i := e.Node
	if !w.isCurrent(e) {
		return
	}
	if e.Sub == tellArrives {
		w.stores.Told(w.now, i, e.Arg)
		return
	}
	to, name := w.stores.Round(w.now, i)
	for _, id := range to {
		j := w.index(id)
		if !w.hosts[j].up || w.isCut(i, j) || w.isCut(j, i) {
			w.stores.Failed(i, id)
			continue
		}
		w.push(w.now.Add(w.latency(i, j)), kindTell, j, tellArrives, name)
	}
	w.scheduleTelling(i)
}

// addStores has copies of stores be put back in a quarter of the worlds of three nodes or more.
func addStores(seed uint64, c *Config) {
	if r := grid.NewRand(seed, 95); c.Nodes >= 3 && r.IntN(4) == 0 {
		putBackSome(r, c)
	}
}

func putBackSome(r *grid.Rand, c *Config) {
	for range 1 + r.IntN(2) {
		nodes := []int{r.IntN(c.Nodes)}
		copied := time.Duration(r.Int64N(int64(40 * time.Second)))
		back := copied + time.Second + time.Duration(r.Int64N(int64(20*time.Second)))
		c.Faults = append(c.Faults, Fault{At: copied, Kind: Copy, Nodes: nodes}, Fault{At: back, Kind: PutBack, Nodes: nodes})
	}
	slices.SortStableFunc(c.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}
