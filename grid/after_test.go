package grid

import (
	"strings"
	"testing"
)

// Everything that is wrong with what a job waits for is said, with the field and what would be right.
func TestCheckAfter(t *testing.T) {
	job := func(n byte) JobID { return JobID{Nonce: [10]byte{n}} }
	needed := Needs{Labels: []LabelNeed{FeatureNeed(JobInputsLabel)}}
	two := []Dependency{{Job: job(1)}, {Job: job(2), Kind: AfterEach}}
	many := make([]Dependency, MaxAfter+1)
	for k := range many {
		many[k].Job = job(byte(k + 1))
	}
	for _, c := range []struct {
		what string
		s    JobSpec
		want string
	}{
		{"two jobs, and a file of each", JobSpec{Needs: needed, TaskData: TaskData{After: After{Jobs: two,
			Inputs: []JobInput{{Of: 0, Task: 7, Path: "a", To: "a"}, {Of: 1, Path: "a", To: "b"}}}}}, ""},
		{"17 jobs", JobSpec{TaskData: TaskData{After: After{Jobs: many}}},
			"after: 17 jobs, 0 inputs of them: want at most 16"},
		{"no job", JobSpec{TaskData: TaskData{After: After{Jobs: make([]Dependency, 1)}}}, "and a job"},
		{"of a later version", JobSpec{TaskData: TaskData{After: After{Jobs: []Dependency{{Job: job(1), Kind: 3}}}}},
			"want kind 0 to 2"},
		{"one twice", JobSpec{TaskData: TaskData{After: After{Jobs: []Dependency{{Job: job(1)}, {Job: job(1), Kind: 1}}}}},
			"after_ok: job aeaaaaaa is there twice"},
		{"two task by task", JobSpec{TaskData: TaskData{After: After{Jobs: []Dependency{{Job: job(1), Kind: AfterEach},
			{Job: job(2), Kind: AfterEach}}}}}, "after_each: 2 jobs: want one"},
		{"files on any node", JobSpec{TaskData: TaskData{After: After{Jobs: two, Inputs: []JobInput{{Path: "a", To: "a"}}}}},
			"other nodes would run the tasks without"},
		{"of no job", JobSpec{Needs: needed, TaskData: TaskData{After: After{Jobs: two,
			Inputs: []JobInput{{Of: 2, Path: "a", To: "a"}}}}}, "position 2: want one of the 2 jobs"},
		{"a task of after_each", JobSpec{Needs: needed, TaskData: TaskData{After: After{Jobs: two,
			Inputs: []JobInput{{Of: 1, Task: 1, Path: "a", To: "a"}}}}}, "task 1: want 0 to 99999, and none with after_each"},
		{"outside", JobSpec{Needs: needed, TaskData: TaskData{After: After{Jobs: two,
			Inputs: []JobInput{{Path: "a", To: "../a"}}}}}, `path "../a": want a path inside`},
		{"a name twice", JobSpec{Needs: needed, Inputs: []File{{Path: "a"}}, TaskData: TaskData{After: After{Jobs: two,
			Inputs: []JobInput{{Path: "b", To: "./a"}}}}}, `path "./a": another input has this name`},
	} {
		var p problems
		c.s.checkAfter(&p)
		if err := p.err(); c.want == "" && err != nil || c.want != "" && (err == nil ||
			!strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", c.what, err, c.want)
		}
	}
}

// Each entry of a register is of one dependency, or of one task of after_each.
func TestDependencyEntries(t *testing.T) {
	s := JobSpec{Count: 3, TaskData: TaskData{After: After{Jobs: []Dependency{{Kind: AfterOK}, {Kind: AfterEach}}}}}
	if s.Entries() != 9 {
		t.Fatalf("%d entries; want 3 tasks, the cancellation, 2 dependencies and 3 tasks", s.Entries())
	}
	for entry, want := range map[uint32][3]int{0: {0, 0, 0}, 3: {0, 0, 0}, 4: {0, 0, 1}, 5: {1, 0, 1}, 6: {1, 0, 1},
		8: {1, 2, 1}, 9: {0, 0, 0}} {
		k, task, found := s.DependencyOf(entry)
		if k != want[0] || int(task) != want[1] || found != (want[2] == 1) {
			t.Errorf("entry %d: dependency %d, task %d, %v; want %v", entry, k, task, found, want)
		}
	}
	if s.DependencyEntry(1) != 5 || s.EachEntry(2) != 8 {
		t.Errorf("entries %d and %d", s.DependencyEntry(1), s.EachEntry(2))
	}
	most := JobSpec{Count: MaxCount, TaskData: TaskData{After: After{Jobs: append(make([]Dependency, MaxAfter-1),
		Dependency{Kind: AfterEach})}}}
	most.RecordsOffers = true
	if most.Rules.Budget = 1; most.Entries() != MaxEntryIndex+1 {
		t.Errorf("at most %d entries, want %d", most.Entries(), MaxEntryIndex+1)
	}
}

// The moves of a gang are an entry after those of what it waits for, before that of what it has used.
func TestMovesEntry(t *testing.T) {
	for _, after := range [][]Dependency{nil, {{}}, {{}, {Kind: AfterEach}}} {
		for _, budget := range []Budget{0, 1} {
			s := JobSpec{Count: 5, TaskData: TaskData{After: After{Jobs: after}, Gang: Gang{Ranks: 5,
				Search: &ScheduleSearch{}}}}
			at := s.Entries()
			if s.Rules.Budget = budget; s.CountsMoves() || s.IsTally(at-1) || s.MemberFeatures().Has(FeatureMoves) {
				t.Errorf("%d jobs before it: moves are counted, or entry %d is of none", len(after), at-1)
			}
			s.Gang.Search.CountsMoves = true
			if s.MovesEntry() != at || s.Entries() != at+1+uint32(budget) || !s.IsTally(at) ||
				!s.MemberFeatures().Has(FeatureMoves) {
				t.Errorf("%d jobs before it: entry %d of %d, want %d", len(after), s.MovesEntry(), s.Entries(), at)
			}
			if budget > 0 && (s.UsedEntry() != at+1 || !s.IsTally(at+1)) {
				t.Errorf("%d jobs before it: what it has used is entry %d, want %d", len(after), s.UsedEntry(), at+1)
			}
			if _, _, found := s.DependencyOf(at); found {
				t.Errorf("%d jobs before it: the entry is one of a job that is waited for", len(after))
			}
		}
	}
}

// What may have been offered by either of two sets is what either has, and more only where there are too many spans.
func TestOfferedTasksTogether(t *testing.T) {
	rng := NewRand(1, 2)
	draw := func() *OfferedTasks {
		o := &OfferedTasks{Below: 1 + uint32(rng.IntN(300))}
		for from := uint32(rng.IntN(9)); from < o.Below && len(o.Free) < MaxFree; from += uint32(2 + rng.IntN(30)) {
			to := min(from+1+uint32(rng.IntN(12)), o.Below)
			o.Free, from = append(o.Free, TaskSpan{from, to}), to
		}
		return o
	}
	for range 300 {
		a, b := draw(), draw()
		both := a.With(b)
		if !a.Valid(300) || !both.Valid(300) {
			t.Fatalf("%v and %v are together %v, which nobody may say", a, b, both)
		}
		for i := range uint32(301) {
			if want := a.Has(i) || b.Has(i); want != both.Has(i) && (want || len(both.Free) < MaxFree) {
				t.Fatalf("%v and %v are together %v: task %d", a, b, both, i)
			}
		}
	}
}
