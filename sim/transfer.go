package sim

import (
	"time"

	"skep/grid"
)

// transfer is a fetch under way.
type transfer struct {
	attempt grid.AttemptID
	files   []grid.File // immutable
	from    int32
	next    int32 // of the unused
}

// fetch begins to bring blobs to a node.
func (w *World) fetch(i int32, f *grid.Fetch) {
	if w.freeTr == 0 {
		w.transfer = append(w.transfer, transfer{})
		w.freeTr = int32(len(w.transfer))
	}
	name := w.freeTr - 1
	t := &w.transfer[name]
	w.freeTr = t.next
	*t = transfer{attempt: f.Attempt, files: f.Files, from: w.index(f.From)}
	size := grid.Bytes(0)
	for k := range f.Files {
		if _, have := w.hosts[i].blobs[f.Files[k].Blob]; !have {
			size += f.Files[k].Size
		}
	}
	wait := time.Duration(0)
	if t.from >= 0 && t.from != i && size > 0 {
		wait = w.latency(i, t.from) + w.latency(t.from, i) + grid.Seconds(float64(size)/float64(w.cfg.Machine.Bandwidth))
	}
	w.push(w.now.Add(wait), kindFetched, i, 0, uint64(name))
}

// fetched ends a fetch: the blobs are here if they were before, or if their holder can be reached.
func (w *World) fetched(e *Event) {
	name := int32(e.Arg)
	t := w.transfer[name]
	w.transfer[name] = transfer{next: w.freeTr}
	w.freeTr = name + 1
	if !w.here(e) {
		return
	}
	h := &w.hosts[e.Node]
	w.ev = grid.Event{Kind: grid.EvFetched, Attempt: t.attempt}
	reach := t.from == e.Node || t.from >= 0 && w.hosts[t.from].up && !w.apart(e.Node, t.from) && !w.apart(t.from, e.Node)
	for k := range t.files {
		id := t.files[k].Blob
		if _, have := h.blobs[id]; have {
			continue
		}
		if !reach {
			w.ev.Err = "nobody who can be reached has " + id.String()
			break
		}
		if h.blobs == nil {
			h.blobs = make(map[grid.BlobID]struct{})
		}
		h.blobs[id] = struct{}{}
	}
	w.step(e.Node, &w.ev)
}
