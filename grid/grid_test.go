package grid

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestIdentitiesReadWhatTheyPrint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var j JobID
		var b BlobID
		copy(j.Origin[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "origin"))
		copy(j.Nonce[:], rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, "nonce"))
		copy(b[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "blob"))
		if got, err := ParseJobID(j.String()); err != nil || got != j {
			t.Fatalf("%v: %v, %v", j, got, err)
		}
		if got, err := ParseNodeID(j.Origin.String()); err != nil || got != j.Origin {
			t.Fatalf("%v: %v, %v", j.Origin, got, err)
		}
		if got, err := ParseBlobID(b.String()); err != nil || got != b {
			t.Fatalf("%v: %v, %v", b, got, err)
		}
	})
}

func FuzzParseIDs(f *testing.F) {
	f.Add(JobID{}.String())
	f.Add("aaaaaaaaaaaaaaaa-")
	f.Add(strings.Repeat("ü", 52))
	f.Fuzz(func(t *testing.T, s string) {
		if j, err := ParseJobID(s); err == nil && j.String() != s {
			t.Errorf("%q is read as %v", s, j)
		}
		if n, err := ParseNodeID(s); err == nil && n.String() != s {
			t.Errorf("%q is read as %v", s, n)
		}
	})
}

func TestAttemptsAreOrdered(t *testing.T) {
	for _, c := range []struct {
		a, b Attempt
		less bool
	}{
		{Attempt{1, 1}, Attempt{1, 2}, true}, {Attempt{1, 9}, Attempt{2, 1}, true},
		{Attempt{1, 1}, Attempt{1, 1}, false}, {Attempt{2, 1}, Attempt{1, 9}, false},
	} {
		if c.a.Less(c.b) != c.less {
			t.Errorf("%v < %v is %v", c.a, c.b, !c.less)
		}
	}
}

func TestTimeDoesNotOverflow(t *testing.T) {
	if got := Time(5).Add(math.MaxInt64); got != Never {
		t.Errorf("5 + the longest: %d", got)
	}
	for s, want := range map[float64]time.Duration{1.5: 1500 * time.Millisecond, -3: 0, 1e300: math.MaxInt64} {
		if got := Seconds(s); got != want {
			t.Errorf("%g s: %v, want %v", s, got, want)
		}
	}
	if Seconds(math.NaN()) != math.MaxInt64 {
		t.Error("NaN is not the longest")
	}
}

func TestClassOf(t *testing.T) {
	program := File{Path: "simulate", Blob: BlobID{0xab, 0xcd}, Exec: true}
	for _, c := range []struct {
		spec JobSpec
		want string
	}{
		{JobSpec{Class: "mine", Engine: "process", Command: []string{"x"}}, "mine"},
		{JobSpec{Engine: "process", Command: []string{"/usr/bin/python3", "a.py"}}, "process:python3"},
		{JobSpec{Engine: "process", Command: []string{"./simulate"}, Inputs: []File{program}}, "process:simulate@abcd0000"},
		{JobSpec{Engine: "process", Command: []string{strings.Repeat("n", 300)}},
			("process:" + strings.Repeat("n", 300))[:MaxClass]},
	} {
		if got := ClassOf(&c.spec); got != c.want {
			t.Errorf("class %q, want %q", got, c.want)
		}
	}
}

func good() JobSpec {
	return JobSpec{Engine: EngineProcess, Command: []string{"true"}, Count: 1,
		Needs: Needs{Resources: Resources{CPU: CPU}}}
}

