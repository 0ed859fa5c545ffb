package testnet

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/node/api/v1"
)

func nineNodes() (names []string) {
	for i := range 9 {
		names = append(names, fmt.Sprint("n", i+1))
	}
	return names
}

func TestASeedRepeatsItsFaults(t *testing.T) {
	c := &ChaosConfig{Seed: 7, Duration: 3 * time.Minute, Every: 5 * time.Second}
	a, b := Schedule(nineNodes(), c), Schedule(nineNodes(), c)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("twice the same seed:\n%v\n%v", a, b)
	}
	c.Seed = 8
	if reflect.DeepEqual(a, Schedule(nineNodes(), c)) {
		t.Error("another seed gives the same faults")
	}
}

func TestFaultsLeaveAGrid(t *testing.T) {
	kinds := map[FaultKind]int{}
	for seed := range uint64(200) {
		c := &ChaosConfig{Seed: seed, Duration: 3 * time.Minute, Every: 5 * time.Second, Origins: seed%2 == 0}
		down := map[string]time.Duration{}
		gone := 0
		for _, f := range Schedule(nineNodes(), c) {
			kinds[f.Kind]++
			hurt := 0
			for _, until := range down {
				if until > f.At {
					hurt++
				}
			}
			if f.Kind == FaultRolling {
				continue
			}
			if hurt+len(f.Nodes) > 3 {
				t.Fatalf("seed %d: %d nodes are hurt at %v", seed, hurt+len(f.Nodes), f.At)
			}
			for _, n := range f.Nodes {
				if down[n] > f.At {
					t.Fatalf("seed %d: %s is hurt twice at %v", seed, n, f.At)
				}
				down[n] = f.At + f.For
			}
			if f.Kind == FaultKill && f.For == 0 {
				gone++
				down[f.Nodes[0]] = math.MaxInt64
			}
		}
		if gone > 1 || gone == 1 && !c.Origins {
			t.Fatalf("seed %d: %d nodes are gone for good", seed, gone)
		}
	}
	for _, k := range []FaultKind{FaultKill, FaultSilent, FaultRestart, FaultPause, FaultCut, FaultRolling} {
		if kinds[k] < 30 {
			t.Errorf("%s came %d times in 200 runs", k, kinds[k])
		}
	}
}

// All but one of the first nodes die for good, one after the other, and one joins between two deaths.
func TestNodesDieOneAfterTheOther(t *testing.T) {
	nodes := nineNodes()
	for seed := range uint64(50) {
		c := &ChaosConfig{Seed: seed, Duration: 5 * time.Minute, Every: time.Minute, Deaths: 4}
		died := map[string]bool{}
		for k, f := range Schedule(nodes, c) {
			name := f.Nodes[0]
			switch first := slices.Index(nodes, name) < 5; {
			case k%2 == 0 && (f.Kind != FaultKill || f.For != 0 || !first || died[name]):
				t.Fatalf("seed %d: fault %d is %v: want the death of another of the first five", seed, k, f)
			case k%2 == 1 && (f.Kind != FaultJoin || name != nodes[5+k/2]):
				t.Fatalf("seed %d: fault %d is %v: want %s to join", seed, k, f, nodes[5+k/2])
			case k%2 == 0 && f.At != c.Every/2+time.Duration(k/2)*c.Every, f.At >= c.Duration:
				t.Fatalf("seed %d: fault %d is %v", seed, k, f)
			}
			died[name] = true
		}
		if len(died) != 8 {
			t.Errorf("seed %d: %d nodes die or join, want 8", seed, len(died))
		}
	}
}

func TestProcessesSufferOnlyWhatTheyCan(t *testing.T) {
	for _, f := range Schedule(nineNodes(), &ChaosConfig{Seed: 1, Duration: time.Hour, Every: time.Second,
		Processes: true}) {
		if f.Kind == FaultCut || f.Kind == FaultSilent {
			t.Fatal(f)
		}
	}
}

