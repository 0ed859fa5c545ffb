//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"slices"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// bound takes what bounds the box: its share of the processes that this node may have, and a control group.
func (b *Box) bound(spec *Spec) (err error) {
	if spec.Procs > 0 && (b.s.Boxes() || spec.Command.ID != 0) { // else it would count all that the node's user runs
		if b.procs, err = b.s.room.take(spec.Procs, cmp.Or(spec.CPU, grid.CPU)); err != nil {
			return err
		}
		spec.Procs = b.procs
		most := uint64(spec.Procs)
		var now unix.Rlimit
		if unix.Getrlimit(unix.RLIMIT_NPROC, &now) == nil { // without privilege a hard limit cannot be raised
			most = min(most, now.Max)
		}
		spec.Command.Limits = append(slices.Clip(spec.Command.Limits), Limit{What: unix.RLIMIT_NPROC, Cur: most, Max: most})
	}
	if b.s.Boxes() {
		b.group, err = b.s.groups.take(spec)
		b.kills = b.group.killed()
	}
	return err
}

// release gives back what the box has of the node, once.
func (b *Box) release() {
	b.released.Do(func() {
		if b.control != nil {
			b.control.close()
		}
		b.group.release()
		b.s.room.give(b.procs)
	})
}

// Close lets go of the box; what is left in it is killed.
func (b *Box) Close() {
	if b.control != nil {
		b.control.shut()
	}
	b.release()
}
