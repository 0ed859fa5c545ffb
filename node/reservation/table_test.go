package reservation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"skep/exec"
	"skep/grid"
)

// world is a worker with four slots and the answers that it gave.
type world struct {
	t  *testing.T
	e  exec.Exec
	tb Table
	fx grid.Effects
}

func newWorld(t *testing.T) *world {
	return &world{t: t, e: exec.New(grid.Resources{CPU: 4 * grid.CPU, Memory: grid.GiB})}
}

func at(s float64) grid.Time { return grid.Time(s * float64(time.Second)) }

func job(name string) grid.JobID {
	id := grid.JobID{Origin: grid.NodeID{name[0]}}
	copy(id.Nonce[:], name)
	return id
}

// ask has the owner named by the first letter of the job ask for slots, and returns what the worker says.
func (w *world) ask(s float64, name string, ranks, round uint32, later bool) string {
	return w.askAged(s, name, 0, ranks, round, later)
}

func (w *world) askAged(s float64, name string, age time.Duration, ranks, round uint32, later bool) string {
	w.fx.Reset()
	w.tb.On(&w.e).Asked(at(s), grid.NodeID{name[0]}, &grid.Reserve{Job: job(name), Round: round, Ranks: ranks, Age: age,
		Needs: grid.Resources{CPU: grid.CPU}, TTL: time.Hour, Later: later, Attempt: grid.Attempt{Epoch: 1, N: round}}, false,
		&w.fx)
	return w.said()
}

