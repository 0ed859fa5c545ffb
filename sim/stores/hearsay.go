package stores

import (
	"encoding/binary"
	"time"

	"skep/grid"
	"skep/node/generation"
)

// hearsay is what a node has heard of others' stores, what of that is on its disk, and whom it has to tell.
type hearsay struct {
	book    generation.Book
	telling generation.Telling
	round   grid.Time // when the next round is scheduled; 0 = none is
	pending []heard   // not on disk yet, in order of time
	kept    []heard   // on disk
}

type heard struct {
	node   grid.NodeID
	signed []byte
	at     grid.Time
}

// saveEvery is how often what was heard is written.
const saveEvery = time.Second

// statement is one on its way.
type statement struct {
	by       int32
	instance uint64 // of the run that told it
	signed   []byte
}

// encode returns a statement as it is kept. Nobody looks at the signature here.
func encode(s generation.Statement) []byte {
	b := make([]byte, generation.Size)
	for i, x := range [...]uint64{s.Boot, s.Instance, s.Saved} {
		binary.BigEndian.PutUint64(b[8*i:], x)
	}
	return b
}

func decode(signed []byte) (s generation.Statement, ok bool) {
	if len(signed) != generation.Size {
		return s, false
	}
	word := func(i int) uint64 { return binary.BigEndian.Uint64(signed[8*i:]) }
	return generation.Statement{Boot: word(0), Instance: word(1), Saved: word(2)}, true
}

// keep takes what was heard long enough ago for written.
func (h *hearsay) keep(now grid.Time) {
	for len(h.pending) > 0 && now.Sub(h.pending[0].at) >= saveEvery {
		h.kept, h.pending = append(h.kept, h.pending[0]), h.pending[1:]
	}
}

// stop loses what is not on disk.
func (h *hearsay) stop(now grid.Time) {
	h.keep(now)
	h.pending, h.round, h.telling = nil, 0, generation.Telling{}
}

// restore reads what is on disk.
func (h *hearsay) restore(now grid.Time) {
	h.book = generation.Book{}
	for _, x := range h.kept {
		h.book.Restore(x.node, x.signed, now.Sub(x.at))
	}
}

// Up reports that a node has connected, Down that it is gone, and Sent that a message leaves for it.
func (s *Stores) Up(i, j int32) { s.nodes[i].telling.Up(s.id(j)) }

// Down reports that a node is gone.
func (s *Stores) Down(i, j int32) { s.nodes[i].telling.Down(s.id(j)) }

// Sent reports that a node sends another one a message.
func (s *Stores) Sent(i int32, to grid.NodeID) { s.nodes[i].telling.Sent(to, s.nodes[i].saved) }

// Due returns when a node's next round of telling is due, if it is due and was not returned before.
func (s *Stores) Due(now grid.Time, i int32) (at grid.Time, due bool) {
	x := &s.nodes[i]
	at = x.telling.Next()
	if at == grid.Never || x.round > now {
		return 0, false
	}
	x.round = max(at, now+1)
	return x.round, true
}

// Round begins a round and returns whom a node tells, and the name of what it tells.
func (s *Stores) Round(now grid.Time, i int32) (to []grid.NodeID, name uint64) {
	x := &s.nodes[i]
	x.round = 0
	if to = x.telling.Round(now, x.saved); len(to) > 0 {
		s.flight = append(s.flight, statement{i, x.start.Instance, encode(generation.Statement{Boot: x.start.Boot,
			Instance: x.start.Instance, Saved: x.saved})})
	}
	return to, uint64(len(s.flight)) - 1
}

// Failed reports that a node could not be told.
func (s *Stores) Failed(i int32, to grid.NodeID) { s.nodes[i].telling.Failed(to) }

// Told reports that a node hears what was told, unless who told it has been started again: its streams were closed.
func (s *Stores) Told(now grid.Time, i int32, name uint64) {
	x, f := &s.nodes[i], &s.flight[name]
	x.keep(now)
	if by := &s.nodes[f.by]; by.start.Instance == f.instance && x.book.Heard(now, s.id(f.by), f.signed) {
		x.pending = append(x.pending, heard{s.id(f.by), f.signed, now})
	}
}
