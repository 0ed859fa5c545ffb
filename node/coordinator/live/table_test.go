package live

import (
	"math/rand/v2"
	"slices"
	"testing"

	"skep/grid"
)

type task struct {
	Place[*task]
	job  *job
	came grid.Time
}

type job struct{ Job[*task] }

// Of tasks that arrived at the same time the older one is placed first, whatever order they were queued in.
func TestEqualTimesHaveAnOrder(t *testing.T) {
	s, of := New[*task](), new(job)
	var all []*task
	for range 4 {
		x := &task{job: of}
		s.Add(x, &of.Job)
		all = append(all, x)
	}
	for _, k := range []int{2, 0, 1} {
		s.Retry(all[k], 7)
	}
	s.Retry(all[3], 5)
	for _, k := range []int{3, 0, 1, 2} {
		if x := s.Next(); x != all[k] {
			t.Errorf("task %d is next: want %d", x.Key(), all[k].Key())
		}
	}
	for _, x := range all {
		s.Drop(x)
	}
	if s.Len() != 0 || s.Get(all[0].Key()) != nil {
		t.Error("a task that was dropped is there")
	}
}

// A task is decided anew, or over, before it enters another phase; one that waits or is queued is not dropped.
func TestImpossibleChangesPanic(t *testing.T) {
	for name, change := range map[string]func(*Table[*task], *task){
		"placed and offered":  func(s *Table[*task], x *task) { s.Accept(x); s.Offer(x) },
		"polled and placed":   func(s *Table[*task], x *task) { s.Poll(x, false); s.Accept(x) },
		"placed and waiting":  func(s *Table[*task], x *task) { s.Accept(x); s.Park(x, ForTimer) },
		"waiting and dropped": func(s *Table[*task], x *task) { s.Park(x, ForTimer); s.Drop(x) },
		"queued and dropped":  func(s *Table[*task], x *task) { s.Retry(x, 1); s.Drop(x) },
		"placed and dropped":  func(s *Table[*task], x *task) { s.Accept(x); s.Drop(x) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			s, of := New[*task](), new(job)
			x := &task{job: of}
			s.Add(x, &of.Job)
			change(&s, x)
		})
	}
}

// The attempts of a job that run are counted while their tasks are placed, and a batch poll lasts as long as its task
// is polled for.
func TestAJobCountsWhatIsUnderWay(t *testing.T) {
	s, of := New[*task](), new(job)
	x, y := &task{job: of}, &task{job: of}
	s.Add(x, &of.Job)
	s.Add(y, &of.Job)
	s.Poll(x, true)
	s.Poll(y, false)
	if of.BatchPoll() != x || of.Polling() != 2 || s.InFlight() != 2 {
		t.Errorf("%v polls for all, %d are polled for, %d in flight", of.BatchPoll(), of.Polling(), s.InFlight())
	}
	s.Release(y)
	s.Accept(y)
	if y.Note(1, &grid.Message{Kind: grid.KindAccept, Started: true}, 0); of.Running() != 1 || !y.Status().Runs() {
		t.Errorf("%d run, and the task that started: %v", of.Running(), y.Status().Runs())
	}
	s.Release(x)
	s.Release(y)
	if of.BatchPoll() != nil || of.Polling() != 0 || of.Running() != 0 || y.Status().Runs() || s.InFlight() != 0 {
		t.Errorf("a batch poll %v, %d polled for, %d run, %d in flight: want none", of.BatchPoll(), of.Polling(),
			of.Running(), s.InFlight())
	}
}

// A turn covers all that wait where they are few; else each in its turn, and what is granted is one of those shown.
func TestTurns(t *testing.T) {
	s, of := New[*task](), new(job)
	for range 5 {
		x := &task{job: of}
		s.Add(x, &of.Job)
		s.Park(x, ForTimer)
	}
	keys := func(some func(int) func(func(*task) bool), most, stop int) (ids []uint64) {
		for x := range some(most) {
			if ids = append(ids, x.Key()); len(ids) == stop {
				break
			}
		}
		return ids
	}
	turn := func(most int) func(func(*task) bool) { return s.Turn(most) }
	last := func(most int) func(func(*task) bool) { return s.LastTurn(most) }
	for k, want := range [][]uint64{{1, 2, 3}, {4, 5, 1}, {2, 3, 4}} {
		if got := keys(turn, 3, 9); !slices.Equal(got, want) {
			t.Errorf("turn %d is of %v: want %v", k, got, want)
		}
		if got := keys(last, 3, 9); !slices.Equal(got, want) {
			t.Errorf("the last turn was of %v: want %v", got, want)
		}
	}
	keys(turn, 3, 1) // ends after one
	if got := keys(turn, 3, 9); !slices.Equal(got, []uint64{1, 2, 3}) {
		t.Errorf("the turn after one that ended early is of %v", got)
	}
	if got := keys(turn, 5, 9); !slices.Equal(got, []uint64{1, 2, 3, 4, 5}) {
		t.Errorf("a turn of all is of %v", got)
	}
}

