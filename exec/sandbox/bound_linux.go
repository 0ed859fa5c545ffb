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
	if spec.Procs > 0 && (b.s.Boxes() || spec.Command.UID != 0) { // else it would count all that the node's user runs
		if b.procs, err = b.s.room.take(spec.Procs, cmp.Or(spec.CPU, grid.CPU)); err != nil {
			return err
		}
		spec.Procs = b.procs
		if spec.Pod == nil { // else those of other boxes with the same user would count too; the group counts this one
			b.limitProcesses(&spec.Command)
		}
	}
	spec.Strict = spec.Strict || spec.Command.Account || spec.Pod != nil
	if b.s.Boxes() {
		b.group, err = b.s.groups.take(spec)
		b.kills = b.group.killed()
	}
	return err
}

// limitProcesses adds the limit of the processes that the box may have, which counts those of all its commands.
func (b *Box) limitProcesses(c *Command) {
	if b.procs == 0 || c.Account { // what else runs as the account would count too; the group counts this box
		return
	}
	most := uint64(b.procs)
	var now unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &now) == nil { // without privilege a hard limit cannot be raised
		most = min(most, now.Max)
	}
	c.Limits = append(slices.Clip(c.Limits), Limit{What: unix.RLIMIT_NPROC, Cur: most, Max: most})
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
	if b.control != nil && !b.isOver() {
		b.control.shut()
	}
	b.release()
}
