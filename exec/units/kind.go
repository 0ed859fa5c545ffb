package units

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
)

// Kind is a counted resource of the machine.
type Kind struct {
	Name   string
	Units  []Unit
	Shared []string // device files that each task with a unit needs
	Others []string // device files of units that the node does not give
	Vendor Vendor   // of GPUs
	Reads  []string // folders that tasks with a unit read
}

// Unit is one unit of a kind.
type Unit struct {
	Files []string // device files of it alone
	UUID  string   // by which the vendor's library knows it; "" = it does not
}

// Vendor is whose libraries a GPU is used with.
type Vendor uint8

// Vendors.
const (
	Other Vendor = iota
	Nvidia
	AMD
)

// Resolve returns the counted resources that a node has: what was found of the machine, and what its operator declares
// instead. No more units of a kind can be declared than were found, where some were.
func Resolve(found []Kind, declared map[string]int64) (kinds []Kind, counts grid.Counts, err error) {
	var parts []string
	add := func(k Kind) {
		kinds = append(kinds, k)
		parts = append(parts, fmt.Sprintf("%s=%d", k.Name, len(k.Units)))
	}
	seen := map[string]bool{}
	for _, k := range found {
		n, given := declared[k.Name]
		seen[k.Name] = true
		if given && n > int64(len(k.Units)) {
			return nil, "", fmt.Errorf("%s=%d: this machine has %d: want at most that", k.Name, n, len(k.Units))
		}
		if given {
			for _, u := range k.Units[n:] {
				k.Others = append(slices.Clip(k.Others), u.Files...)
			}
			k.Units = k.Units[:n:n]
		}
		add(k)
	}
	for name, n := range declared {
		if !seen[name] {
			add(Kind{Name: name, Units: make([]Unit, n)})
		}
	}
	slices.SortFunc(kinds, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	counts, err = grid.ParseCounts(strings.Join(parts, ","))
	return kinds, counts, err
}
