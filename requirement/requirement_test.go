package requirement_test

import (
	"strings"
	"testing"

	"skep/requirement"
)

// facts are attributes by their names.
type facts map[string]requirement.Value

var names = map[requirement.Attribute]string{
	requirement.NodeName: "node.name", requirement.NodeCPU: "node.cpu", requirement.NodeMemory: "node.memory",
	requirement.NodeSpeed: "node.speed", requirement.NodeEngines: "node.engines", requirement.NodeLabel: "node.labels.",
	requirement.NodeResource: "node.resources.", requirement.JobSubmitter: "job.submitter",
	requirement.JobCPU: "job.cpu", requirement.TimeHour: "time.hour", requirement.TimeWeekday: "time.weekday",
	requirement.NodeBacklog: "node.backlog",
}

func (f facts) Attribute(a requirement.Attribute, key string) requirement.Value {
	return f[names[a]+key]
}

func number(x float64) requirement.Value { return requirement.NumberOf(x) }
func text(s string) requirement.Value    { return requirement.TextOf(s) }

func parse(t *testing.T, s string, use requirement.Use) *requirement.Expression {
	t.Helper()
	x, err := requirement.Parse(s, use)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return x
}

var known = facts{"node.cpu": number(8), "node.memory": number(96), "node.speed": number(1.5),
	"node.labels.os": text("linux"), "node.labels.ram": text("12.5"), "node.name": text("anthill"),
	"node.engines": requirement.ListOf([]string{"process", "wasm"}), "node.resources.gpu": number(0)}

var match = requirement.Match{Node: known}

func TestRequirementsHold(t *testing.T) {
	for s, want := range map[string]requirement.Truth{
		"node.memory > 64.0 && node.labels.os == 'linux'":  requirement.True,
		"node.memory > 128 or node.cpu >= 8":               requirement.True,
		"node.memory > 128 and node.cpu >= 8":              requirement.False,
		"not (node.cpu < 4)":                               requirement.True,
		"!(node.cpu > 4)":                                  requirement.False,
		"node.labels[\"os\"] in ['darwin', 'linux']":       requirement.True,
		"node.labels.os not in ['darwin', 'linux']":        requirement.False,
		"node.cpu in [4, 8, 16]":                           requirement.True,
		"'wasm' in node.engines":                           requirement.True,
		"'container' in node.engines":                      requirement.False,
		"4 <= node.cpu && node.cpu <= 8":                   requirement.True,
		"node.memory / node.cpu >= 12":                     requirement.True,
		"node.memory / node.cpu > 12":                      requirement.False,
		"node.cpu % 3 == 2":                                requirement.True,
		"-node.cpu + 1 == -7":                              requirement.True,
		"number(node.labels.ram) > 12":                     requirement.True,
		"number(node.labels.os) > 12":                      requirement.Unknown,
		"!(number('nan') > 12)":                            requirement.Unknown,
		"defined(number('inf'))":                           requirement.False,
		"node.labels.os startsWith 'lin'":                  requirement.True,
		"node.labels.os endsWith 'nux'":                    requirement.True,
		"node.labels.os contains 'win'":                    requirement.False,
		"lower(node.name) == 'anthill'":                    requirement.True,
		"max(node.cpu, 16) == 16 && min(node.cpu, 16) < 9": requirement.True,
		"node.speed > 1 ? node.cpu > 4 : node.cpu > 16":    requirement.True,
		"node.speed > 2 ? node.cpu > 4 : node.cpu > 16":    requirement.False,
		"true":                                        requirement.True,
		"(node.cpu > 4) == true":                      requirement.True,
		"(node.cpu > 4) != (1 > 2)":                   requirement.True,
		"node.resources.gpu >= 1":                     requirement.False,
		"node.cpu / 0 > 1":                            requirement.Unknown,
		"node.name < 'b'":                             requirement.True,
		"node.labels.zone == 'a'":                     requirement.Unknown,
		"node.labels.zone != 'a'":                     requirement.Unknown,
		"node.labels.zone in ['a', 'b']":              requirement.Unknown,
		"(node.labels.zone ?? 'a') == 'a'":            requirement.True,
		"(node.labels.os ?? 'a') == 'a'":              requirement.False,
		"defined(node.labels.zone)":                   requirement.False,
		"defined(node.labels.os)":                     requirement.True,
		"not (node.labels.zone == 'a')":               requirement.Unknown,
		"(node.labels.zone == 'a') ? true : false":    requirement.Unknown,
		"node.cpu > 16 && node.labels.zone == 'a'":    requirement.False,
		"node.cpu > 4 && node.labels.zone == 'a'":     requirement.Unknown,
		"node.labels.zone == 'a' && node.cpu > 16":    requirement.False,
		"node.cpu > 4 || node.labels.zone == 'a'":     requirement.True,
		"node.labels.zone == 'a' || node.cpu > 4":     requirement.True,
		"node.labels.zone == 'a' || node.cpu > 16":    requirement.Unknown,
		"defined(node.labels.zone) && node.speed > 1": requirement.False,
	} {
		if got := parse(t, s, requirement.Where).Holds(match); got != want {
			t.Errorf("%s: %v, want %v", s, got, want)
		}
	}
}

