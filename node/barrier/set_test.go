package barrier

import (
	"testing"

	"skep/grid"
)

// job is a job by its number that is quiet from a time on.
type job struct {
	n     byte
	quiet grid.Time
}

func (j *job) Key() grid.JobID    { return grid.JobID{Nonce: [10]byte{j.n}} }
func (j *job) QuietAt() grid.Time { return j.quiet }

// Barriers are checked at once, those of lower jobs first whatever order they were raised in; then when each is due.
func TestBarriersAreCheckedInOrder(t *testing.T) {
	s := NewSet()
	for _, n := range []byte{3, 1, 2} {
		s.Raise(&job{n: n, quiet: 100 * grid.Time(n)}, New(1000))
	}
	var fx grid.Effects
	for _, want := range []byte{1, 2, 3} {
		b, of := s.Due(10)
		if b == nil || of.(*job).n != want {
			t.Fatalf("due is %v, want job %d", of, want)
		}
		if s.Check(10, b, lease, &fx) {
			t.Errorf("the barrier of job %d is lowered before the job is quiet", want)
		}
	}
	if b, _ := s.Due(99); b != nil || s.Len() != 3 {
		t.Errorf("a barrier is due before its job is quiet; %d are raised", s.Len())
	}
	for _, want := range []byte{1, 2} {
		if b, of := s.Due(200); b == nil || of.(*job).n != want || !s.Check(200, b, lease, &fx) {
			t.Errorf("job %v is lowered, want %d", of, want)
		}
	}
	if b, _ := s.Due(200); b != nil || s.Len() != 1 {
		t.Errorf("%d are raised, want the last one alone", s.Len())
	}
}

// One that is lowered early is not due any more.
func TestALoweredBarrierIsGone(t *testing.T) {
	s, b := NewSet(), New(50)
	s.Raise(&job{n: 1}, New(50))
	s.Raise(&job{n: 2}, b)
	s.Raise(&job{n: 3}, New(50))
	s.Lower(b)
	for _, want := range []byte{1, 3} {
		x, of := s.Due(60)
		if x == nil || of.(*job).n != want {
			t.Fatalf("due is %v, want job %d", of, want)
		}
		s.Check(60, x, lease, nil)
	}
}

// There is one timer: a further one is set only for an earlier check, or when the last one is over.
func TestOneTimerForTheNextCheck(t *testing.T) {
	s := NewSet()
	var fx grid.Effects
	if s.Wake(5, 9, &fx); len(fx.Wakes) > 0 {
		t.Error("a timer is set for no barrier")
	}
	raise := func(now, quiet grid.Time) {
		b := New(1000)
		s.Raise(&job{quiet: quiet}, b)
		s.Check(now, b, lease, &fx)
		s.Wake(now, 9, &fx)
	}
	raise(10, 100)
	raise(10, 200) // no news
	raise(10, 50)
	var at []grid.Time
	for _, w := range fx.Wakes {
		at = append(at, w.At)
		if w.Timer != (grid.Timer{Kind: grid.TimerRegister, Key: 9}) {
			t.Errorf("timer %+v", w)
		}
	}
	if len(at) != 2 || at[0] != 100 || at[1] != 50 {
		t.Errorf("timers at %v, want at 100 and then at 50", at)
	}
	if s.Wake(50, 9, &fx); len(fx.Wakes) != 3 {
		t.Error("no timer follows one that is over")
	}
}
