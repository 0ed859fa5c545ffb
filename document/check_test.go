package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"
)

// lineOf is the line of what there is too much of, 0 where there is not.
func lineOf(text string) (line int, what string) {
	if e := check(lexer.Tokenize(text)); e != nil {
		return e.Line, e.Text
	}
	return 0, ""
}

func TestNesting(t *testing.T) {
	many := strings.Repeat
	deep := ""
	for k := range 101 {
		deep += many(" ", k) + "a:\n"
	}
	for text, want := range map[string]int{
		"":                 0,
		many("[", 100):     0,
		many("[", 101):     1,
		many("{", 101):     1,
		many("\n[", 101):   102,
		many("{a: ", 51):   1,
		many("[]: ", 1000): 1,
		deep:               101,
		"mu:\n" + many("- [1, 2, {a: b}]\n", 1000):         0,
		"alpha: [" + many("a: 1, ", 1000) + "]":            0,
		"alpha: {" + many("a: [1, {b: 2}],\n", 1000) + "}": 0,
		many(" a: 1\n", 1000):                              0,
		many("- a: 1\n  bb: - 2\n", 1000):                  0,
		many("a:\n- b: 1\nccc:\n  - - d\n", 500):           0,
		many("---\na:\n  b: 1\n", 100):                     0,
		"name: x\n" + many("- ", 101):                      2,
		"name: x\n" + many("? ", 101):                      2,
		"name: " + many("a: ", 101):                        1,
		// What is no bracket counts for nothing, and lets nothing through.
		"# " + many("a: - [ ", 1000):                   0,
		"a: [1] # " + many("[", 101):                   0,
		"# [\n" + many("- ", 50_000):                   2,
		"x: \"[\"\n" + many("- ", 50_000):              2,
		"x: '['\n" + many("- ", 50_000):                2,
		"x: [\n" + many("- ", 50_000):                  2,
		"x: a[b\n" + many("- ", 50_000):                2,
		"x: |\n  [\ny: " + many("- ", 50_000):          3,
		"x: \"" + many("[", 1000) + "\"":               0,
		"x: |\n" + many("  printf '\\033[1m'\n", 1000): 0,
		"x: >-\n" + many("  - a: - [ {\n", 1000):       0,
		"x:\n" + many("- \"\\e[1m- ? a: \"\n", 1000):   0,
		"name: " + many("http://a-b-c:80/?x=- ", 50):   0,
	} {
		if got, _ := lineOf(text); got != want {
			t.Errorf("%.40q: line %d, want %d", text, got, want)
		}
	}
}

