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
	next int32 // in the free list
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
		wait = w.latency(i, from) + w.latency(from, i) + grid.Seconds(float64(size)/float64(w.cfg.Machine.Bandwidth))
	}
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
	w.step(e.Node, &w.ev)
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
