package generation

import (
	"encoding/binary"
	"slices"
)

// MaxOutlived bounds the processes in Outlived: peers keep the newest statement of a node, so those of the fewest
// starts are shown least.
const MaxOutlived = 16

// Outlived holds other processes with this node's identity, of a copy of its folder, that have stopped for a process of
// this folder. What they have saved is not what this folder lacks. Invariant: at most MaxOutlived, sorted by their
// starts.
type Outlived struct{ processes []process }

type process struct{ boot, instance uint64 }

const processSize = 2 * 8

// Note adds the process that made a statement, and reports whether it is news.
func (o *Outlived) Note(s Statement) bool {
	if o.Made(s) {
		return false
	}
	k := len(o.processes)
	for k > 0 && o.processes[k-1].boot > s.Boot {
		k--
	}
	if k == 0 && len(o.processes) == MaxOutlived {
		return false
	}
	o.processes = slices.Insert(o.processes, k, process{s.Boot, s.Instance})
	if len(o.processes) > MaxOutlived {
		o.processes = slices.Delete(o.processes, 0, 1)
	}
	return true
}

// Forget removes a process, which goes on after all, and reports whether it was there.
func (o *Outlived) Forget(instance uint64) bool {
	n := len(o.processes)
	o.processes = slices.DeleteFunc(o.processes, func(p process) bool { return p.instance == instance })
	return len(o.processes) < n
}

// Made reports whether one of the processes made a statement.
func (o *Outlived) Made(s Statement) bool {
	return slices.Contains(o.processes, process{s.Boot, s.Instance})
}

// Boot returns the most starts that one of the processes has told; 0 = there is none. The next start of this folder has
// to count more: peers take nothing that is of fewer starts.
func (o *Outlived) Boot() uint64 {
	if len(o.processes) == 0 {
		return 0
	}
	return o.processes[len(o.processes)-1].boot
}

// Append appends what ReadOutlived reads.
func (o *Outlived) Append(dst []byte) []byte {
	for _, p := range o.processes {
		dst = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, p.boot), p.instance)
	}
	return dst
}

// ReadOutlived returns what Append has written.
func ReadOutlived(b []byte) (o Outlived) {
	for ; len(b) >= processSize; b = b[processSize:] {
		o.Note(Statement{Boot: binary.BigEndian.Uint64(b), Instance: binary.BigEndian.Uint64(b[8:])})
	}
	return o
}
