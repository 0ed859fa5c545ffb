package decisions

import (
	"encoding/binary"
	"time"

	"skep/balance"
	"skep/grid"
)

// Log keeps the newest decisions of a node, packed, in at most limit bytes: the oldest go first. So it takes the same
// memory however many tasks a node keeps. An entry of four nodes takes some 250 bytes.
type Log struct {
	limit   int
	entries []byte // from head on, oldest first; each is its length and its fields
	head    int
	packed  []byte            // buffer
	draft   grid.Decision     // of Begin
	free    [][]balance.State // buffers of Candidates that are not needed any more
}

// New returns an empty log of at most limit bytes; 0 keeps nothing: then it is nil, which has all methods but Add.
func New(limit int) *Log {
	if limit <= 0 {
		return nil
	}
	return &Log{limit: limit}
}

// Keeps reports whether anything is kept.
func (l *Log) Keeps() bool { return l != nil }

// Flags of a node in an entry.
const (
	isAsked = 1 << iota
	isChosen
	isPriced  // its price follows
	isOption  // the number of its option follows
	isWeighed // what was expected of each option follows
)

// Add appends a decision and removes the oldest ones beyond the limit.
func (l *Log) Add(x *grid.Decision) {
	b := append(l.packed[:0], x.Task.Job.Origin[:]...)
	b = append(b, x.Task.Job.Nonce[:]...)
	b = binary.AppendVarint(b, int64(x.Task.Index))
	b = binary.AppendVarint(b, int64(x.At))
	b = append(b, byte(x.Why), byte(min(len(x.Nodes), grid.MaxConsidered)))
	b = binary.AppendVarint(b, int64(x.Tied))
	b = binary.AppendVarint(b, int64(x.More))
	for i := range x.Nodes[:min(len(x.Nodes), grid.MaxConsidered)] {
		n := &x.Nodes[i]
		is := byte(0)
		if n.Asked {
			is |= isAsked
		}
		if n.Chosen {
			is |= isChosen
		}
		if n.Price > 0 {
			is |= isPriced
		}
		if n.Option > 0 {
			is |= isOption
		}
		if len(n.Options) > 0 {
			is |= isWeighed
		}
		b = append(append(b, n.Node[:]...), is, byte(n.Basis))
		for _, t := range [...]time.Duration{n.Ready, n.Run, n.Move, n.Charged, n.News} {
			b = binary.AppendVarint(b, t.Microseconds())
		}
		b = binary.AppendVarint(b, int64(n.Results))
		if n.Price > 0 {
			b = binary.AppendVarint(b, int64(n.Price))
		}
		if n.Option > 0 {
			b = append(b, n.Option)
		}
		if len(n.Options) > 0 {
			b = appendOptions(b, n.Options)
		}
	}
	if x.Why == grid.VerdictPriced {
		b = appendPrices(b, x.Prices)
	}
	l.packed = b
	if len(b)+binary.MaxVarintLen32 > l.limit {
		return
	}
	for len(l.entries)-l.head+len(b)+binary.MaxVarintLen32 > l.limit {
		size, k := binary.Uvarint(l.entries[l.head:])
		l.head += k + int(size)
	}
	if l.head > len(l.entries)/2 {
		l.entries, l.head = append(l.entries[:0], l.entries[l.head:]...), 0
	}
	l.entries = append(binary.AppendUvarint(l.entries, uint64(len(b))), b...)
}

// Of returns the decisions about the tasks of a job from one index to before another, oldest first.
func (l *Log) Of(job grid.JobID, from, end uint32) (all []grid.Decision) {
	if !l.Keeps() {
		return nil
	}
	const head = len(job.Origin) + len(job.Nonce)
	for rest := l.entries[l.head:]; len(rest) > 0; {
		size, k := binary.Uvarint(rest)
		entry := rest[k : k+int(size)]
		rest = rest[k+int(size):]
		if grid.NodeID(entry) != job.Origin || [len(job.Nonce)]byte(entry[len(job.Origin):]) != job.Nonce {
			continue
		}
		r := numbers(entry[head:])
		if index := uint32(r.next()); from <= index && index < end {
			all = append(all, r.decision(grid.TaskID{Job: job, Index: index}))
		}
	}
	return all
}

// numbers is the rest of an entry.
type numbers []byte

func (r *numbers) next() int64 {
	v, n := binary.Varint(*r)
	*r = (*r)[n:]
	return v
}

func (r *numbers) byte() byte {
	b := (*r)[0]
	*r = (*r)[1:]
	return b
}

// decision decodes what follows the index.
func (r *numbers) decision(id grid.TaskID) grid.Decision {
	x := grid.Decision{Task: id, At: grid.Time(r.next()), Why: grid.Verdict(r.byte())}
	x.Nodes = make([]grid.Considered, r.byte())
	x.Tied, x.More = int32(r.next()), int32(r.next())
	for i := range x.Nodes {
		n := &x.Nodes[i]
		*r = (*r)[copy(n.Node[:], *r):]
		is := r.byte()
		n.Asked, n.Chosen, n.Basis = is&isAsked != 0, is&isChosen != 0, grid.Basis(r.byte())
		for _, t := range [...]*time.Duration{&n.Ready, &n.Run, &n.Move, &n.Charged, &n.News} {
			*t = time.Duration(r.next()) * time.Microsecond
		}
		n.Results = int32(r.next())
		if is&isPriced != 0 {
			n.Price = grid.Bid(r.next())
		}
		if is&isOption != 0 {
			n.Option = r.byte()
		}
		if is&isWeighed != 0 {
			n.Options = r.options()
		}
	}
	if x.Why == grid.VerdictPriced {
		x.Prices = r.prices()
	}
	return x
}
