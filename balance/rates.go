package balance

import (
	"encoding/binary"
	"slices"

	"skep/grid"
)

// MaxClasses bounds the classes that a decider tells apart, whatever its peers make up: 1024. The rates
// of a class beyond it are not kept; its tasks go where "other" goes, or wherever they fit.
const MaxClasses = 1024

// Rates outside of this range read as 0 (below, NaN) or as the bound (above). Tasks per second.
const leastRate, mostRate = 1e-12, grid.MaxRate

// mostSlots bounds a node's capacity.
const mostSlots = 1e6

// rates is what the decider knows of all nodes: arrival rates A and execution rates U of [1, section
// 4.2], by class and node, and the capacities. Nodes and classes have dense indices that stay theirs
// until they go; an index that became free is used again.
type rates struct {
	order []place       // the nodes, ordered by identity
	ids   []grid.NodeID // by index of the node, as are the next
	live  []bool
	rated []bool
	slots []float64 // 0 where not rated
	lists []*named  // the classes that the column names
	list  []int32   // those of the column that is being put
	spare []int32   // free indices

	classes      map[string]int32 // once they are many; nil before
	names        []string         // by index of the class, as are the next; "" is free
	users        []int32          // columns that name it
	seen         []uint64
	spareClasses []int32
	pass         uint64

	alpha, mu matrix

	// What changed since the LP was last solved or looked for a change.
	shape   bool    // a node joined or left, or a class went
	arrived bool    // an arrival rate
	next    int32   // the position in order after the last that was looked up
	touched []int32 // nodes with another execution rate or capacity
	dirty   []bool  // is in touched
}

// add returns the index of a node, which it makes known. It has no rates yet.
func (r *rates) add(id grid.NodeID) int32 {
	at, ok := r.find(&id)
	if ok {
		return r.order[at].node
	}
	var j int32
	if n := len(r.spare); n > 0 {
		j, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		j = int32(len(r.ids))
		r.ids = append(grid.Room(r.ids, few), id)
		r.live, r.rated = append(grid.Room(r.live, few), true), append(grid.Room(r.rated, few), false)
		r.slots, r.lists, r.dirty = append(grid.Room(r.slots, few), 0), append(grid.Room(r.lists, few), nil),
			append(grid.Room(r.dirty, few), false)
		r.alpha.grow(len(r.names), len(r.ids))
		r.mu.grow(len(r.names), len(r.ids))
	}
	r.ids[j], r.live[j] = id, true
	r.order = slices.Insert(grid.Room(r.order, few), at, place{binary.BigEndian.Uint64(id[:]), j})
	return j
}

// remove forgets a node and its column.
func (r *rates) remove(id grid.NodeID) {
	at, ok := r.find(&id)
	if !ok {
		return
	}
	j := r.order[at].node
	if r.rated[j] {
		r.column(j, nil, 0)
		r.shape = true
	}
	r.order = slices.Delete(r.order, at, at+1)
	r.live[j], r.rated[j], r.slots[j] = false, false, 0
	r.spare = append(r.spare, j)
}

// put replaces a node's column.
func (r *rates) put(id grid.NodeID, list []grid.Rate, slots float64) {
	j := r.add(id)
	if !r.rated[j] {
		r.rated[j], r.shape = true, true
	}
	if !(slots > 0) {
		slots = 1
	}
	r.column(j, list, min(slots, mostSlots))
}

func (r *rates) column(j int32, list []grid.Rate, slots float64) {
	r.pass++
	r.list = r.list[:0]
	for k := range list {
		i, ok := r.class(list[k].Class)
		if !ok || r.seen[i] == r.pass {
			continue // no room for the class, or it was named before
		}
		r.seen[i] = r.pass
		r.users[i]++
		r.list = append(r.list, i)
		r.setAlpha(i, j, clean(list[k].Alpha))
		r.setMu(i, j, clean(list[k].Mu))
	}
	for _, i := range r.lists[j].list() {
		if r.seen[i] != r.pass {
			r.setAlpha(i, j, 0)
			r.setMu(i, j, 0)
		}
		if r.users[i]--; r.users[i] == 0 {
			r.forget(i)
		}
	}
	r.lists[j] = r.naming(r.lists[j], r.list)
	if slots != r.slots[j] {
		r.slots[j] = slots
		r.touch(j)
	}
}

// class returns the index of a class, which it makes known; false if there are too many.
func (r *rates) class(name string) (int32, bool) {
	if i, ok := r.classOf(name); ok || name == "" {
		return i, ok
	}
	var i int32
	if n := len(r.spareClasses); n > 0 {
		i, r.spareClasses = r.spareClasses[n-1], r.spareClasses[:n-1]
	} else if len(r.names) < MaxClasses {
		i = int32(len(r.names))
		r.names, r.users, r.seen = append(r.names, ""), append(r.users, 0), append(r.seen, 0)
		r.alpha.grow(len(r.names), len(r.ids))
		r.mu.grow(len(r.names), len(r.ids))
	} else {
		return 0, false
	}
	r.names[i] = name
	switch {
	case r.classes != nil:
		r.classes[name] = i
	case len(r.names) > fewClasses:
		r.classes = make(map[string]int32, 2*fewClasses)
		for i, name := range r.names {
			if name != "" {
				r.classes[name] = int32(i)
			}
		}
	}
	return i, true
}

// forget drops a class that no column names any more.
func (r *rates) forget(i int32) {
	delete(r.classes, r.names[i])
	r.names[i] = ""
	r.spareClasses = append(r.spareClasses, i)
	r.shape = true
}

func (r *rates) setAlpha(i, j int32, a float64) {
	if r.alpha.at(i, j) != a {
		r.alpha.set(i, j, a)
		r.arrived = true
	}
}

func (r *rates) setMu(i, j int32, mu float64) {
	if r.mu.at(i, j) != mu {
		r.mu.set(i, j, mu)
		r.touch(j)
	}
}

func (r *rates) touch(j int32) {
	if !r.dirty[j] {
		r.dirty[j] = true
		r.touched = append(r.touched, j)
	}
}

// settled says that all changes so far have been taken into account.
func (r *rates) settled() {
	for _, j := range r.touched {
		r.dirty[j] = false
	}
	r.touched, r.shape, r.arrived = r.touched[:0], false, false
}

// arrivals returns the arrival rate of a class over all nodes, tasks per second.
func (r *rates) arrivals(i int32) float64 {
	var sum float64
	for _, a := range r.alpha.row(i, len(r.ids)) {
		sum += a
	}
	return sum
}

// wanted is a class that was looked up: its index, or that of "other" where no column names it.
type wanted struct {
	class      int32
	own, other bool // one of them, or none
}

// wanted looks a class up.
func (r *rates) wanted(class string) wanted {
	if i, ok := r.classOf(class); ok {
		return wanted{class: i, own: true}
	}
	i, ok := r.classOf(grid.OtherClass)
	return wanted{class: i, other: ok}
}

// execution returns the execution rate of one slot of a node for a class, 0 where it cannot run it. A
// class that no column names has the rate of "other". false where nothing is known of the node or class.
func (r *rates) execution(j int32, w wanted) (float64, bool) {
	switch {
	case !r.rated[j]:
		return 0, false
	case w.own:
		return r.mu.at(w.class, j), true
	case w.other && r.mu.at(w.class, j) > 0:
		return r.mu.at(w.class, j), true
	}
	return 0, false
}

func clean(rate float64) float64 {
	if !(rate >= leastRate) {
		return 0
	}
	return min(rate, mostRate)
}