// liar is a history of one job of two tasks, of which one has ended.
func liar() *history {
	h := newHistory()
	h.submitted("job-a", "n1", 2)
	h.saw("n1", &v1.Job{ID: "job-a", State: v1.JobRunning, Count: 2, Ended: 1})
	h.sawTask("n1", "job-a", &v1.Task{Index: 0, Attempt: "1.1", Node: "x", Result: &v1.Result{Cause: "exited"}})
	return h
}

func TestWhatContradictsTheHistoryIsSeen(t *testing.T) {
	ended := &v1.Job{ID: "job-a", State: v1.JobDone, Count: 2, Ended: 2}
	for name, lie := range map[string]func(*history){
		"had ended": func(h *history) { h.saw("n1", &v1.Job{ID: "job-a", State: v1.JobRunning, Count: 2}) },
		"was done": func(h *history) {
			h.saw("n1", ended)
			h.saw("n2", &v1.Job{ID: "job-a", State: v1.JobRunning, Count: 2, Ended: 2})
		},
		"3 tasks": func(h *history) { h.saw("n1", &v1.Job{ID: "job-a", State: v1.JobRunning, Count: 3, Ended: 1}) },
		"was recorded as": func(h *history) {
			h.sawTask("n2", "job-a", &v1.Task{Index: 0, Attempt: "1.2", Node: "y", Result: &v1.Result{Cause: "exited"}})
		},
		"has no result": func(h *history) { h.sawTask("n2", "job-a", &v1.Task{Index: 0}) },
		"its cancellation was acknowledged": func(h *history) {
			h.cancelled("job-a", "n1", 1)
			h.saw("n1", &v1.Job{ID: "job-a", State: v1.JobRunning, Count: 2, Ended: 1})
		},
		"does not know it": func(h *history) { h.vanished("job-a", "n1", os.ErrNotExist) },
	} {
		h := liar()
		if len(h.violations) > 0 {
			t.Fatalf("the truth is a violation: %v", h.violations)
		}
		lie(h)
		if len(h.violations) != 1 || !strings.Contains(h.violations[0], name) {
			t.Errorf("%s: violations %q", name, h.violations)
		}
	}
	h := liar()
	h.saw("n1", ended)
	h.saw("n1", ended)
	h.sawTask("n1", "job-a", &v1.Task{Index: 0, Attempt: "1.1", Node: "x", Result: &v1.Result{Cause: "exited"}})
	if len(h.violations) > 0 {
		t.Errorf("the truth is a violation: %v", h.violations)
	}
}

// audited judges one task from what tasks wrote and what is on record.
func audited(t *testing.T, log string, rec *recorded, said string) *Report {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := readLog(name)
	if err != nil || l.torn > 0 {
		t.Fatalf("the log is not read: %v, %d torn lines", err, l.torn)
	}
	x := &chaos{t: &Net{}, h: newHistory(), c: &ChaosConfig{}}
	x.h.submitted("j", "n1", 1)
	x.deaths = []death{{node: "A", name: "n2", at: 10.5}}
	if rec != nil {
		x.h.jobs["j"].results[0] = *rec
	}
	r := &Report{}
	x.auditTask(r, l, x.h.jobs["j"], 0, said, true)
	x.auditDeaths(r, l)
	return r
}

func TestWhatTheAuditFinds(t *testing.T) {
	const moved = "b j 0 1.1 A 10.00\nb j 0 1.2 B 13.00\ne j 0 1.2 B 13.50\n"
	good := &recorded{"1.2", "B", "exited", 0}
	r := audited(t, moved, good, "j 0 1.2 B\n")
	if r.Done != 1 || r.Lost+r.Unfenced+r.Fenced != 0 || r.Rerun != 1 || r.OrphansClear != 1 || r.P95 != 2.5 {
		t.Errorf("a task that moved: %+v", r)
	}
	if r := audited(t, moved, nil, ""); r.Lost != 1 {
		t.Errorf("a task without a record: %+v", r)
	}
	if r := audited(t, moved, &recorded{"1.2", "B", "lost", 125}, ""); r.Lost != 1 {
		t.Errorf("a task on record as lost: %+v", r)
	}
	if r := audited(t, moved, &recorded{"1.1", "A", "exited", 0}, "j 0 1.1 A\n"); r.Unfenced != 1 {
		t.Errorf("a record of an attempt that did not end: %+v", r)
	}
	if r := audited(t, moved, good, "j 0 1.1 A\n"); r.Unfenced != 1 {
		t.Errorf("a record with the output of another attempt: %+v", r)
	}
	late := moved + "e j 0 1.1 A 14.00\n" // it was not dead but paused
	if r := audited(t, late, good, "j 0 1.2 B\n"); r.Fenced != 1 || r.Unfenced != 0 || r.OrphansClear != 0 {
		t.Errorf("a late result that was fenced: %+v", r)
	}
}

