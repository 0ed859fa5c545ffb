package discovery

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"math/bits"
	"slices"
	"strings"

	"skep/grid"
)

// canonical returns needs as text, the same for needs that mean the same: labels by key, values in order and once.
func canonical(n *grid.Needs, engine string) string {
	labels := slices.Clone(n.Labels)
	slices.SortStableFunc(labels, func(a, b grid.LabelNeed) int { return strings.Compare(a.Key, b.Key) })
	b := make([]byte, 0, 128)
	b = binary.AppendVarint(b, int64(n.CPU))
	b = binary.AppendVarint(b, int64(n.Memory))
	b = text(b, engine)
	for _, l := range labels {
		b = text(b, l.Key)
		values := slices.Clone(l.Values)
		slices.Sort(values)
		values = slices.Compact(values)
		b = binary.AppendUvarint(b, uint64(len(values)))
		for _, v := range values {
			b = text(b, v)
		}
	}
	return string(b)
}

func text(b []byte, s string) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }

// alike returns a key that is the same for needs that the same nodes are likely to meet: engine, labels, and the
// powers of two of cores and memory.
func alike(n *grid.Needs, engine string) uint64 {
	c := *n
	c.CPU = grid.MilliCPU(bits.Len64(uint64(max(n.CPU, 0))))
	c.Memory = grid.Bytes(bits.Len64(uint64(max(n.Memory, 0))))
	h := fnv.New64a()
	io.WriteString(h, canonical(&c, engine))
	return h.Sum64()
}

// clone copies needs that are reachable from an event, for longer than the step.
func clone(n *grid.Needs) grid.Needs {
	c := *n
	c.Labels = slices.Clone(n.Labels)
	for i := range c.Labels {
		c.Labels[i].Values = slices.Clone(c.Labels[i].Values)
	}
	return c
}
