//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
)

// Root in a user namespace, as in a container that is made without root, can give no file and no process to an ID that
// the namespace does not map [1]: what it does for a task would fail with "invalid argument".

// mapped are the IDs that a uid_map or gid_map gives to this process, a range for each line.
func mapped(file string) (all []Range) {
	text, err := os.ReadFile(file)
	if err != nil {
		return []Range{{0, math.MaxUint32}} // a kernel without user namespaces
	}
	for line := range strings.Lines(string(text)) {
		var r Range
		var outside uint32
		if _, err := fmt.Sscan(line, &r.First, &outside, &r.Count); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// within reports whether each ID of r is in one of the ranges.
func (r Range) within(all []Range) bool {
	for at, end := uint64(r.First), uint64(r.First)+uint64(r.Count); at < end; {
		next := at
		for _, m := range all {
			if m.holds(at, 1) {
				next = uint64(m.First) + uint64(m.Count)
			}
		}
		if next == at {
			return false
		}
		at = next
	}
	return true
}

// usable returns the range that tasks get: the one that is asked for, or, where that is the default and not mapped
// here, one that is and that nobody has.
func usable(r Range, users, groups []Range) (Range, error) {
	if r == (Range{}) {
		r = DefaultRange
	}
	switch {
	case r.within(users) && r.within(groups):
		return r, r.free()
	case r == DefaultRange:
		for _, count := range [...]uint32{16 * idBlock, idBlock} { // for several nodes, or for one
			for _, m := range users {
				if x, err := m.top(count, groups); err == nil {
					return x, nil
				}
			}
		}
	}
	return r,
		fmt.Errorf("user IDs %s: the user namespace of this node has them not all, but only users %v and groups %v: want "+
			"a range of these that "+
			"nobody has (task_uids), or a container with more IDs", r, users, groups)
}

// top is the uppermost range of so many in m that nobody has, and that is mapped for groups too.
func (m Range) top(count uint32, groups []Range) (Range, error) {
	const tries = 64 // all of the 65,536 that containers have
	for n := uint64(0); n < tries && uint64(count)+n*idBlock <= uint64(m.Count); n++ {
		x := Range{uint32(uint64(m.First) + uint64(m.Count) - uint64(count) - n*idBlock), count}
		if x.First >= idBlock && x.within(groups) && x.free() == nil {
			return x, nil
		}
	}
	return Range{}, errors.ErrUnsupported
}