// A task that runs at most once may end as lost with its node. It must not begin again, and not be without an end.
func TestWhatTheAuditFindsOfTasksThatRunOnce(t *testing.T) {
	for name, c := range map[string]struct {
		log               string
		rec               *recorded
		done, gone        int
		lost, twice, told int
	}{
		"done":          {"b j 0 1.1 A 10.00\ne j 0 1.1 A 13.50\n", &recorded{"1.1", "A", "exited", 0}, 1, 0, 0, 0, 0},
		"its node died": {"b j 0 1.1 A 10.00\n", &recorded{"1.1", "A", "lost", 125}, 0, 1, 0, 0, 0},
		"never began":   {"", &recorded{"0.0", "", "lost", 125}, 0, 1, 0, 0, 0},
		"no end":        {"b j 0 1.1 A 10.00\n", nil, 0, 0, 1, 0, 1},
		"began twice": {"b j 0 1.1 A 10.00\nb j 0 2.1 B 12.00\ne j 0 2.1 B 13.50\n", &recorded{"2.1", "B", "exited", 0}, 1,
			0, 0, 1, 1},
	} {
		file := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(file, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := readLog(file)
		if err != nil {
			t.Fatal(err)
		}
		x := &chaos{t: &Net{}, h: newHistory(), c: &ChaosConfig{Deaths: 1}}
		x.h.submitted("j", "n1", 1)
		x.h.runsOnce("j")
		if c.rec != nil {
			x.h.jobs["j"].results[0] = *c.rec
		}
		r := &Report{Successions: &Successions{}}
		x.auditTask(r, l, x.h.jobs["j"], 0, "", false)
		if s := r.Successions; r.Done != c.done || s.OnceGone != c.gone || r.Lost != c.lost || x.h.twice != c.twice ||
			len(x.h.violations) != c.told || s.Once != 1 {
			t.Errorf("%s: %d done, %d gone, %d lost, %d twice, %q", name, r.Done, s.OnceGone, r.Lost, x.h.twice,
				x.h.violations)
		}
	}
}

// How long a task waited is counted from the last death of a node that had it, and not at all where somebody who has to
// see to it could not for another reason.
func TestWhichWaitsCount(t *testing.T) {
	now := uptime()
	wall := func(at float64) time.Time { return time.Now().Add(time.Duration((at - now) * float64(time.Second))) }
	for name, k := range map[string]struct {
		deaths  []death
		harms   []harm
		members []string
		next    string // attempt that begins at 13
		want    float64
		hit     int
	}{
		"alone": {next: "1.3", want: 10},
		"the next node dies too": {next: "1.3", deaths: []death{{name: "n3", at: now + 6}},
			harms: []harm{{"n3", now + 6, 0}}, want: 4},
		"the next node dies later": {next: "1.3", deaths: []death{{name: "n3", at: now + 11}},
			harms: []harm{{"n3", now + 11, 0}}, want: 10},
		"somebody else dies": {next: "1.3", deaths: []death{{name: "n4", at: now + 6}},
			harms: []harm{{"n4", now + 6, 0}}, want: 10},
		"the next node is paused":      {next: "1.3", harms: []harm{{"n3", now + 6, now + 7}}, want: 10, hit: 1},
		"the origin is paused":         {next: "1.3", harms: []harm{{"n1", now - 1, now + 1}}, want: 10, hit: 1},
		"the origin was paused before": {next: "1.3", harms: []harm{{"n1", now - 9, now - 1}}, want: 10},
		"the job is taken over":        {next: "2.1", want: 10, hit: 1},
		"two of three members, in turn": {next: "1.3", members: []string{"A", "C", "D"},
			harms: []harm{{"n3", now - 1, now + 1}, {"n4", now + 2, 0}}, want: 10},
		"two of three members at a time": {next: "1.3", members: []string{"B", "A", "D"},
			harms: []harm{{"n2", now, 0}, {"n4", now + 2, now + 3}}, want: 10, hit: 1},
		"an origin that is dead and member": {next: "1.3", members: []string{"A", "C", "D"}, harms: []harm{{"n1", now, 0}},
			want: 10, hit: 1},
	} {
		x := &chaos{t: &Net{}, h: newHistory(), c: &ChaosConfig{}, deaths: k.deaths}
		x.t.state.Nodes = []Node{{Name: "n1", ID: "A"}, {Name: "n2", ID: "B"}, {Name: "n3", ID: "C"}, {Name: "n4", ID: "D"}}
		x.h.submitted("j", "n1", 1)
		x.h.jobs["j"].members = k.members
		x.h.told("j", []v1.TaskStory{{Task: v1.Task{Attempt: k.next},
			Steps: []v1.Step{{What: "accepted", Name: "n2", At: wall(now - 1)}, {What: "lost", Name: "n2", At: wall(now + 2)},
				{What: "accepted", Name: "n3", At: wall(now + 2.1)}}}})
		for i := range k.harms {
			x.harms = append(x.harms, &k.harms[i])
		}
		was := &run{key: runKey{taskKey{"j", 0}, "1.1"}, node: "B", begun: now - 1}
		a := x.rerun(was, &run{key: runKey{taskKey{"j", 0}, k.next}, node: "C", begun: now + 10},
			&death{node: "B", name: "n2", at: now})
		if math.Abs(a.Seconds-k.want) > 0.05 || a.All != 10 || len(a.Hit) != k.hit || len(a.Story) != 3 && k.next == "1.3" {
			t.Errorf("%s: waited %.2f s of %.2f s, also hit %q, story %q; want %.2f s, %d hits", name, a.Seconds, a.All, a.Hit,
				a.Story, k.want, k.hit)
		}
	}
}

func TestAStoryGoesOnAfterARestart(t *testing.T) {
	at := func(s int) v1.Step { return v1.Step{At: time.Unix(int64(s), 0)} }
	for name, k := range map[string]struct{ before, now, want []v1.Step }{
		"told again":          {[]v1.Step{at(1), at(2)}, []v1.Step{at(1), at(2), at(3)}, []v1.Step{at(1), at(2), at(3)}},
		"after a restart":     {[]v1.Step{at(1), at(2)}, []v1.Step{at(3)}, []v1.Step{at(1), at(2), at(3)}},
		"nothing is told":     {[]v1.Step{at(1)}, nil, []v1.Step{at(1)}},
		"nothing was told":    {nil, []v1.Step{at(1)}, []v1.Step{at(1)}},
		"the oldest are gone": {[]v1.Step{at(1), at(2)}, []v1.Step{at(2), at(3)}, []v1.Step{at(1), at(2), at(3)}},
	} {
		if got := goOn(k.before, k.now); !reflect.DeepEqual(got, k.want) {
			t.Errorf("%s: %v, want %v", name, got, k.want)
		}
	}
}

func TestPercentiles(t *testing.T) {
	xs := []float64{5, 1, 4, 2, 3}
	for p, want := range map[float64]float64{0.2: 1, 0.5: 3, 0.95: 5, 1: 5} {
		if got := percentile(slices.Clone(xs), p); got != want {
			t.Errorf("percentile %g: %g, want %g", p, got, want)
		}
	}
	if percentile(nil, 0.95) != 0 {
		t.Error("no figures have a percentile")
	}
}
