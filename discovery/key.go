package discovery

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"skep/grid"
)

// canonical returns needs as text, the same for equivalent needs: labels by key, values sorted and unique.
func canonical(n *grid.Needs, engine string) string {
	var room [256]byte
	return string(encode(room[:0], n, engine))
}

// encode appends that text. Sorted input, as nearly always, is not copied: this is done at every hop.
func encode(b []byte, n *grid.Needs, engine string) []byte {
	byKey := func(a, b grid.LabelNeed) int { return strings.Compare(a.Key, b.Key) }
	labels := n.Labels
	if !slices.IsSortedFunc(labels, byKey) {
		labels = slices.Clone(labels)
		slices.SortStableFunc(labels, byKey)
	}
	b = binary.AppendVarint(b, int64(n.CPU))
	b = binary.AppendVarint(b, int64(n.Memory))
	b = text(b, engine)
	for i := range labels {
		b = text(b, labels[i].Key)
		values := labels[i].Values
		if len(values) > 1 {
			values = slices.Clone(values)
			slices.Sort(values)
			values = slices.Compact(values)
		}
		b = binary.AppendUvarint(b, uint64(len(values)))
		for _, v := range values {
			b = text(b, v)
		}
	}
	if n.Counts != "" {
		b = text(b, string(n.Counts))
	}
	if n.Where != nil {
		b = text(append(b, 0), n.Where.String())
	}
	for i := range n.Options {
		b = encode(append(b, 1), n.Options[i].Needs(), "")
	}
	return b
}

func text(b []byte, s string) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }

// alike returns a key that is the same for needs that the same nodes are likely to meet: engine, labels,
// counted resources, and the powers of two of cores and memory; of options those of what all of them need.
func alike(n *grid.Needs, engine string) uint64 {
	c := *n
	c.CPU = grid.MilliCPU(bits.Len64(uint64(max(n.CPU, 0))))
	c.Memory = grid.Bytes(bits.Len64(uint64(max(n.Memory, 0))))
	c.Options = nil
	var room [256]byte
	return hash(encode(room[:0], &c, engine))
}

// hash is FNV-1a.
func hash[T string | []byte](text T) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// clone copies needs of an event for longer than the step.
func clone(n *grid.Needs) grid.Needs {
	c := *n
	c.Labels = slices.Clone(n.Labels)
	for i := range c.Labels {
		c.Labels[i].Values = slices.Clone(c.Labels[i].Values)
	}
	return c
}
