package ranks

import (
	"errors"
	"slices"
	"sync"

	"skep/grid"
	"skep/node/p2p/mesh"
	"skep/node/p2p/ports"
)

// maxIdle bounds the attempts whose ranks here have all ended and whose owner has not dropped them. Beyond it the one
// that has been so for the longest loses its network: each has a process, a device and a stream to each other node.
const maxIdle = 32

// errOver is why a rank gets nothing.
var errOver = errors.New("network of a gang: the attempt is over")

// Table is what the ranks of this node share, by attempt. Its methods may be called at the same time; Ended, Dropped
// and Removed do not block, and do nothing about what is not in it.
type Table struct {
	self    grid.NodeID
	missing error // why there is no virtual network
	fixed   error // why there are no ports
	open    func(ports.Layout, int64) (*Shared, error)
	work    sync.WaitGroup // what ends networks

	mu       sync.Mutex
	attempts map[grid.AttemptID]*attempt // by that of rank 0
	idle     []*attempt                  // since when they are so
}

// Open returns an empty table, and tries whether there can be a network for ranks here.
func Open(m *Maker) *Table {
	t := &Table{self: m.Self, open: m.Make, attempts: map[grid.AttemptID]*attempt{}}
	t.missing, t.fixed = m.probe()
	return t
}

// Missing says in one line why there can be no network for ranks here; nil = there can.
func (t *Table) Missing() error { return t.missing }

// MissingPorts says in one line why ranks cannot reach each other on ports here; nil = they can.
func (t *Table) MissingPorts() error { return t.fixed }

// Network is what the owner of a gang has said of an attempt's network.
type Network struct {
	Places []grid.RankPlace // of all ranks
	Ports  []uint16         // on which they reach each other; none = all
}

// Join returns what a rank shares with the others here. The first of them has it made, with at most so many bytes of
// shared memory; gone reports whether a rank is dropped already. Ended, Dropped and Removed follow.
func (t *Table) Join(id grid.AttemptID, of Network, memory int64, gone func(rank uint32) bool) (*Shared, error) {
	places := of.Places
	local, missing := t.local(places), t.missing
	if len(of.Ports) > 0 {
		missing = t.fixed
	}
	if missing != nil {
		return nil, missing
	}
	if !slices.Contains(local, id.Task.Index) {
		return nil, errOver
	}
	t.mu.Lock()
	x := t.attempts[first(id)]
	makes := x == nil
	if makes {
		x = &attempt{places: places, ready: make(chan struct{}), ranks: map[uint32]*rank{}, folders: map[uint32]bool{}}
		t.attempts[first(id)] = x
		for _, r := range local {
			x.ranks[r] = &rank{}
		}
	}
	own := x.ranks[id.Task.Index]
	if own == nil || x.ended != nil || !slices.EqualFunc(places, x.places, grid.RankPlace.Equal) {
		t.mu.Unlock()
		return nil, errOver
	}
	own.began, own.runs, x.folders[id.Task.Index] = true, true, true
	t.mu.Unlock()
	if makes {
		t.fill(id, x, of.Ports, memory, gone)
	}
	<-x.ready
	t.mu.Lock()
	defer t.mu.Unlock()
	x.rest()
	return x.shared, x.err
}

// fill makes what the ranks of an attempt share.
func (t *Table) fill(id grid.AttemptID, x *attempt, only []uint16, memory int64, gone func(rank uint32) bool) {
	for _, r := range t.local(x.places) {
		if gone(r) {
			id.Task.Index = r
			t.Dropped(id)
		}
	}
	l := ports.Layout{Layout: mesh.Layout{ID: first(id)}, Ports: only}
	for _, p := range x.places {
		l.Nodes = append(l.Nodes, slices.Repeat([]grid.NodeID{p.Node}, int(p.Ranks))...)
	}
	x.shared, x.err = t.open(l, memory)
	close(x.ready)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle(id, x)
}

// local are the ranks here.
func (t *Table) local(places []grid.RankPlace) (ranks []uint32) {
	next := uint32(0)
	for _, p := range places {
		for range p.Ranks {
			if p.Node == t.self {
				ranks = append(ranks, next)
			}
			next++
		}
	}
	return ranks
}

// first is the attempt of rank 0, by which all nodes name that of the gang.
func first(id grid.AttemptID) grid.AttemptID {
	id.Task.Index = 0
	return id
}

// Ended says that nothing of a rank runs any more.
func (t *Table) Ended(id grid.AttemptID) { t.change(id, func(r *rank) { r.runs = false }) }

// Dropped says that a rank is not wanted any more: it begins no more, and is told to end if it runs.
func (t *Table) Dropped(id grid.AttemptID) { t.change(id, func(r *rank) { r.dropped = true }) }

func (t *Table) change(id grid.AttemptID, f func(*rank)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.attempts[first(id)]
	if x == nil || x.ranks[id.Task.Index] == nil {
		return
	}
	r := x.ranks[id.Task.Index]
	if f(r); r.dropped && !r.runs {
		delete(x.ranks, id.Task.Index)
	}
	t.settle(id, x)
}

// Removed says that a rank's folder is removed; left: something of the rank may be left all the same.
func (t *Table) Removed(id grid.AttemptID, left bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x := t.attempts[first(id)]; x != nil && x.folders[id.Task.Index] {
		delete(x.folders, id.Task.Index)
		x.left = x.left || left
		t.settle(id, x)
	}
}

// settle ends and gives back what is not needed any more.
func (t *Table) settle(id grid.AttemptID, x *attempt) {
	select {
	case <-x.ready:
	default:
		return // who makes it settles
	}
	x.rest()
	if len(x.ranks) == 0 {
		t.end(x)
	} else if t.rests(x) {
		if t.idle = append(t.idle, x); len(t.idle) > maxIdle {
			t.end(t.idle[0])
		}
	}
	if len(x.ranks) > 0 || len(x.folders) > 0 || t.attempts[first(id)] != x {
		return
	}
	delete(t.attempts, first(id))
	if x.shared != nil {
		t.work.Go(func() {
			<-x.ended
			x.shared.giveBack(x.left)
		})
	}
}

// rests reports whether all ranks here have begun and ended, for the first time.
func (t *Table) rests(x *attempt) bool {
	return x.ran() && x.ended == nil && !slices.Contains(t.idle, x)
}

// end ends the network of an attempt.
func (t *Table) end(x *attempt) {
	t.idle = slices.DeleteFunc(t.idle, func(o *attempt) bool { return o == x })
	if x.ended != nil || x.shared == nil {
		return
	}
	x.ended = make(chan struct{})
	t.work.Go(func() {
		defer close(x.ended)
		x.shared.leave()
	})
}

// Close ends all networks. No rank joins any more.
func (t *Table) Close() {
	t.mu.Lock()
	for _, x := range t.attempts {
		select {
		case <-x.ready:
			t.end(x)
		default:
		}
	}
	t.mu.Unlock()
	t.work.Wait()
}
