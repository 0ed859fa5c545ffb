package sim

import (
	"math/rand/v2"
	"strconv"
	"time"

	"skep/grid"
)

// held is a queue in the hold model: each event that is taken out puts in another, a random delay later.
type held struct {
	q     Queue
	delay []grid.Time // drawn beforehand: the draw is not what is measured
	seq   uint64
	spent time.Duration
}

func warm(q Queue, draw func(*rand.Rand) grid.Time, pending int) *held {
	r := rand.New(rand.NewPCG(1, 1))
	h := &held{q: q, delay: make([]grid.Time, 1<<16)}
	for i := range h.delay {
		h.delay[i] = draw(r)
	}
	for range pending {
		h.seq++
		q.Push(Event{At: draw(r), Seq: h.seq})
	}
	h.hold(2 * pending)
	h.spent = 0
	return h
}

func (h *held) hold(n int) {
	start := time.Now()
	for range n {
		e, _ := h.q.Pop()
		h.seq++
		e.At, e.Seq = e.At+h.delay[h.seq*0x9e3779b97f4a7c15>>48], h.seq
		h.q.Push(e)
	}
	h.spent += time.Since(start)
}

func itoa(n int) string { return strconv.Itoa(n) }
