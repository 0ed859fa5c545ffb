package arrays

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	v1 "skep/node/api/v1"
)

func TestParseVariable(t *testing.T) {
	for text, want := range map[string]v1.Variable{
		"seed=1,2": {Name: "seed", Values: []string{"1", "2"}},
		"x=":       {Name: "x", Values: []string{""}},
		"_a1=b=c":  {Name: "_a1", Values: []string{"b=c"}},
	} {
		if got, err := ParseVariable(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"seed", "=1", "9=1", "a-b=1", "SKEP_INDEX=1", "a b=1"} {
		if got, err := ParseVariable(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestLines(t *testing.T) {
	got, err := Lines(strings.NewReader("a\r\n\n b \nlast"))
	if want := []string{"a", " b ", "last"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v: want %q", got, err, want)
	}
	again, err := Lines(strings.NewReader(string(Content(got))))
	if err != nil || !slices.Equal(again, got) {
		t.Errorf("%q, %v: want %q", again, err, got)
	}
	for text, want := range map[string]string{
		"": "has no line", "\n\n": "has no line",
		"ok\n" + strings.Repeat("x", 4097): "line 2 has 4097 bytes: want at most 4096",
		"a\x00":                            "line 1 is no text", "\n\xff": "line 2 is no text",
		strings.Repeat("x\n", 100_001): "more than 100000 lines", strings.Repeat("x", 17<<20): "is larger than 16 MiB",
	} {
		if _, err := Lines(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q: %v: want %q", text, err, want)
		}
	}
}

// An input stands for a file for each combination of the values that it names, of the others it knows nothing.
func TestInputs(t *testing.T) {
	spec := &v1.Spec{Command: []string{"x"}}
	v := Apply(spec, "0-2:2", []string{"l0", "l1"}, []v1.Variable{{Name: "m", Values: []string{"a", "b"}}})
	if spec.Count != 8 {
		t.Errorf("%d tasks: want 8", spec.Count)
	}
	for text, want := range map[string]string{
		"plain":              "plain[]",
		"${m}.toml":          "a.toml[m:0] b.toml[m:1]",
		"${SKEP_INDEX}":      "0[SKEP_INDEX:0] 2[SKEP_INDEX:1]",
		"${SKEP_LINE}=in":    "l0=in[SKEP_LINE:0] l1=in[SKEP_LINE:1]",
		"${m}/${SKEP_INDEX}": "a/0[SKEP_INDEX:0 m:0] b/0[SKEP_INDEX:0 m:1] a/2[SKEP_INDEX:1 m:0] b/2[SKEP_INDEX:1 m:1]",
	} {
		all, err := v.Inputs(text)
		var got []string
		for _, in := range all {
			var only []string
			for _, o := range in.Only {
				only = append(only, fmt.Sprintf("%s:%d", o.Variable, o.Value))
			}
			got = append(got, in.String()+"["+strings.Join(only, " ")+"]")
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v: want %s", text, got, err, want)
		}
	}
	lines, matrix := []string{"k=v", "${m}"}, []v1.Variable{{Name: "m", Values: []string{"a"}}}
	odd := Apply(&v1.Spec{Command: []string{"x"}}, "", lines, matrix)
	all, err := odd.Inputs("in/${SKEP_LINE}=${m}.txt")
	if len(all) != 2 || all[0].Path != "in/k=v" || all[0].Name != "a.txt" || all[1].Path != "in/${m}" {
		t.Errorf("values with = and ${} in them: %+v, %v", all, err)
	}
	const want = "want one of SKEP_INDEX, SKEP_LINE, m"
	if _, err := v.Inputs("${SKEP_JOB}"); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if _, err := Apply(&v1.Spec{}, "0-2000", nil, nil).Inputs("${SKEP_INDEX}"); err == nil {
		t.Error("2001 files passed")
	}
	if got, want := fmt.Sprint(v.Of(7)), "[{SKEP_INDEX 2} {SKEP_LINE l1} {m b}]"; got != want {
		t.Errorf("the last task has %s: want %s", got, want)
	}
}

func TestCheckOutputs(t *testing.T) {
	for pattern, ok := range map[string]bool{"${m}.csv": true, "${m}": false, "x/${m}": true, "${other}/..": false,
		"${m}${m}": false, "${other}": true} {
		spec := &v1.Spec{Outputs: []string{pattern}}
		v := Apply(spec, "", nil, []v1.Variable{{Name: "m", Values: []string{"a", "."}},
			{Name: "other", Values: []string{"x"}}})
		if err := v.CheckOutputs(); (err == nil) != ok {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
