package stores

import (
	"time"

	"skep/grid"
	"skep/node/generation"
)

// Stores are the stores of a world's nodes, by index.
type Stores struct {
	id     func(i int32) grid.NodeID
	nodes  []store
	flight []statement
	Found  int // nodes that stopped because their stores were put back
}

// version is how far a store had got.
type version struct{ boot, saved uint64 }

func (v version) after(o version) bool {
	return v.boot > o.boot || v.boot == o.boot && v.saved > o.saved
}

// store is a node's store, and what the node knows of others'.
type store struct {
	version      // of what is on disk
	lacks   bool // it was put back
	copied  *snapshot
	start   generation.Start
	process
	hearsay
}

// snapshot is a copy of a store.
type snapshot struct {
	version
	records []grid.Record
}

// process is what ends with the run of a node.
type process struct {
	began     grid.Time
	met       map[grid.NodeID]grid.Time // never iterated
	first     grid.Time                 // when it met the first one
	known     int                       // nodes that it knew when it started
	registers map[grid.JobID]members    // that were on its disk when it started; never iterated
}

// members of a register, and whether it was closed.
type members struct {
	ids  []grid.NodeID
	done bool
}

// New makes the stores of nodes that have not started.
func New(nodes int, id func(i int32) grid.NodeID) *Stores {
	return &Stores{id: id, nodes: make([]store, nodes)}
}

// Start begins a run of a node that knows so many others, and returns how often it has started by its own disk.
func (s *Stores) Start(now grid.Time, i int32, known int) (boot uint64) {
	x := &s.nodes[i]
	x.start = generation.Start{Boot: x.boot + 1, Instance: uint64(now)<<8 | uint64(i)&255, Saved: x.saved}
	x.boot++
	x.process = process{began: now, known: known, met: map[grid.NodeID]grid.Time{},
		registers: map[grid.JobID]members{}}
	x.hearsay.restore(now)
	return x.boot
}

// Restored reports a record that a node finds when it starts.
func (s *Stores) Restored(i int32, r *grid.Record) {
	if r.Kind == grid.RecRegister {
		s.nodes[i].registers[r.Register.ID] = members{r.Register.Members, r.Register.Done}
	}
}

// Stop ends a run.
func (s *Stores) Stop(now grid.Time, i int32) { s.nodes[i].hearsay.stop(now) }

// Saved counts a commit that is on disk.
func (s *Stores) Saved(i int32) { s.nodes[i].saved++ }

// Copy takes a copy of a store, with its records; it replaces an earlier one.
func (s *Stores) Copy(i int32, records []grid.Record) {
	if x := &s.nodes[i]; !x.lacks && x.boot > 0 {
		x.copied = &snapshot{x.version, records}
	}
}

// PutBack puts the copy of a store in its place, while its node is down, and reports whether there is one.
func (s *Stores) PutBack(i int32) bool {
	x := &s.nodes[i]
	if x.copied == nil || x.copied.version == x.version {
		return false
	}
	x.version, x.lacks = x.copied.version, true
	return true
}

// Lacks reports whether a node's store was put back.
func (s *Stores) Lacks(i int32) bool { return s.nodes[i].lacks }

// Boot returns how often a node has started by its own disk.
func (s *Stores) Boot(i int32) uint64 { return s.nodes[i].boot }

// Records returns the records of a store that was put back.
func (s *Stores) Records(i int32) []grid.Record { return s.nodes[i].copied.records }

// Meeting is what a node learns of its own store when it meets another.
type Meeting uint8

// What it learns.
const (
	Nothing  Meeting = iota
	Stops            // its store was put back, so it stops
	GoesOn           // its store was put back, the other one knows, and it goes on: that must never be
	Mistakes         // it stops though its store lacks nothing: that must never be
)

// Meet has node i hear what node j knows of it, before anything else is said between them.
func (s *Stores) Meet(now grid.Time, i, j int32) Meeting {
	x, own := &s.nodes[i], s.id(i)
	signed, age := s.nodes[j].book.Known(now, own)
	if told, heard := decode(signed); heard {
		verdict := x.start.Check(told, age, now.Sub(x.began), x.saved)
		knows := x.lacks && told.Instance != x.start.Instance && version{told.Boot, told.Saved}.after(x.found())
		switch stops := verdict == generation.PutBack; {
		case stops && !x.lacks:
			return Mistakes
		case stops:
			s.Found++
			return Stops
		case knows:
			return GoesOn
		}
	}
	if len(x.met) == 0 {
		x.first = now
	}
	x.met[s.id(j)] = now
	return Nothing
}

// found is how far the store had got by what this run found when it started.
func (x *store) found() version { return version{x.start.Boot - 1, x.start.Saved} }

// settled reports whether others had time to tell a node whether its store was put back. Its clock may be off by a
// tenth.
func (x *store) settled(now grid.Time) bool {
	const part = 0.9
	after := func(from grid.Time, d time.Duration) bool {
		return float64(now.Sub(from)) >= part*float64(d)
	}
	return x.start.Boot == 1 || len(x.met) >= x.known || len(x.met) > 0 && after(x.first, generation.Grace) ||
		after(x.began, generation.Patience)
}
