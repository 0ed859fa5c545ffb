package node

import (
	"encoding/binary"
	"time"

	"skep/grid"
	"skep/sparse"
)

// filed is a job that is over. It is kept for long and seldom asked for, so it is packed: in a tenth of the room that a job
// takes of which something may still change.
type filed struct {
	head   uint64        // of its nonce
	open   *job          // it is taken out at the moment, or is one that is not packed; what follows is then empty
	spec   *grid.JobSpec // the rest of it
	packed string
	more   *[]*grid.Result // of its tasks, where a result says more than numbers; nil = of none
}

// mostPacked bounds the tasks of a job that is packed: it is made again whole, whatever of it is asked for, and a message
// about one task of many must not cost more than before.
const mostPacked = 64

// closed reports whether nothing of a job can change any more, but by what comes from without and takes it out again, and it
// is small enough for that.
func (n *Node) closed(j *job) bool {
	return j.count() <= mostPacked && j.guard == nil && j.calm == nil && j.counts[grid.Ended] == j.count() && j.id.Origin == n.cfg.Self
}

// file packs the jobs that were over or taken out in this step.
func (n *Node) file() {
	for k, j := range n.filing {
		n.filing[k] = nil
		if at := n.kept.find(j.id); at >= 0 && n.kept.at(at).open != nil && n.closed(j) { // it may be listed twice
			*n.kept.at(at) = n.pack(j)
			n.kept.packed++
			n.jobs.drop(j.id)
		}
	}
	n.filing = n.filing[:0]
}

// keepOver takes a job that is over into the archive; it is packed after this step.
func (n *Node) keepOver(j *job) {
	if j.guard != nil && j.id.Origin != n.cfg.Self {
		written := uint32(0)
		for range j.known() {
			written++
		}
		j.guard.filed = max(written, 1)
		n.ledger.End(j.id, int(j.guard.filed))
	}
	n.kept.add(n.cfg.Self, j)
	n.filing = append(n.filing, j)
	if j.guard != nil && j.guard.lent.size > 0 {
		n.spares(j)
	}
}

// job returns a job; nil if it is not known. One that was filed is taken out for this step.
func (n *Node) job(id grid.JobID) *job {
	if j := n.jobs.get(id); j != nil || id.Origin != n.cfg.Self {
		return j
	}
	at := n.kept.find(id)
	if at < 0 {
		return nil
	}
	j := n.unpack(n.kept.at(at), true)
	*n.kept.at(at) = filed{head: nonceHead(id), open: j}
	n.kept.packed--
	n.jobs.put(j)
	n.filing = append(n.filing, j)
	return j
}

// look returns a job to be read and no more, and leaves it where it is; nil if it is not known.
func (n *Node) look(id grid.JobID) *job {
	if j := n.jobs.get(id); j != nil || id.Origin != n.cfg.Self {
		return j
	}
	if at := n.kept.find(id); at >= 0 {
		return n.unpack(n.kept.at(at), true)
	}
	return nil
}

func nonceHead(id grid.JobID) uint64 { return binary.BigEndian.Uint64(id.Nonce[:]) }

// What of a packed job or task is there.
const (
	packedCancelled = 1 << iota
	packedHeld
	packedWorker // another than this node
	packedHere   // this node
	packedResult
	packedMore // the result is among the whole ones
)

// pack makes a job small. Times are told against its submission, most as a few bytes.
func (n *Node) pack(j *job) filed {
	f := filed{head: nonceHead(j.id), spec: j.spec}
	b := append(n.scratch.packed[:0], j.id.Nonce[:]...)
	flags := byte(0)
	if j.cancelled {
		flags |= packedCancelled
	}
	b = append(b, flags)
	for _, x := range [...]int64{j.submitted, n.wall.At(j.arrived).UnixNano() - j.submitted, j.done - j.submitted, int64(j.quiet),
		int64(j.next), int64(j.oldest), int64(j.failed), int64(j.exit)} {
		b = binary.AppendVarint(b, x)
	}
	for i := range j.spec.Count {
		b = n.packTask(b, &f, j, i)
	}
	n.scratch.packed, f.packed = b, string(b)
	return f
}