func (w *world) said() string {
	var out []string
	for i := range w.fx.Sends {
		r := w.fx.Sends[i].Msg.Reserve
		text := fmt.Sprintf("%s %d", strings.TrimRight(string(r.Job.Nonce[:]), "\x00"), r.Ranks)
		if r.Refusal.Why != grid.WhyNone {
			text += " " + r.Refusal.Why.String()
		}
		if r.Holder != (grid.JobID{}) {
			text += " (" + strings.TrimRight(string(r.Holder.Nonce[:]), "\x00") + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func (w *world) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (w *world) take(s float64, name string, round uint32) bool {
	return w.takeSized(s, name, round, grid.CPU)
}

func (w *world) takeSized(s float64, name string, round uint32, cpu grid.MilliCPU) bool {
	return w.tb.On(&w.e).Take(at(s), grid.NodeID{name[0]},
		grid.AttemptID{Task: grid.TaskID{Job: job(name)}, Attempt: grid.Attempt{Epoch: 1, N: round}},
		grid.Resources{CPU: cpu})
}

// An offer that needs more than its slot, or less, gets none: the ledger would be out of balance when it ends.
func TestOfferNeedsItsSlot(t *testing.T) {
	w := newWorld(t)
	w.want("one", w.ask(0, "a1", 1, 1, false), "a1 1")
	for _, cpu := range []grid.MilliCPU{4 * grid.CPU, 1} {
		if w.takeSized(1, "a1", 1, cpu) {
			t.Errorf("an offer of %d thousandths of a core took a slot of one core", cpu)
		}
	}
	if !w.take(1, "a1", 1) {
		t.Error("an offer of one core did not get its slot")
	}
}

// All that is asked for is kept, or nothing; the offers take it over, each rank one slot.
func TestAllOrNone(t *testing.T) {
	w := newWorld(t)
	w.want("three of four", w.ask(0, "a1", 3, 1, false), "a1 3")
	w.want("again: the answer was lost", w.ask(0, "a1", 3, 1, false), "a1 3")
	w.want("two of one", w.ask(0, "b1", 2, 1, false), "b1 1 keeps its slots for another gang (a1)")
	for rank := range 3 {
		if !w.take(1, "a1", 1) {
			t.Fatalf("rank %d has no slot", rank)
		}
	}
	if w.take(1, "a1", 1) || w.tb.Len() != 0 || w.e.Free().CPU != grid.CPU {
		t.Errorf("%d gangs, free %v: want that three slots are the ranks'", w.tb.Len(), w.e.Free())
	}
}

// An older gang takes the slots of a younger one, unless ranks of that are offered; who is refused is told who holds.
func TestWound(t *testing.T) {
	w := newWorld(t)
	w.ask(0, "a1", 5, 1, false) // it is heard of first
	w.want("the younger one", w.ask(1, "b1", 3, 1, false), "b1 3")
	w.want("the older one", w.ask(2, "a1", 4, 2, false), "b1 0 has given its slots to an older gang (a1); a1 4")
	w.want("the younger one again", w.ask(3, "b1", 1, 2, false), "b1 0 keeps its slots for another gang (a1)")
	w.ask(4, "a1", 0, 2, false)
	w.ask(20, "b1", 3, 3, false)
	w.take(20, "b1", 3)
	w.want("one of which a rank is offered", w.ask(20, "a1", 4, 3, false), "a1 1 has too few free slots")
}

// Workers agree on the order of gangs, whichever of them each has heard of first: by age, and of two that came at the
// same time by the identity of their jobs. What is said of a gang's age later does not count, nor more than a day.
func TestOrderInLine(t *testing.T) {
	const wounds = "b1 0 has given its slots to an older gang (a1); a1 3"
	refused := func(holder string) string { return "a1 1 keeps its slots for another gang (" + holder + ")" }
	for _, c := range []struct {
		what     string
		a, b     time.Duration // ages at second 1000, when b has slots and a asks
		want     string
		reversed bool // a's job has the higher identity
	}{
		{"the older one", 20 * time.Second, 10 * time.Second, wounds, false},
		{"the younger one", 10 * time.Second, 20 * time.Second, refused("b1"), false},
		{"as old but for the way of the message", 10 * time.Second, 10*time.Second + 99*time.Millisecond, wounds,
			false},
		{"the same the other way round", 10*time.Second + 99*time.Millisecond, 10 * time.Second, refused("A1"), true},
		{"the older one of two that have waited for hours", 3 * time.Hour, 2 * time.Hour, wounds, false},
		{"the younger one of two that have waited for hours", 2 * time.Hour, 3 * time.Hour, refused("b1"), false},
		{"more than there can be", 100 * time.Hour, 24 * time.Hour, wounds, false},
		{"more than there can be, of the higher identity", 100 * time.Hour, 24 * time.Hour, refused("A1"), true},
		{"less than nothing", -time.Hour, 0, wounds, false},
	} {
		w, b := newWorld(t), "b1"
		if c.reversed {
			b = "A1"
		}
		w.want(c.what+": b", w.askAged(1000, b, c.b, 3, 1, false), b+" 3")
		w.want(c.what, w.askAged(1000, "a1", c.a, 3, 1, false), c.want)
	}
	w := newWorld(t)
	w.askAged(0, "a1", 0, 5, 1, false)
	w.askAged(0, "b1", time.Second, 3, 1, false)
	w.want("older than it said at first", w.askAged(1, "a1", time.Hour, 3, 2, false), refused("b1"))
}

// What is not used is free again after the time to live, whatever was asked for, and a release of an earlier round
// releases nothing.
func TestTimeToLive(t *testing.T) {
	w := newWorld(t)
	w.ask(0, "a1", 2, 2, false)
	w.ask(1, "a1", 0, 1, false)
	if w.tb.Len() != 1 || w.tb.Next() != at(0).Add(MaxTTL) {
		t.Errorf("%d gangs until %v: want one, for %v", w.tb.Len(), w.tb.Next(), MaxTTL)
	}
	w.tb.On(&w.e).Expire(at(10))
	if w.tb.Len() != 0 || w.e.Free() != w.e.Capacity() || w.take(10, "a1", 2) {
		t.Errorf("%d gangs, free %v: want that all is free", w.tb.Len(), w.e.Free())
	}
}

// A gang that asks for later gets slots as they become free, before others, and is told when it has all.
func TestLater(t *testing.T) {
	w := newWorld(t)
	slot := grid.Resources{CPU: grid.CPU}
	for range 3 {
		w.e.Hold(slot) // something that runs
	}
	w.want("not now", w.ask(0, "a1", 2, 1, false), "a1 1 has too few free slots")
	w.want("later", w.ask(1, "a1", 2, 2, true), "")
	w.want("a younger one", w.ask(1, "b1", 1, 1, true), "b1 0 keeps its slots for another gang (a1)")
	w.e.Unhold(slot)
	w.fx.Reset()
	w.tb.Fill(&w.fx)
	w.want("filled", w.said(), "a1 2")
	if w.e.Free().CPU != 0 {
		t.Errorf("free %v: want none", w.e.Free())
	}
}

// An owner that only reserves has one gang here at a time, and slots for half of the time at most while others want
// some.
func TestHostileOwner(t *testing.T) {
	w := newWorld(t)
	w.ask(0, "h0", 4, 1, false)
	w.want("a second gang", w.ask(0, "h1", 1, 1, false), "h1 0 keeps as many slots for this owner as it may (h0)")
	w.ask(1, "a1", 1, 1, false) // an honest one wants a slot
	got := 0
	for s := 10.0; s < 110; s++ {
		if strings.HasPrefix(w.ask(s, fmt.Sprintf("h%d", int(s)), 4, 1, false), fmt.Sprintf("h%d 4", int(s))) &&
			!strings.Contains(w.said(), "keeps") {
			got++
		}
		w.ask(s, "a1", 5, uint32(s), false) // it still wants
	}
	if got > 6 {
		t.Errorf("it got the node %d times in 100 s: want 5, each for 10 s", got)
	}
	for i := range 400 {
		w.ask(200, string([]byte{byte(i), byte(i >> 8), 'x'}), 5, 1, false)
	}
	if len(w.tb.owners) > maxOwners {
		t.Errorf("%d owners are remembered: want at most %d", len(w.tb.owners), maxOwners)
	}
}

// The numbers of an owner's rounds wrap around, and those of a run are above those of the run before: what is left of
// an earlier run does not count as newer.
func TestRoundsWrapAround(t *testing.T) {
	w := newWorld(t)
	last := ^uint32(0)
	w.want("before the wrap", w.ask(0, "a1", 3, last, false), "a1 3")
	w.want("after it", w.ask(1, "a1", 2, 2, false), "a1 2")
	w.ask(2, "a1", 0, last, false)
	if w.tb.Len() != 1 {
		t.Error("a late release of an earlier round released the slots")
	}
	w.ask(3, "a1", 0, 2, false)
	if w.tb.Len() != 0 {
		t.Error("the release did not count")
	}
}

// Tasks of the owner itself that wait for a slot count as others: after a reservation in vain they have their turn.
func TestOwnWorkHasItsTurn(t *testing.T) {
	w := newWorld(t)
	w.ask(0, "a1", 4, 1, true)
	q := &grid.Reserve{Job: job("a1"), Round: 2, Ranks: 4, Needs: grid.Resources{CPU: grid.CPU}, TTL: time.Hour}
	w.tb.On(&w.e).Expire(at(10))
	w.fx.Reset()
	w.tb.Asked(at(11), grid.NodeID{'a'}, q, true, &w.fx)
	w.want("while work waits", w.said(), "a1 4 keeps as many slots for this owner as it may")
	w.want("later slots when none waits", w.ask(12, "a1", 4, 3, true), "a1 4 keeps as many slots for this owner as it may")
	w.want("free slots when none waits", w.ask(12, "a1", 4, 4, false), "a1 4")
}
