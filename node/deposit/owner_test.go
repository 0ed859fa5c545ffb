package deposit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

const (
	start   = grid.Time(time.Hour)
	retry   = 2 * time.Second
	confirm = 10 * time.Second
)

// newOwner returns the store of a node that owns a job of another origin, whose other members have accepted it.
func newOwner(t *testing.T, inputs []grid.File) (*node, *Files, *register) {
	t.Helper()
	n := newNode(t, grid.GiB, 8*grid.MiB)
	n.cfg.Retry, n.cfg.Confirm = retry, confirm
	f, reg := n.job(second, 1, inputs)
	reg.owner, reg.accepted = self, [3]bool{true, true, true}
	return n, f, reg
}

// asked lists the nodes that are asked at a time.
func (n *node) asked(now grid.Time, f *Files) (to []grid.NodeID) {
	n.t.Helper()
	n.fx.Reset()
	n.Ask(now, f, &n.fx)
	for _, s := range n.fx.Sends {
		if s.Msg.Kind != grid.KindDeposit || len(s.Msg.Attempts) != 1 {
			n.t.Fatalf("it sends %+v", s.Msg)
		}
		to = append(to, s.To)
	}
	return to
}

// A result waits until a majority of the three members has its files, or cannot have them, or is too slow; its error
// says so then. A member that is busy may have them soon.
func TestResultWaitsForAMajority(t *testing.T) {
	type answers map[grid.NodeID]grid.Why
	late := start.Add(confirm + time.Second)
	for _, c := range []struct {
		what    string
		answers answers
		at      grid.Time
		waits   bool
		error   string
	}{
		{"nobody has answered", nil, start, true, ""},
		{"one has them", answers{second: grid.WhyNone}, start, false, ""},
		{"one refuses", answers{second: grid.WhyRoom}, start, true, ""},
		{"one refuses, one has them", answers{second: grid.WhyRoom, third: grid.WhyNone}, start, false, ""},
		{"both refuse", answers{second: grid.WhyRoom, third: grid.WhyRoom}, start, false,
			"only with node " + self.Short() + ": node "},
		{"both are busy", answers{second: grid.WhyQueue, third: grid.WhyQueue}, start, true, ""},
		{"nobody has answered in time", nil, late, false, "the others were too slow"},
		{"both were busy for too long", answers{second: grid.WhyQueue, third: grid.WhyQueue}, late, false,
			grid.WhyQueue.String()},
	} {
		n, f, _ := newOwner(t, nil)
		r, id := left(1, grid.MiB), attempt(f, 0, 1)
		got, waits := n.ReplicateOutput(start, f, id, r, &n.fx)
		if !waits || got != r || len(n.fx.Sends) != 2 || n.fx.Sends[0].Msg.Result != r {
			t.Fatalf("%s: at first it waits %v and sends %+v", c.what, waits, n.fx.Sends)
		}
		for from, why := range c.answers {
			if !f.Answered(from, id, grid.Refusal{Why: why}) {
				t.Errorf("%s: the answer does not count", c.what)
			}
		}
		got, finished := f.Finish(c.at, 0)
		if finished == c.waits {
			t.Errorf("%s: finished %v", c.what, finished)
		}
		if c.waits != f.IsReplicating(id) || c.waits != slices.Equal(f.Replicating(), []uint32{0}) {
			t.Errorf("%s: replicating %v, %v", c.what, f.IsReplicating(id), f.Replicating())
		}
		if finished && (!strings.Contains(got.Error, c.error) || (got == r) != (c.error == "") || r.Error != "") {
			t.Errorf("%s: error %q, want %q", c.what, got.Error, c.error)
		}
		if _, again := f.Finish(late, 0); again && finished {
			t.Errorf("%s: finished twice", c.what)
		}
		if !c.waits && f.Answered(second, id, grid.Refusal{}) {
			t.Errorf("%s: a late answer counts", c.what)
		}
	}
}

// What is too large is not asked for, and the result says so at once; the owner has it.
func TestTooLargeForCopies(t *testing.T) {
	n, f, _ := newOwner(t, files(1, 1, 9*grid.MiB))
	r, waits := n.ReplicateOutput(start, f, attempt(f, 0, 1), left(1, 9*grid.MiB), &n.fx)
	if waits || !strings.Contains(r.Error, "no more than 8.0 are copied") || len(n.fx.Sends) > 0 {
		t.Errorf("waits %v, error %q, %d are asked", waits, r.Error, len(n.fx.Sends))
	}
	if _, _, found := f.Output(0); !found {
		t.Error("the owner does not keep it")
	}
	n.ReplicateInputs(start, f)
	if asked := n.asked(start, f); !f.InputsSettled() || f.InputsSafe() || f.InputsAtRisk() == "" || len(asked) > 0 {
		t.Errorf("inputs: settled %v, safe %v, %q; asked %v", f.InputsSettled(), f.InputsSafe(), f.InputsAtRisk(), asked)
	}
}

