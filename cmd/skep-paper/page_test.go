package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/sim/paper"
)

func reports() []*paper.Report {
	return []*paper.Report{{
		Study: "tiny", Title: "one <queue>", Source: "a book", Counts: map[paper.Verdict]int{paper.Undecided: 1},
		Lines: []paper.Line{{Source: "p. 1", Scenario: "one", Policy: "mct", Metric: "W", Published: "2.00",
			Ours:    "2.1 ± 0.9",
			Verdict: paper.Undecided, Says: "undecided: 5 % ± 43 % away"}},
		Curves: []paper.Curve{{Name: "w", Title: "W & load", X: "load", Series: []paper.Series{
			{Policy: "mct", Points: []paper.Point{{X: 0.5, Stable: true, Mean: 2, Half: 0.1},
				{X: 0.8, Stable: true, Mean: 5, Half: 7}, {X: 1.1}}},
			{Policy: "met", Points: []paper.Point{{X: 0.5}}},
		}}, {Name: "rules", Title: "bytes by rule", X: "rule", Y: "bytes", Names: []string{"a<b", "c"},
			Series: []paper.Series{
				{Policy: "plane@1000", Points: []paper.Point{{X: 0, Stable: true, Mean: 7000, Half: 5},
					{X: 1, Stable: true, Mean: 12}}},
			}}, {Name: "links", Title: "error by distance", X: "links", Y: "error", Series: []paper.Series{
			{Policy: "universal", Points: []paper.Point{{X: 1, Stable: true}, {X: 2, Stable: true, Mean: 0.1, Half: 0.2}}},
		}}, {Name: "size", Title: "by size", X: "nodes", Y: "W", Series: []paper.Series{
			{Policy: "perfect", Points: []paper.Point{{X: 1000, Stable: true, Mean: 1}, {X: 100000, Stable: true, Mean: 1}}},
		}}, {Name: "none", Title: "nothing stable", X: "rates",
			Series: []paper.Series{{Policy: "mct", Points: []paper.Point{{X: 0.5}}}}}},
	}}
}

func TestPage(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "r.json"), filepath.Join(dir, "page.html")
	b, err := json.Marshal(reports())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-o", out, in}, nil, nil); err != nil {
		t.Fatal(err)
	}
	b, err = os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	html := string(b)
	for _, want := range []string{"one &lt;queue&gt;", `<tr class="undecided">`,
		"2.1 ± 0.9", "W &amp; load", "completion time",
		"1 undecided",
		"bytes a node and second", ">a&lt;b<", "distance, links", ">100000<"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if n := strings.Count(html, "<svg"); n != 5 {
		t.Errorf("%d plots: want 5", n)
	}
	if strings.Contains(html, "src=") || strings.Contains(html, "<link") {
		t.Error("the page loads something: want all in one file")
	}
}

func TestBadReports(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"not.json": "{", "other.json": `[{"a": 1}]`, "null.json": "[null]"} {
		f := filepath.Join(dir, name)
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run([]string{f}, nil, nil); err == nil || !strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), "sim paper run") {
			t.Errorf("%s: got %v: want an error that names the file and says where reports come from", name, err)
		}
	}
	if err := run(nil, nil, nil); err == nil {
		t.Error("no report: want an error")
	}
}
