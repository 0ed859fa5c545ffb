package units

import (
	"slices"
	"sync"

	"skep/grid"
)

// Table is which units and processors of a node are taken. Its methods may be called at the same time.
type Table struct {
	kinds []Kind

	mu    sync.Mutex
	taken [][]bool // by kind and unit
	cpus  []int    // processors that no pinned task has, ascending
}

// NewTable returns a table of which nothing is taken. cpus are the processors that tasks can be pinned to.
func NewTable(kinds []Kind, cpus []int) *Table {
	t := &Table{kinds: kinds, cpus: slices.Sorted(slices.Values(cpus))}
	for i := range kinds {
		t.taken = append(t.taken, make([]bool, len(kinds[i].Units)))
	}
	return t
}

// Grant is what one task has, until Give.
type Grant struct {
	CPUs  []int // processors that it is pinned to, ascending; nil = it is not
	table *Table
	units [][]int // by kind of the table, ascending
}

// Take takes units, and so many processors, those of lowest number; false = there are too few now.
func (t *Table) Take(need grid.Counts, cpus int) (*Grant, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := &Grant{table: t, units: make([][]int, len(t.kinds))}
	left := need
	for k := range t.kinds {
		want := int(need.Of(t.kinds[k].Name))
		for i := 0; i < len(t.taken[k]) && len(g.units[k]) < want; i++ {
			if !t.taken[k][i] {
				g.units[k] = append(g.units[k], i)
			}
		}
		if len(g.units[k]) < want {
			return nil, false
		}
		if want > 0 {
			left = grid.Resources{Counts: left}.Minus(grid.Resources{Counts: grid.CountsOf(t.kinds[k].Name, int64(want))}).Counts
		}
	}
	if left != "" || cpus > len(t.cpus) {
		return nil, false
	}
	for k, list := range g.units {
		for _, i := range list {
			t.taken[k][i] = true
		}
	}
	if cpus > 0 {
		g.CPUs, t.cpus = slices.Clone(t.cpus[:cpus]), slices.Clone(t.cpus[cpus:])
	}
	return g, true
}

// Give gives back what a task had: nothing of it runs any more. It is called once; nil is nothing.
func (t *Table) Give(g *Grant) {
	if g == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, list := range g.units {
		for _, i := range list {
			if !t.taken[k][i] {
				panic("units: a unit is given back that nobody has")
			}
			t.taken[k][i] = false
		}
	}
	t.cpus = slices.Sorted(slices.Values(append(t.cpus, g.CPUs...)))
	g.units, g.CPUs = nil, nil
}

// Empty reports whether the node has no counted resources.
func (t *Table) Empty() bool { return len(t.kinds) == 0 }

// Devices lists all device files of units and those that go with them: of these a task gets its own.
func (t *Table) Devices() (paths []string) {
	for k := range t.kinds {
		kind := &t.kinds[k]
		for i := range kind.Units {
			paths = append(paths, kind.Units[i].Files...)
		}
		paths = append(append(paths, kind.Others...), kind.Shared...)
	}
	return paths
}

// Reads lists the folders that tasks with units read.
func (t *Table) Reads() (paths []string) {
	for k := range t.kinds {
		paths = append(paths, t.kinds[k].Reads...)
	}
	return paths
}

// Any reports whether a task has something.
func (g *Grant) Any() bool {
	return g.CPUs != nil || slices.ContainsFunc(g.units, func(list []int) bool { return len(list) > 0 })
}

// Devices lists the device files of a task.
func (g *Grant) Devices() (paths []string) {
	for k, list := range g.units {
		kind := &g.table.kinds[k]
		for _, i := range list {
			paths = append(paths, kind.Units[i].Files...)
		}
		if len(list) > 0 {
			paths = append(paths, kind.Shared...)
		}
	}
	return paths
}
