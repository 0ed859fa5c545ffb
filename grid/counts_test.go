package grid

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCountsArePutInOrder(t *testing.T) {
	for _, c := range []struct{ in, want, wrong string }{
		{"", "", ""}, {"gpu=2,fpga=1", "fpga=1,gpu=2", ""}, {"gpu=0", "", ""}, {"gpu=1024", "gpu=1024", ""},
		{"gpu=1025", "", "0 to 1024"}, {"gpu=-1", "", "0 to 1024"}, {"gpu", "", "KIND=N"}, {"gpu=1.5", "", "KIND=N"},
		{"gpu=1,gpu=2", "", "gpu: is given twice"}, {"Gpu=1", "", "lower-case"}, {"1gpu=1", "", "lower-case"},
		{"=1", "", "lower-case"}, {"cpu=1", "", "needs.cpu, or --cpu"},
		{strings.Repeat("a", MaxKind) + "=1", strings.Repeat("a", MaxKind) + "=1", ""},
		{strings.Repeat("a", MaxKind+1) + "=1", "", "at most 32"},
		{"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1", "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1", ""},
		{"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1", "", "9 kinds: want at most 8"},
	} {
		got, err := ParseCounts(c.in)
		if string(got) != c.want || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: %q, %v; want %q, %q", c.in, got, err, c.want, c.wrong)
		}
		if c.wrong == "" && !got.Valid() {
			t.Errorf("%q: its own form %q is not valid", c.in, got)
		}
	}
	for _, c := range []Counts{"gpu=0", "b=1,a=1", "gpu=01", "gpu=1,", "gpu=-1", "gpu=1,gpu=1", "gpu= 1"} {
		if c.Valid() {
			t.Errorf("%q is valid: want one form for one value", c)
		}
	}
}

// Sums, differences and comparisons are those of each kind.
func TestCountsAgainstMaps(t *testing.T) {
	kinds := []string{"a", "b", "c"}
	draw := rapid.Custom(func(t *rapid.T) map[string]int64 {
		m := map[string]int64{}
		for _, k := range kinds {
			m[k] = rapid.Int64Range(0, 3).Draw(t, k)
		}
		return m
	})
	of := func(m map[string]int64) Resources {
		var r Resources
		for _, k := range kinds {
			r = r.Plus(Resources{Counts: CountsOf(k, m[k])})
		}
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		x, y := draw.Draw(t, "x"), draw.Draw(t, "y")
		a, b := of(x), of(y)
		fits, negative := true, false
		for _, k := range kinds {
			if a.Plus(b).Counts.Of(k) != x[k]+y[k] || a.Minus(b).Counts.Of(k) != x[k]-y[k] {
				t.Fatalf("%v and %v of %s: sum %v, difference %v", x, y, k, a.Plus(b), a.Minus(b))
			}
			fits, negative = fits && y[k] <= x[k], negative || x[k] < y[k]
		}
		if a.Fits(b) != fits || a.Minus(b).Counts.Negative() != negative || a.Plus(b).Minus(b) != a {
			t.Fatalf("%v and %v: fits %v, difference %v", x, y, a.Fits(b), a.Minus(b))
		}
		if !a.Counts.Valid() || !a.Plus(b).Counts.Valid() {
			t.Fatalf("%q, %q: not in the one form", a.Counts, a.Plus(b).Counts)
		}
	})
}

// A need that older nodes would not heed goes only to nodes that say that they do.
func TestNeedsThatOlderNodesDoNotHeed(t *testing.T) {
	needs := func(change func(*Needs)) error {
		n := Needs{Resources: Resources{CPU: CPU}}
		change(&n)
		return n.Check()
	}
	for _, c := range []struct {
		name   string
		change func(*Needs)
		want   string
	}{
		{"without its label", func(n *Needs) { n.Counts = "gpu=1" }, "older nodes would run the tasks without"},
		{"with it", func(n *Needs) { n.Counts = "gpu=1"; n.AddFeature(ResourceLabel) }, ""},
		{"invalid", func(n *Needs) { n.Counts = "gpu=0"; n.AddFeature(ResourceLabel) }, `needs.resources "gpu=0"`},
		{"pin", func(n *Needs) { n.Pin = true }, "needs.labels.skep.pin 1"},
		{"pinned", func(n *Needs) { n.Pin = true; n.AddFeature(PinLabel) }, ""},
		{"fraction", func(n *Needs) { n.Pin, n.CPU = true, 1500; n.AddFeature(PinLabel) }, "needs.cpu 1.5: want whole cores"},
	} {
		if got := fmt.Sprint(needs(c.change)); got != "<nil>" != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q", c.name, got, c.want)
		}
	}
}

func TestResourcesWithoutCountsAllocateNothing(t *testing.T) {
	r, s := Resources{CPU: 4 * CPU, Memory: GiB}, Resources{CPU: CPU}
	if n := testing.AllocsPerRun(100, func() {
		if r = r.Minus(s).Plus(s); !r.Fits(s) {
			t.Error("does not fit")
		}
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