func (n *Node) packTask(b []byte, f *filed, j *job, i uint32) []byte {
	t := j.task(i)
	flags := byte(0)
	if t.held {
		flags |= packedHeld
	}
	switch {
	case t.worker == n.cfg.Self:
		flags |= packedHere
	case !t.worker.IsZero():
		flags |= packedWorker
	}
	if r := &t.result; r.Whole() != nil {
		flags |= packedMore
		if f.more == nil {
			all := make([]*grid.Result, j.count())
			f.more = &all
		}
		(*f.more)[i] = r.Whole()
	} else if !r.None() {
		flags |= packedResult
	}
	b = append(b, flags)
	if flags&packedWorker != 0 {
		b = append(b, t.worker[:]...)
	}
	if r := &t.result; flags&packedResult != 0 {
		for _, x := range [...]int64{int64(r.Cause), int64(r.Exit), int64(r.Waited), int64(r.Wall), int64(r.CPU), int64(r.MaxRSS)} {
			b = binary.AppendVarint(b, x)
		}
	}
	for _, x := range [...]int64{int64(t.attempt.Epoch), int64(t.attempt.N), int64(t.made.Epoch), int64(t.made.N), int64(t.lost), t.placed - j.submitted,
		t.began - j.submitted, t.done - j.done} {
		b = binary.AppendVarint(b, x)
	}
	told := t.traces.from(pen{}, n.scratch.told[:0], pen{at: j.arrived, node: t.worker})
	n.scratch.told = told
	return append(binary.AppendUvarint(b, uint64(len(told))), told...)
}

// unpack makes the job again as it was, with its tasks or only what there is to say of it as a whole.
func (n *Node) unpack(f *filed, whole bool) *job {
	if f.open != nil {
		return f.open
	}
	b := []byte(f.packed)
	j := &job{id: grid.JobID{Origin: n.cfg.Self}, spec: f.spec, class: grid.ClassOf(f.spec)}
	b = b[copy(j.id.Nonce[:], b):]
	j.cancelled, b = b[0]&packedCancelled != 0, b[1:]
	number := func() int64 {
		x, size := binary.Varint(b)
		b = b[size:]
		return x
	}
	j.submitted = number()
	j.arrived = grid.Time(j.submitted + number() - n.wall.At(0).UnixNano())
	j.done, j.quiet, j.next, j.oldest = j.submitted+number(), grid.Time(number()), uint32(number()), uint32(number())
	j.failed, j.exit = int32(number()), int32(number())
	j.counts[grid.Ended] = int(f.spec.Count)
	if !whole {
		return j
	}
	j.tasks = sparse.Make[task](f.spec.Count)
	for i := range f.spec.Count {
		t := j.tasks.At(i)
		flags := b[0]
		b = b[1:]
		t.state, t.held = grid.Ended, flags&packedHeld != 0
		switch {
		case flags&packedHere != 0:
			t.worker = n.cfg.Self
		case flags&packedWorker != 0:
			b = b[copy(t.worker[:], b):]
		}
		switch {
		case flags&packedMore != 0:
			t.result = (*f.more)[i].Brief()
		case flags&packedResult != 0:
			t.result.Cause, t.result.Exit = grid.Cause(number()), int32(number())
			t.result.Waited, t.result.Wall, t.result.CPU = time.Duration(number()), time.Duration(number()), time.Duration(number())
			t.result.MaxRSS = grid.Bytes(number())
		}
		t.attempt = grid.Attempt{Epoch: uint32(number()), N: uint32(number())}
		t.made = grid.Attempt{Epoch: uint32(number()), N: uint32(number())}
		t.lost, t.placed = int32(number()), j.submitted+number()
		t.began, t.done = j.submitted+number(), j.done+number()
		size, k := binary.Uvarint(b)
		b = b[k:]
		if size > 0 {
			t.traces = traces(b[:size]).from(pen{at: j.arrived, node: t.worker}, nil, pen{})
		}
		b = b[size:]
	}
	return j
}
