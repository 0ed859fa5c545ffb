package balance

import (
	"fmt"
	"testing"
	"time"

	"skep/grid"
)

// steady is a decider in a grid of 64 nodes with 16 classes, all known, and the columns they send.
type steady struct {
	p       Policy
	v       View
	columns []Outcome
	tasks   []grid.Task
	dst     []grid.NodeID
	answers []State
	now     grid.Time
	k       int
}

func newSteady(tb testing.TB, name string, c Config) *steady {
	const machines, classes = 64, 16
	r := grid.NewRand(1, 9)
	w := &world{}
	for range classes {
		alpha, mu := make([]float64, machines), make([]float64, machines)
		for j := range machines {
			alpha[j], mu[j] = r.Float64(), 1+9*r.Float64()
		}
		w.alpha, w.mu = append(w.alpha, alpha), append(w.mu, mu)
	}
	s := &steady{p: mustMake(tb, name, c, 1), v: w.view(3, 0)}
	for j := range machines {
		s.columns = append(s.columns, w.column(j))
		s.v.Nodes[j].RTT = time.Millisecond
	}
	for i := range classes {
		s.tasks = append(s.tasks, grid.Task{Class: fmt.Sprintf("class%d", i+1)})
	}
	w.tell(s.p)
	return s
}

// decide is one decision with all that belongs to it; the rates that come with answers do not change.
func (s *steady) decide() {
	s.k++
	s.now = s.now.Add(100 * time.Microsecond)
	t := &s.tasks[s.k%len(s.tasks)]
	s.dst = s.p.Poll(s.now, t, s.v, s.dst[:0])
	s.answers = s.answers[:0]
	for _, id := range s.dst {
		j := find(s.v, id)
		s.p.Note(s.columns[j])
		a := s.v.Nodes[j]
		a.Heard = s.now
		s.answers = append(s.answers, a)
	}
	if len(s.dst) == 0 {
		s.answers = append(s.answers, s.v.Nodes...)
	}
	if c := s.p.Choose(s.now, t, s.answers); c.Act == Place {
		s.p.Note(Outcome{Kind: Placed, At: s.now, Node: c.Node, Class: t.Class})
		s.p.Note(Outcome{Kind: Finished, At: s.now, Node: c.Node, Class: t.Class})
	}
}

func TestNoAllocation(t *testing.T) {
	for _, name := range Names() {
		for _, c := range []Config{{}, Node()} {
			s := newSteady(t, name, c)
			for range 1500 {
				s.decide()
			}
			if n := testing.AllocsPerRun(200, s.decide); n != 0 {
				t.Errorf("%s with PollMax %d: %g allocations for each decision, want none", name, c.PollMax, n)
			}
		}
	}
}

// Solving again allocates only where something grows.
func TestSolveDoesNotAllocate(t *testing.T) {
	s := newSteady(t, "lpas_dec", Config{})
	flip := 0
	again := func() {
		flip++
		s.columns[5].Rates[2].Mu = float64(3 + flip%4)
		s.p.Note(s.columns[5])
		s.decide()
	}
	for range 2000 {
		again()
	}
	before := s.p.(Solver).Solves()
	if n := testing.AllocsPerRun(100, again); n != 0 {
		t.Errorf("%g allocations for each solve, want none", n)
	}
	if s.p.(Solver).Solves() < before+100 {
		t.Error("nothing was solved")
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			s := newSteady(b, name, Node())
			for range 1000 {
				s.decide()
			}
			b.ReportAllocs()
			for b.Loop() {
				s.decide()
			}
		})
	}
}
