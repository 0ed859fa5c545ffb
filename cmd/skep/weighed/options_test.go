package weighed

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	v1 "skep/node/api/v1"
)

func printed(s *v1.Step) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	Options(w, s, func(n *v1.Considered) string { return n.Name }, func(s float64) string { return fmt.Sprintf("%gs", s) })
	Prices(w, s)
	w.Flush()
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Join(lines, "\n")
}

// Each option has a line, with a mark at the one that was chosen. Utilities and prices have columns where some node has
// any; what was charged to a node counts for each of its options.
func TestOptionsArePrinted(t *testing.T) {
	half, four, ten, one := 0.5, 4.0, 10.0, 1
	s := &v1.Step{More: 2, Nodes: []v1.Considered{
		{Name: "alpha", Chosen: true, Option: &one, Charged: 1, Options: []v1.OptionEstimate{
			{Option: 0, Ready: 1, ECT: 3}, {Option: 1, ECT: 2}}},
		{Name: "beta", Option: &one, Options: []v1.OptionEstimate{{Option: 1, ECT: 7}}}}}
	const plain = "  and 2 more\n" +
		"  each option  option  end  start\n" +
		"    alpha      0       4s   2s\n" +
		"  * alpha      1       3s   1s\n" +
		"    beta       1       7s   0s"
	if got := printed(s); unindented(got) != unindented(plain) {
		t.Errorf("got\n%s\nwant\n%s", got, plain)
	}
	s.More, s.Nodes[0].Options[0].Utility = 0, &half
	s.Nodes[1].Options[0].Price, s.Nodes[1].Options[0].Worth = &four, &ten
	const full = "  each option  option  end  start  utility  price  worth\n" +
		"    alpha      0       4s   2s     0.5      -      -\n" +
		"  * alpha      1       3s   1s     -        -      -\n" +
		"    beta       1       7s   0s     -        4      10"
	if got := printed(s); unindented(got) != unindented(full) {
		t.Errorf("got\n%s\nwant\n%s", got, full)
	}
	if got := printed(&v1.Step{Nodes: []v1.Considered{{Name: "alpha"}}}); got != "" {
		t.Errorf("of a job without options: %q", got)
	}
}

func unindented(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(out, "\n")
}

func TestPricesArePrinted(t *testing.T) {
	s := &v1.Step{Prices: &v1.Prices{Options: []v1.OptionPrice{{Option: 0, Price: 16, Worth: 10},
		{Option: 1, Price: 4, Worth: 10}}}}
	const want = "option 0 costs 16 credits there and is worth 10: too dear\n" +
		"option 1 costs 4 credits there and is worth 10: worth its price"
	if got := printed(s); unindented(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
