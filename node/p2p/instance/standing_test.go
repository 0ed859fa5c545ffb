package instance

import (
	"math/rand/v2"
	"testing"
	"time"

	"skep/grid"
)

const start = grid.Time(100 * time.Hour)

// Which of two instances stops, whatever their numbers, where a statement is not on its way for long.
func TestOneOfTwoIsLater(t *testing.T) {
	for _, row := range []struct {
		is, other   Standing
		age, others time.Duration
		stops       string
	}{
		{Starting, Starting, 0, 0, "larger"},
		{Starting, Alone, 0, time.Hour, "this"},
		{Alone, Joined, 100 * time.Hour, time.Second, "this"}, // a copy that ran where it reached nobody
		{Joined, Alone, time.Second, 100 * time.Hour, "other"},
		{Alone, Alone, time.Hour, time.Minute, "larger"}, // nobody knows either
		{Joined, Joined, time.Hour, time.Minute, "other"},
		{Joined, Joined, time.Minute, time.Hour, "this"},
		{Joined, Joined, time.Minute, time.Minute + findTime, "larger"},
		{Joined, Joined, time.Minute + findTime, time.Minute, "larger"},
	} {
		for _, numbers := range [][2]uint64{{1, 2}, {2, 1}} {
			s := standing{is: row.is, since: start.Add(-row.age)}
			want := row.stops == "this" || row.stops == "larger" && numbers[0] > numbers[1]
			other := Statement{Instance: numbers[1], Standing: row.other, Age: row.others}
			if got := s.yields(start, numbers[0], &other); got != want || s.yielded != want {
				t.Errorf("%+v with %d: stops: %v, want the one that does to be %q", row, numbers, got, row.stops)
			}
		}
	}
}

// A process that is to stop does not begin, and rises no more: the other one would then take it for the earlier one.
func TestStandingOfOneThatStops(t *testing.T) {
	var s standing
	if !s.yields(start, 1, &Statement{Instance: 2, Standing: Alone}) || s.begin(start) {
		t.Fatal("a starting process begins beside one that runs")
	}
	s.join(start)
	if s.is != Starting || s.known {
		t.Errorf("its standing is %d, known %v: want that of one that starts", s.is, s.known)
	}
	alone := standing{is: Alone, since: start}
	if !alone.yields(start, 2, &Statement{Instance: 1, Standing: Alone}) {
		t.Fatal("the one with the larger number goes on")
	}
	alone.join(start)
	if alone.is != Alone {
		t.Error("one that is to stop joins")
	}
}

// One that has asked a peer before it begins has joined then, one that meets a peer later at that time.
func TestAgeCountsFromTheFirstPeer(t *testing.T) {
	var asked, late standing
	asked.join(start)
	asked.begin(start.Add(time.Second))
	late.begin(start)
	late.join(start.Add(time.Hour))
	late.join(start.Add(2 * time.Hour))
	at := start.Add(3 * time.Hour)
	if asked.is != Joined || asked.age(at) != 3*time.Hour-time.Second {
		t.Errorf("%+v, %v: want it joined since it began", asked, asked.age(at))
	}
	if late.is != Joined || late.age(at) != 2*time.Hour {
		t.Errorf("%+v, %v: want it joined since its first peer", late, late.age(at))
	}
}

// However the exchanges of two instances are ordered and delayed, and whatever becomes of them meanwhile, never do both
// stop; when nothing changes any more one of them does.
func TestTwoInstancesNeverBothStop(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for history := range 20_000 {
		offset := [2]time.Duration{time.Duration(r.IntN(1000)) * time.Hour, time.Duration(r.IntN(1000)) * time.Hour}
		number := [2]uint64{1, 2}
		if r.IntN(2) == 0 {
			number = [2]uint64{2, 1}
		}
		var s [2]standing
		at := start
		clock := func(i int) grid.Time { return at.Add(offset[i]) } // the clocks of the machines differ
		says := func(i int) Statement {
			return Statement{Instance: number[i], Standing: s[i].is, Age: s[i].age(clock(i)).Truncate(time.Millisecond)}
		}
		type letter struct {
			to  int
			by  grid.Time
			has Statement
		}
		var way []letter
		deliver := func(k int) {
			l := way[k]
			way = append(way[:k], way[k+1:]...)
			s[l.to].yields(clock(l.to), number[l.to], &l.has)
		}
		for range 12 {
			i := r.IntN(2)
			switch r.IntN(5) {
			case 0:
				if s[i].is == Starting {
					s[i].begin(clock(i))
				}
			case 1:
				s[i].join(clock(i))
			case 2, 3:
				way = append(way, letter{1 - i, at.Add(findTime), says(i)})
			default:
				if len(way) > 0 {
					deliver(r.IntN(len(way)))
				}
			}
			at = at.Add(time.Duration(r.Int64N(int64(3 * time.Second))))
			for k := len(way) - 1; k >= 0; k-- {
				if way[k].by < at {
					way = append(way[:k], way[k+1:]...)
				}
			}
		}
		for i := range s {
			say := says(1 - i)
			s[i].yields(clock(i), number[i], &say)
		}
		if s[0].yielded == s[1].yielded {
			t.Fatalf("history %d: %+v with %d and %+v with %d: want that one stops", history, s[0], number[0], s[1], number[1])
		}
	}
}