// Random changes against plain sets.
func TestTableAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := New[*task]()
	jobs := []*job{{}, {}, {}}
	var all []*task
	retrying := map[*task]bool{}
	parked := map[*task]Awaited{}
	free := func(x *task) bool { return !retrying[x] && x.Phase() != Waiting }
	for range 20_000 {
		if len(all) < 12 {
			x := &task{job: jobs[r.IntN(3)], came: grid.Time(r.IntN(4))}
			s.Add(x, &x.job.Job)
			s.Retry(x, x.came)
			retrying[x] = true
			all = append(all, x)
		}
		x := all[r.IntN(len(all))]
		switch k := r.IntN(7); {
		case k == 0 && len(retrying) > 0:
			first := s.Next()
			for o := range retrying {
				if o.came < first.came || o.came == first.came && o.Key() < first.Key() {
					t.Fatalf("task %d of %v came before %d of %v", o.Key(), o.came, first.Key(), first.came)
				}
			}
			delete(retrying, first)
			s.Poll(first, r.IntN(2) == 0)
		case k == 1 && free(x):
			s.Release(x)
			a := Awaited(r.IntN(int(ForSlot) + 1))
			s.Park(x, a)
			parked[x] = a
		case k == 2:
			lets := s.Dequeue(x)
			a, waited := parked[x]
			delete(parked, x)
			delete(retrying, x)
			held := 0
			for o, b := range parked {
				if o.job == x.job && (b == ForProof || b == ForMapping) {
					held++
				}
			}
			if want := waited && (a == ForProof || a == ForMapping) && held == 0; lets != want {
				t.Fatalf("task %d awaited %v, %d of its job hold others back: it lets them go %v", x.Key(), a, held, lets)
			}
			s.Release(x)
			s.Retry(x, x.came)
			retrying[x] = true
		case k == 3 && free(x) && x.Phase() == Polling:
			s.Release(x)
			s.Offer(x)
		case k == 4 && free(x) && x.Phase() == Offered:
			s.Accept(x)
		case k == 5 && free(x):
			s.Release(x)
			s.Drop(x)
			all = slices.DeleteFunc(all, func(o *task) bool { return o == x })
		}
		if broken := s.Broken(); broken != "" {
			t.Fatal(broken)
		}
		slots, majority := 0, 0
		for _, a := range parked {
			switch a {
			case ForSlot:
				slots++
			case ForMajority:
				majority++
			}
		}
		for _, j := range jobs {
			slots -= len(j.AwaitingSlot())
			majority -= len(j.AwaitingMajority())
		}
		if s.Len() != len(all) || s.Retrying() != len(retrying) || slots != 0 || majority != 0 {
			t.Fatalf("%d tasks, %d to place again, %d too few for slots, %d for majorities: want %d, %d", s.Len(), s.Retrying(),
				slots, majority, len(all), len(retrying))
		}
	}
}

// What a job counts is checked against its tasks.
func TestBrokenCounts(t *testing.T) {
	for name, breaks := range map[string]func(*Job[*task], *task){
		"polling":  func(j *Job[*task], _ *task) { j.polling++ },
		"heldBack": func(j *Job[*task], _ *task) { j.heldBack++ },
		"running":  func(j *Job[*task], _ *task) { j.running++ },
		"slots":    func(j *Job[*task], x *task) { j.slots = append(j.slots, x) },
		"majority": func(j *Job[*task], x *task) { j.majority = append(j.majority, x) },
	} {
		s, of := New[*task](), new(job)
		x := &task{job: of}
		s.Add(x, &of.Job)
		s.Accept(x)
		if b := s.Broken(); b != "" {
			t.Fatal(b)
		}
		if breaks(&of.Job, x); s.Broken() == "" {
			t.Errorf("%s: a wrong count is not found", name)
		}
	}
}