// Each bound is an error that names its field.
func TestJobBounds(t *testing.T) {
	if s := good(); s.Check() != nil {
		t.Fatal(s.Check())
	}
	for field, change := range map[string]func(*JobSpec){
		"name":         func(s *JobSpec) { s.Name = strings.Repeat("n", MaxName+1) },
		"class":        func(s *JobSpec) { s.Class = "a\nb" },
		"engine":       func(s *JobSpec) { s.Engine = "magic" },
		"command":      func(s *JobSpec) { s.Command = []string{""} },
		"count":        func(s *JobSpec) { s.Count = MaxCount + 1 },
		"needs.cpu":    func(s *JobSpec) { s.Needs.CPU = -1 },
		"needs.memory": func(s *JobSpec) { s.Needs.Memory = MaxMemory + 1 },
		"needs.labels": func(s *JobSpec) { s.Needs.Labels = []LabelNeed{{Key: "a b", Values: []string{"c"}}} },
		"inputs":       func(s *JobSpec) { s.Inputs = []File{{Path: "../x", Blob: BlobID{1}}} },
		"outputs":      func(s *JobSpec) { s.Outputs = []string{"/etc/*"} },
		"env":          func(s *JobSpec) { s.Env = []Var{{Name: "SKEP_JOB"}} },
		"timeout":      func(s *JobSpec) { s.Timeout = -time.Second },
		"retries":      func(s *JobSpec) { s.Retries = -1 },
		"policy":       func(s *JobSpec) { s.Policy = strings.Repeat("p", MaxClass+1) },
	} {
		s := good()
		change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: error %v does not name it", field, err)
		}
	}
}

func TestImpossibleAds(t *testing.T) {
	ok := Ad{Speed: 1, Capacity: Resources{CPU: CPU}, Free: Resources{CPU: CPU}}
	if err := ok.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Ad){
		"infinite speed":    func(a *Ad) { a.Speed = math.Inf(1) },
		"NaN speed":         func(a *Ad) { a.Speed = math.NaN() },
		"free over all":     func(a *Ad) { a.Free.CPU = 2 * CPU },
		"negative backlog":  func(a *Ad) { a.Backlog = -1 },
		"rate NaN":          func(a *Ad) { a.Rates = []Rate{{Class: "a", Mu: math.NaN()}} },
		"negative rate":     func(a *Ad) { a.Rates = []Rate{{Class: "a", Alpha: -1}} },
		"too many rates":    func(a *Ad) { a.Rates = make([]Rate, MaxRates+1) },
		"too many labels":   func(a *Ad) { a.Labels = make([]Label, MaxLabels+1) },
		"availability of 2": func(a *Ad) { a.Availability = 2 },
	} {
		a := ok
		if change(&a); a.Check() == nil {
			t.Errorf("%s is taken for possible", name)
		}
	}
}

func TestInside(t *testing.T) {
	for p, want := range map[string]bool{"a": true, "a/b.csv": true, "a/../b": true, "": false, ".": false, "..": false,
		"../a": false, "a/../../b": false, "/a": false, "a\x00": false, `a\b`: false, strings.Repeat("a", MaxPath+1): false} {
		if Inside(p) != want {
			t.Errorf("%q inside: %v", p, !want)
		}
	}
}

func TestEffectsKeepTheirMemory(t *testing.T) {
	fx := &Effects{}
	fill := func() {
		fx.Reset()
		for range 10 {
			m := fx.Send(NodeID{}, KindPoll)
			m.Poll.Rates = append(m.Poll.Rates, Rate{Class: "a"})
			fx.Save(RecEntry)
			fx.Wake(1, TimerPoll, 2)
		}
	}
	fill()
	if got := testing.AllocsPerRun(100, fill); got != 0 {
		t.Errorf("%g allocations, want none", got)
	}
}

// A start of an earlier step may be carried out already: its records are on disk.
func TestCancelStartIsOfOneStep(t *testing.T) {
	var fx Effects
	first, second := AttemptID{Attempt: Attempt{Epoch: 1, N: 1}}, AttemptID{Attempt: Attempt{Epoch: 1, N: 2}}
	fx.Begin()
	fx.Starts = append(fx.Starts, Start{Attempt: first})
	fx.Begin()
	fx.Starts = append(fx.Starts, Start{Attempt: second})
	if fx.CancelStart(first) || !fx.CancelStart(second) || fx.CancelStart(second) {
		t.Error("want the start of the second step taken back, once")
	}
	if len(fx.Starts) != 1 || fx.Starts[0].Attempt != first {
		t.Errorf("starts %v: want that of the first step", fx.Starts)
	}
}