// A member is asked once it has accepted the job, again if it does not answer or is busy, a minute after it has
// refused, and not any more once it has the files.
func TestMembersAreAskedAgain(t *testing.T) {
	n, f, reg := newOwner(t, files(1, 1, grid.MiB))
	n.InputsStored(f)
	reg.accepted[0] = false
	n.ReplicateInputs(start, f)
	id := InputsID(f.Job())
	for _, c := range []struct {
		what   string
		before func()
		after  time.Duration
		want   []grid.NodeID
	}{
		{"one has accepted", func() {}, 0, []grid.NodeID{third}},
		{"both have", func() { reg.accepted[0] = true }, 1, []grid.NodeID{second}},
		{"a moment later", func() {}, retry - 1, []grid.NodeID{}},
		{"unanswered", func() {}, retry, []grid.NodeID{third}},
		{"busy", func() { f.Answered(third, id, grid.Refusal{Why: grid.WhyQueue}) }, 2 * retry, []grid.NodeID{second, third}},
		{"refused", func() { f.Answered(third, id, grid.Refusal{Why: grid.WhyDisk}) }, 3 * retry, []grid.NodeID{second}},
		{"long refused", func() {}, 2*retry + time.Minute, []grid.NodeID{second, third}},
		{"stored", func() { f.Answered(third, id, grid.Refusal{}) }, time.Hour, []grid.NodeID{second}},
	} {
		c.before()
		if got := n.asked(start.Add(c.after), f); !slices.Equal(got, c.want) {
			t.Errorf("%s: asked %v, want %v", c.what, got, c.want)
		}
	}
	if f.StepDown(); len(n.asked(start.Add(2*time.Hour), f)) > 0 || f.Answered(second, id, grid.Refusal{}) {
		t.Error("it asks though another node is the owner")
	}
}

// An owner that took the job over may lack the inputs. It fetches them from the origin, and counts once it has them.
func TestOwnerFetchesInputsThatItLacks(t *testing.T) {
	for _, err := range []string{"", "it is not there"} {
		n, f, _ := newOwner(t, files(1, 1, grid.MiB))
		n.ReplicateInputs(start, f)
		n.asked(start, f)
		if len(n.fx.Fetches) != 1 || n.fx.Fetches[0].From != second {
			t.Fatalf("it fetches %+v", n.fx.Fetches)
		}
		if f.SettleInputs(start) || f.InputsSafe() {
			t.Error("nobody has the inputs")
		}
		if f.Answered(third, InputsID(f.Job()), grid.Refusal{}); f.SettleInputs(start) {
			t.Error("one of three has the inputs")
		}
		if !n.Fetched(f, InputsID(f.Job()), err, &n.fx) {
			t.Error("that its fetch has ended is not reported")
		}
		if got := f.SettleInputs(start); got != (err == "") || f.InputsSafe() != (err == "") {
			t.Errorf("it came with %q: settled %v", err, got)
		}
		if !f.SettleInputs(start.Add(confirm+time.Second)) || (f.InputsAtRisk() != "") != (err != "") {
			t.Errorf("it came with %q: in the end %q", err, f.InputsAtRisk())
		}
	}
}

// A result that is not wanted any more is not waited for: the task was given up, the register has another end, or
// another node is the owner.
func TestUnwantedResultIsNotWaitedFor(t *testing.T) {
	for what, unwant := range map[string]func(n *node, f *Files, reg *register){
		"given up":          func(_ *node, f *Files, _ *register) { f.StopReplicating(1) },
		"another owner":     func(_ *node, f *Files, _ *register) { f.StepDown() },
		"the job forgotten": func(n *node, f *Files, _ *register) { n.Release(f) },
		"another end": func(n *node, f *Files, reg *register) {
			reg.end(1, grid.Attempt{Epoch: 1, N: 2}, &grid.Result{Cause: grid.Exited})
			n.Match(f, 1, &n.fx)
		},
	} {
		n, f, reg := newOwner(t, nil)
		n.ReplicateOutput(start, f, attempt(f, 1, 1), left(1, grid.MiB), &n.fx)
		unwant(n, f, reg)
		_, finished := f.Finish(start.Add(time.Hour), 1)
		if asked := n.asked(start.Add(time.Hour), f); finished || len(asked) > 0 || len(f.Replicating()) > 0 ||
			f.IsReplicating(attempt(f, 1, 1)) {
			t.Errorf("%s: asked %v, finished %v, replicating %v", what, asked, finished, f.Replicating())
		}
	}
}
