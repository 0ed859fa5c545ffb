package event

import (
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"skep/grid"
)

var seedFlag = flag.Uint64("event.seed", 0, "run random tests with this seed alone; 0 = with the usual ones")

// delays are the distributions of the time from a push to its event.
var delays = map[string]func(*rand.Rand) grid.Time{
	"exponential": func(r *rand.Rand) grid.Time { return grid.Time(r.ExpFloat64() * 1e6) },
	"bimodal": func(r *rand.Rand) grid.Time {
		if r.IntN(10) == 0 {
			return grid.Time(1e9 + r.Float64()*1e8)
		}
		return grid.Time(r.Float64() * 1e5)
	},
	"pareto":   func(r *rand.Rand) grid.Time { return grid.Time(1e3 * math.Pow(1-r.Float64(), -1/1.5)) },
	"constant": func(r *rand.Rand) grid.Time { return 1e6 },
	"zero":     func(r *rand.Rand) grid.Time { return 0 },
	"ties":     func(r *rand.Rand) grid.Time { return grid.Time(r.IntN(3)) },
	"far": func(r *rand.Rand) grid.Time {
		return grid.Time(1) << r.IntN(55)
	},
}

func TestLadderAgainstHeap(t *testing.T) {
	for delay, draw := range delays {
		for _, seed := range seeds(4) {
			r := rand.New(rand.NewPCG(seed, 1))
			q, ref := NewLadder(), &textbook{}
			var now grid.Time
			var seq uint64
			for range 3000 {
				for range r.IntN(4) {
					seq++
					e := Event{At: now + draw(r), Seq: seq, Arg: r.Uint64(), Node: int32(seq)}
					q.Push(e)
					ref.Push(e)
				}
				if r.IntN(40) == 0 { // let it grow and shrink
					for range r.IntN(100) {
						now = same(t, delay, seed, q, ref, now)
					}
				}
				now = same(t, delay, seed, q, ref, now)
			}
			for q.Len() > 0 || ref.Len() > 0 {
				now = same(t, delay, seed, q, ref, now)
			}
			same(t, delay, seed, q, ref, now)
		}
	}
}

func seeds(n int) []uint64 {
	if *seedFlag != 0 {
		return []uint64{*seedFlag}
	}
	s := make([]uint64, n)
	for i := range s {
		s[i] = uint64(i) + 1
	}
	return s
}

func same(t *testing.T, delay string, seed uint64, q *Ladder, ref *textbook, now grid.Time) grid.Time {
	t.Helper()
	if q.Len() != ref.Len() {
		t.Fatalf("%s: length %d, want %d; repeat with: go test ./sim/event -run %s -event.seed=%d", delay, q.Len(), ref.Len(),
			t.Name(), seed)
	}
	got, ok := q.Pop()
	want, wantOK := ref.Pop()
	if got != want || ok != wantOK {
		t.Fatalf("%s: popped %+v %v, want %+v %v; repeat with: go test ./sim/event -run %s -event.seed=%d", delay, got, ok,
			want, wantOK, t.Name(), seed)
	}
	if ok {
		return got.At
	}
	return now
}

func TestLadderAgainstHeapWithManyPending(t *testing.T) {
	for delay, draw := range delays {
		for _, seed := range seeds(1) {
			r := rand.New(rand.NewPCG(seed, 2))
			q, ref := NewLadder(), &textbook{}
			var now grid.Time
			for i := range uint64(120_000) {
				e := Event{At: now + draw(r), Seq: i}
				q.Push(e)
				ref.Push(e)
				if i < 20_000 || r.IntN(8) == 0 {
					continue
				}
				got, _ := q.Pop()
				want, _ := ref.Pop()
				if got != want {
					t.Fatalf("%s: popped %+v, want %+v; repeat with: go test ./sim/event -run %s -event.seed=%d", delay, got, want,
						t.Name(), seed)
				}
				now = got.At
			}
		}
	}
}

func TestTiesComeInTheOrderOfSeq(t *testing.T) {
	q := NewLadder()
	const n = 5000
	for i := range uint64(n) {
		q.Push(Event{At: grid.Time(i % 3 * 1000), Seq: i})
	}
	last := Event{At: -1}
	for range n {
		e, ok := q.Pop()
		if !ok || e.At < last.At || e.At == last.At && e.Seq <= last.Seq {
			t.Fatalf("%+v came after %+v", e, last)
		}
		last = e
	}
	if _, ok := q.Pop(); ok {
		t.Fatal("popped more than was pushed")
	}
}

func TestWarmLadderDoesNotAllocate(t *testing.T) {
	q := NewLadder()
	r := rand.New(rand.NewPCG(1, 1))
	var seq uint64
	var now grid.Time
	hold := func() {
		for range 20_000 {
			e, _ := q.Pop()
			now = e.At
			seq++
			q.Push(Event{At: now + grid.Time(r.ExpFloat64()*1e6), Seq: seq})
		}
	}
	for range 2000 {
		seq++
		q.Push(Event{At: grid.Time(r.ExpFloat64() * 1e6), Seq: seq})
	}
	for range 5 {
		hold()
	}
	if n := testing.AllocsPerRun(5, hold); n > 2 { // of 20,000 holds
		t.Errorf("%v allocations in 20,000 holds, want none to speak of", n)
	}
}

func FuzzLadder(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0, 0, 200, 9, 9})
	f.Add(binary.LittleEndian.AppendUint64(nil, 1<<63-1))
	f.Fuzz(func(t *testing.T, b []byte) {
		q, ref := NewLadder(), &textbook{}
		var seq uint64
		b = b[:min(len(b), 3000)]
		for len(b) > 2 {
			op := b[0]
			at := grid.Time(binary.LittleEndian.Uint16(b[1:])) << (op >> 1 % 47)
			b = b[3:]
			if op&1 == 0 || q.Len() == 0 {
				for range op>>3 + 1 {
					seq++
					e := Event{At: at + grid.Time(seq%7*uint64(op)), Seq: seq}
					q.Push(e)
					ref.Push(e)
				}
				continue
			}
			got, _ := q.Pop()
			want, _ := ref.Pop()
			if got != want {
				t.Fatalf("popped %+v, want %+v", got, want)
			}
		}
		for ref.Len() > 0 {
			got, _ := q.Pop()
			if want, _ := ref.Pop(); got != want {
				t.Fatalf("popped %+v, want %+v", got, want)
			}
		}
	})
}
