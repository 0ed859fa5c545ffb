package event

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"skep/grid"
)

// queue is what the ladder and its reference have in common.
type queue interface {
	Push(e Event)
	Pop() (Event, bool)
	Len() int
}

// held is a queue in the hold model: each popped event pushes another one, a random delay later.
type held struct {
	q     queue
	delay []grid.Time // drawn beforehand: the draw is not measured
	seq   uint64
	spent time.Duration
}

func warm(q queue, draw func(*rand.Rand) grid.Time, pending int) *held {
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

// pointers is the textbook queue that is the reference.
type pointers []*Event

func (p pointers) Len() int           { return len(p) }
func (p pointers) Less(i, j int) bool { return p[i].Before(p[j]) }
func (p pointers) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *pointers) Push(x any)        { *p = append(*p, x.(*Event)) }
func (p *pointers) Pop() any {
	old := *p
	e := old[len(old)-1]
	*p = old[:len(old)-1]
	return e
}

// textbook is a queue of pointers.
type textbook struct{ p pointers }

func (q *textbook) Len() int     { return len(q.p) }
func (q *textbook) Push(e Event) { heap.Push(&q.p, &e) }
func (q *textbook) Pop() (Event, bool) {
	if len(q.p) == 0 {
		return Event{}, false
	}
	return *heap.Pop(&q.p).(*Event), true
}

// BenchmarkLadder pops an event and pushes another with many pending, and reports the textbook's time relative to its
// own: x-textbook, measured in the same run.
func BenchmarkLadder(b *testing.B) {
	for _, pending := range []int{10_000, 300_000} {
		for _, delay := range []string{"exponential", "bimodal", "pareto", "constant"} {
			draw := delays[delay]
			b.Run(delay+"/"+strconv.Itoa(pending), func(b *testing.B) {
				const slice = 200_000
				ref, q := warm(&textbook{}, draw, pending), warm(NewLadder(), draw, pending)
				for b.Loop() {
					ref.hold(slice)
					q.hold(slice)
				}
				b.ReportMetric(float64(ref.spent)/float64(q.spent), "x-textbook")
				b.ReportMetric(float64(q.spent)/float64(b.N)/slice, "ns/hold")
			})
		}
	}
}

// BenchmarkBars measures the ladder with 300,000 pending events over the delays of its benchmark; the worst counts.
func BenchmarkBars(b *testing.B) {
	const pending, slice = 300_000, 1_000_000
	for range b.N {
		worst, which := 1e9, ""
		for _, delay := range []string{"exponential", "bimodal", "pareto"} {
			ref, q := warm(&textbook{}, delays[delay], pending), warm(NewLadder(), delays[delay], pending)
			for range 3 {
				ref.hold(slice)
				q.hold(slice)
			}
			if x := float64(ref.spent) / float64(q.spent); x < worst {
				worst, which = x, delay
			}
		}
		verdict := "pass"
		if worst < 5 {
			verdict = "MISS"
		}
		fmt.Printf("bar: %-58s %10.3f %-6s bar %-9s %s\n", "event queue, 300,000 pending, over container/heap, "+which, worst,
			"", "≥ 5", verdict)
	}
}
