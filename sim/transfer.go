package sim

import (
	"encoding/binary"
	"time"

	"skep/grid"
	"skep/sim/event"
)

// transfer is a fetch under way.
type transfer struct {
	grid.Fetch
	size grid.Bytes // of what the node has not
	next int32      // in the free list
}

// fetch begins to transfer blobs to a node.
func (w *World) fetch(i int32, f *grid.Fetch) {
	if w.freeTransfer == 0 {
		w.transfers = append(w.transfers, transfer{})
		w.freeTransfer = int32(len(w.transfers))
	}
	name := w.freeTransfer - 1
	t := &w.transfers[name]
	w.freeTransfer = t.next
	*t = transfer{Fetch: *f}
	from := w.index(f.From)
	size := grid.Bytes(0)
	for k := range f.Files {
		if !w.hasBlob(i, f.Files[k].Blob) {
			size += f.Files[k].Size
		}
	}
	wait := time.Duration(0)
	if from >= 0 && from != i && size > 0 {
		wait = w.latency(i, from) + w.latency(from, i) + grid.Seconds(float64(size)/w.fileRate(from, i))
	}
	t.size = size
	w.push(w.now.Add(wait), kindFetched, i, 0, uint64(name))
}

// fetched ends a fetch: a blob is there if the node had it before, or if one of the nodes to ask has it and can be
// reached.
func (w *World) fetched(e *event.Event) {
	name := int32(e.Arg)
	t := w.transfers[name]
	w.transfers[name] = transfer{next: w.freeTransfer}
	w.freeTransfer = name + 1
	if !w.isCurrent(e) {
		return
	}
	w.ev = grid.Event{Kind: grid.EvFetched, Attempt: t.Attempt, Deposit: t.Deposit,
		OfAttempt: grid.OfAttempt{Step: t.Step}}
	for k := range t.Files {
		id := t.Files[k].Blob
		if w.hasBlob(e.Node, id) {
			continue
		}
		found := w.canServe(e.Node, w.index(t.From), id)
		for _, o := range t.Others {
			found = found || w.canServe(e.Node, w.index(o), id)
		}
		if !found {
			w.ev.Err = "nobody who can be reached has " + id.String()
			break
		}
		w.putBlob(e.Node, id)
	}
	whole := w.ev.Err == ""
	w.step(e.Node, &w.ev)
	if whole {
		w.transferred(w.index(t.From), e.Node, t.size)
	}
}

func (w *World) canServe(to, from int32, id grid.BlobID) bool {
	return from >= 0 && from != to && w.hosts[from].up && !w.isCut(to, from) && !w.isCut(from, to) && w.hasBlob(from, id)
}

func (w *World) hasBlob(i int32, id grid.BlobID) bool {
	_, have := w.hosts[i].blobs[id]
	return have
}

// putBlob makes a blob durable on a node.
func (w *World) putBlob(i int32, id grid.BlobID) {
	h := &w.hosts[i]
	if h.blobs == nil {
		h.blobs = make(map[grid.BlobID]struct{})
	}
	h.blobs[id] = struct{}{}
	w.books.Hindsight().Got(w.now, i, id)
}

// outputs makes the output files of a task whose job asks for some: one, distinct for each attempt.
func (w *World) outputs(i, task int32, a grid.Attempt) []grid.File {
	f := grid.File{Path: "out", Size: grid.MiB}
	binary.BigEndian.PutUint32(f.Blob[:], 0x6f757470)
	binary.BigEndian.PutUint32(f.Blob[4:], uint32(task))
	binary.BigEndian.PutUint32(f.Blob[8:], a.Epoch)
	binary.BigEndian.PutUint32(f.Blob[12:], a.N)
	w.putBlob(i, f.Blob)
	return []grid.File{f}
}

// fileRate is how many bytes a second a file takes from one node to another.
func (w *World) fileRate(from, to int32) float64 {
	rate := float64(w.cfg.Machine.Bandwidth)
	if p := w.parallel; p != nil && p.Files {
		for _, at := range p.Path(int(from), int(to)) {
			rate = min(rate, p.Capacity[at])
		}
	}
	return rate
}

// leastMeasured is the size from which a transfer tells something of a link.
const leastMeasured = grid.MiB

// transferred tells two nodes what a transfer of so many bytes has achieved.
func (w *World) transferred(from, to int32, size grid.Bytes) {
	if p := w.parallel; p == nil || !p.Files || size < leastMeasured || from < 0 || from == to ||
		!w.hosts[from].up || !w.hosts[to].up {
		return
	}
	took := grid.Seconds(float64(size) / w.fileRate(from, to))
	for _, ends := range [...][2]int32{{from, to}, {to, from}} {
		w.ev = grid.Event{Kind: grid.EvTransferred, Peer: w.hosts[ends[1]].id,
			Observed: grid.Observed{Transfer: grid.Transfer{Bytes: size, Took: took}}}
		w.step(ends[0], &w.ev)
	}
}