// The tables of Kleene's logic, which is that of [1].
func TestLogicHasThreeValues(t *testing.T) {
	value := [...]string{"false", "node.labels.zone == 'a'", "true"}
	for a := requirement.False; a <= requirement.True; a++ {
		for b := requirement.False; b <= requirement.True; b++ {
			and := parse(t, "("+value[a]+") && ("+value[b]+")", requirement.Where).Holds(match)
			or := parse(t, "("+value[a]+") || ("+value[b]+")", requirement.Where).Holds(match)
			if and != min(a, b) || or != max(a, b) {
				t.Errorf("%v, %v: and %v, or %v", a, b, and, or)
			}
		}
	}
}

func TestRanksAreNumbers(t *testing.T) {
	for s, want := range map[string]float64{"node.speed": 1.5, "node.speed * node.cpu - 2": 10,
		"node.labels.os == 'linux' ? 2 : 1": 2, "(node.backlog ?? 7) + 1": 8} {
		if got, ok := parse(t, s, requirement.Rank).Of(match); !ok || got != want {
			t.Errorf("%s: %v, %v: want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{"node.backlog", "1 / (node.cpu - 8)", "node.speed + node.backlog"} {
		if got, ok := parse(t, s, requirement.Rank).Of(match); ok {
			t.Errorf("%s: %v, want that it is not known", s, got)
		}
	}
}

func TestErrorsNameTheColumnAndTheRemedy(t *testing.T) {
	long := strings.Repeat("node.cpu > 1 && ", 30) + "true"
	for _, c := range []struct {
		text string
		use  requirement.Use
		want string
	}{
		{"", requirement.Where, `is empty: want an expression, as in node.memory > 64 && node.labels.os == "linux"`},
		{"node.cpu >", requirement.Where, "column 10: unexpected token EOF"},
		{"node.cpu > 4 &&& true", requirement.Where, "column 16: "},
		{"node.memroy > 4", requirement.Where, "column 1: node.memroy is not known here: want one of node.name, node.id, " +
			"node.cpu, node.memory, node.speed, node.engines, node.labels.KEY, node.resources.KEY"},
		{"memory > 4", requirement.Where, "column 1: memory is not known here: want one of node.name"},
		{"node.labels.os > 4", requirement.Where,
			"column 16: > between text and a number: want two numbers or two texts; number(X) makes a number of text"},
		{"node.labels.os == 4", requirement.Where, "want the same type on both sides"},
		{"node.cpu + 'x' > 4", requirement.Where, "column 10: + between a number and text: want two numbers"},
		{"node.cpu", requirement.Where, "column 1: the whole is a number: want true or false"},
		{"node.cpu > 3", requirement.Rank, "the whole is true or false: want a number, as in node.speed"},
		{"node.backlog < 3", requirement.Where, "column 1: node.backlog changes from moment to moment: want it in rank"},
		{"node.free_cpu < 3", requirement.Accept, "column 1: node.free_cpu is not known here"},
		{"job.cpu > 3", requirement.Where, "column 1: job.cpu is not known here"},
		{"node.labels == 'a'", requirement.Where, `node.labels: want a key with it, as in node.labels.KEY or node.labels["KEY"]`},
		{"node.cpu.x == 1", requirement.Where, "node.cpu.x: node.cpu has no parts"},
		{"node.labels[node.name] == 'a'", requirement.Where, "want a name, as in node.labels.os"},
		{"node.name matches '(a+)+b'", requirement.Where, "column 11: operator matches: want one of && ||"},
		{"filter(node.engines, true)", requirement.Where,
			"function filter is not known: want one of defined, number, lower, min, max"},
		{"f(1)", requirement.Where, "function f is not known"},
		{"node.cpu in ['a']", requirement.Where, "in between a number and this list"},
		{"node.name in ['a', 1]", requirement.Where, "want the type of what is in it"},
		{"node.name in []", requirement.Where, "a list of 0: want 1 to 64"},
		{"node.name in [node.id]", requirement.Where, "want numbers or texts in a list"},
		{"[1, 2]", requirement.Where, "a list stands only right of in"},
		{"{a: 1}", requirement.Where, "column 1: "},
		{"let x = 1; x > 0", requirement.Where, "column 5: "},
		{"true; false", requirement.Where, "column 1: "},
		{"nil == nil", requirement.Where, "column 1: "},
		{"!node.cpu", requirement.Where, "column 1: ! of a number: want true or false"},
		{"-node.name == 'a'", requirement.Where, "column 1: - of text: want a number"},
		{"node.cpu ? true : false", requirement.Where, "the condition is a number: want true or false"},
		{"true ? 1 : 'a'", requirement.Rank, "? : between a number and text: want the same type on both sides"},
		{"min(node.cpu) > 1", requirement.Where, "column 1: "},
		{"number(node.cpu) > 1", requirement.Where, "column 8: number of a number: want text"},
		{long, requirement.Where, "is too long: want at most 64 names, values and operators"},
		{strings.Repeat("(", 600), requirement.Where, "has 600 bytes: want at most 512"},
		{strings.Repeat("(", 65), requirement.Where, "has too many brackets: want at most 64"},
		{strings.Repeat("(", 60), requirement.Where, "column"},
		{"node.name == '\xff'", requirement.Where, "want one line of printable text"},
		{"node.cpu\n> 1", requirement.Where, "want one line of printable text"},
	} {
		_, err := requirement.Parse(c.text, c.use)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60s: %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestExplainNamesTheValuesThatAreAskedFor(t *testing.T) {
	x := parse(t, "node.memory > 128 && node.labels.zone == 'a' || node.memory > 200 || 'wasm' in node.engines",
		requirement.Where)
	want := `node.memory is 96, node.labels.zone is not known, node.engines is ["process", "wasm"]`
	if got := x.Explain(match); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTimeIsToldApart(t *testing.T) {
	if !parse(t, "time.hour >= 18 && time.weekday != 'sun'", requirement.Accept).AsksTime() ||
		parse(t, "job.submitter != 'guest'", requirement.Accept).AsksTime() {
		t.Error("an expression does not know whether it asks for the time")
	}
}

// Recordings keep expressions as text; one of a newer version is met by nothing.
func TestTextsAreKept(t *testing.T) {
	for text, want := range map[string]requirement.Truth{"node.cpu == 8": requirement.True,
		"node.moons > 2": requirement.False, "!(node.moons > 2)": requirement.False} {
		var x requirement.Expression
		if err := x.UnmarshalText([]byte(text)); err != nil || x.String() != text || x.Holds(match) != want {
			t.Errorf("%s: %q, %v, %v: want %v", text, x.String(), err, x.Holds(match), want)
		}
		if b, err := x.MarshalBinary(); err != nil || string(b) != text {
			t.Errorf("%s: %q, %v", text, b, err)
		}
	}
}

func TestEvaluationAllocatesNothing(t *testing.T) {
	x := parse(t, "node.memory > 64.0 && node.labels.os in ['a', 'linux'] && !(node.cpu / 2 < 2)", requirement.Where)
	if n := testing.AllocsPerRun(100, func() { x.Holds(match) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("node.memory > 64.0 && node.labels.os == 'linux'", uint8(0))
	f.Add("(node.backlog ?? 7) + 1", uint8(1))
	f.Add("job.submitter != \"guest\" ? true : time.hour in [1, 2]", uint8(2))
	f.Fuzz(func(t *testing.T, s string, use uint8) {
		x, err := requirement.Parse(s, requirement.Use(use%3))
		if err != nil {
			return
		}
		x.Holds(match)
		x.Of(requirement.Match{})
		x.Explain(match)
		if again, err := requirement.Parse(x.String(), requirement.Use(use%3)); err != nil || again.String() != s {
			t.Fatalf("%q: %v", s, err)
		}
	})
}