// What the parser would take time or memory for with the square of its number.
func TestBounds(t *testing.T) {
	many := strings.Repeat
	keys := func(n int) string {
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, "k%d: 1\n", k)
		}
		return b.String()
	}
	const nest, absent = "bytes of keys within each other", "values are left out"
	for _, c := range []struct {
		name, text string
		line       int
		want       string
	}{
		{"keys", keys(MaxKeys), 0, ""},
		{"a key more", "# keys\n" + keys(MaxKeys+1), MaxKeys + 2, "more than 1024 keys in one mapping"},
		{"deeper", "a:\n- b: 1\n" + many("  c: [1]\n", MaxKeys), MaxKeys + 2, "keys in one mapping"},
		{"in brackets", "{" + many("a: {b: 1},\n", MaxKeys+1) + "}", MaxKeys + 1, "keys in one mapping"},
		{"lists below", many("a:\n- 1\n", MaxKeys+1), 2*MaxKeys + 1, "keys in one mapping"},
		{"with tags and anchors", many("!!str a: 1\n&x b: 1\n&long c: 1\n", MaxKeys/3+1), MaxKeys + 1, "keys in one mapping"},
		{"of many mappings", many("- a: 1\n  b: {c: 1, d: [e: 1]}\n", 10*MaxKeys), 0, ""},
		{"of pairs in a list", "[" + many("a: 1, ", 2*MaxKeys) + "]", 0, ""},
		{"questions", "a: 1\n" + many("? a\n: 1\n", 10), 2, "a question mark before a key"},
		{"a long key", many("k", MaxPath) + ": 1\n", 0, ""},
		{"longer", "a: 1\n" + many("k", MaxPath+1) + ": 1\n", 2, nest},
		{"together", many("k", MaxPath/2) + ":\n  - {" + many("k", MaxPath/2+1) + ": 1}\n", 2, nest},
		{"one after the other", many(many("k", MaxPath)+": 1\n", 10), 0, ""},
		{"no values", many("a:\n", MaxAbsent+1), MaxAbsent + 1, absent},
		{"up to a bound", many("a:\n", MaxAbsent), 0, ""},
		{"dashes", many("-\n", MaxAbsent+1), MaxAbsent + 1, absent},
		{"in mappings", many("- a:\n", MaxAbsent+1), MaxAbsent + 1, absent},
		{"comments", many("- # here\n", MaxAbsent+1), MaxAbsent + 1, absent},
		{"tags", many("- !!str\n", MaxAbsent+1), MaxAbsent + 1, absent},
		{"tags below their keys", "- a:\n" + many("    !!str\n  b:\n", MaxAbsent+1), MaxAbsent*2 + 2, absent},
		{"in flow", "{" + many("a: ,\n", MaxAbsent+1) + "}", MaxAbsent + 1, absent},
		{"keys alone", "{" + many("a,\n", MaxAbsent+1) + "}", MaxAbsent + 1, absent},
		{"values below", many("a:\n  b: 1\nc:\n- 1\nd:\n  - e:\n      1\n-\n  - f\n", MaxAbsent+1), 0, ""},
		{"values below a tag", many("a: !!map\n  b: 1\nc: !!seq\n- 1\nd: !!seq # here\n  - !!map\n    e: !!x\n      1\n",
			MaxAbsent+1), 0, ""},
		{"values in flow", "[" + many("{a: 1, b: {c: d}, e: [f, g], },\n", MaxAbsent+1) + "]", 0, ""},
		{"documents", many("---\na: 1\n", MaxDocuments+1), 2*MaxDocuments + 1, "more than 100 documents"},
	} {
		line, what := lineOf(c.text)
		if line != c.line || !strings.Contains(what, c.want) || c.want == "" && what != "" {
			t.Errorf("%s: line %d: %s: want %d: %s", c.name, line, what, c.line, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"# a\n---\n# b\n":                 "",
		"---\na: 1\n...\n":                "a: 1",
		"a: 1\na: 2\n":                    "a: 1\na: 2",
		"a: 1\n---\nb: 1\n":               "3:1: a second document: want one",
		"a: 1\nb: [1\n":                   "2:4: sequence end token ']' not found",
		"a: " + strings.Repeat("-\n", 20): "1:4: block sequence entries are not allowed in this context",
		strings.Repeat("a", MaxSize+1):    "has more than 1048576 bytes",
	} {
		n, e := Parse([]byte(text))
		got := ""
		if e != nil {
			got = e.Error()
		} else if n != nil {
			got = n.String()
		}
		if got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

func TestTell(t *testing.T) {
	if err := Tell("f.yaml", nil); err != nil {
		t.Errorf("nothing is wrong: %v", err)
	}
	all := make([]string, MaxTold+2)
	for k := range all {
		all[k] = fmt.Sprintf("f.yaml:%d: x", k+1)
	}
	for n, last := range map[int]string{1: "f.yaml:1: x", MaxTold: fmt.Sprintf("f.yaml:%d: x", MaxTold),
		MaxTold + 2: "f.yaml: and 2 more problems"} {
		lines := strings.Split(Tell("f.yaml", all[:n]).Error(), "\n")
		if len(lines) != min(n, MaxTold+1) || lines[len(lines)-1] != last {
			t.Errorf("of %d problems %d lines, the last %q: want %q", n, len(lines), lines[len(lines)-1], last)
		}
	}
}
