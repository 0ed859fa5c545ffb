package paper

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Print writes a report for people: its numbers by their source, and the counts of the verdicts.
func (r *Report) Print(w io.Writer) error {
	form := "quick form: short runs, wide intervals"
	if r.Full {
		form = "full form"
	}
	if _, err := fmt.Fprintf(w, "%s: %s\n%s\n%s, seed %d\n", r.Study, r.Title, r.Source, form, r.Seed); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	source := ""
	for _, l := range r.Lines {
		if l.Source != source {
			source = l.Source
			fmt.Fprintf(t, "\n%s\n", source)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\n", l.Scenario, l.Policy, l.Metric, l.Published, l.Ours, l.Says)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "\n%s\n", n)
	}
	_, err := fmt.Fprintf(w, "\n%d numbers: %s\n", len(r.Lines), r.Summary())
	return err
}

// Summary is the counts of the verdicts in a line: those of systems as described, and then each other class.
func (r *Report) Summary() string {
	names := map[Class]string{Changed: "changed systems and readings", Theory: "against theory",
		Own: "against bars and runs of our own"}
	text := count(r.Counts)
	for _, c := range Classes[1:] {
		if r.Apart[c] != nil {
			text += "; " + names[c] + ": " + count(r.Apart[c])
		}
	}
	return text
}

func count(of map[Verdict]int) string {
	words := map[Verdict]string{Departs: "depart, unexplained", Known: "depart, explained", Undecided: "undecided",
		Damaged: "damaged in print", NotRun: "not run", Reported: "not in print", Inside: "inside"}
	var parts []string
	for k := len(Verdicts) - 1; k >= 0; k-- {
		if n := of[Verdicts[k]]; n > 0 || Verdicts[k] == Departs {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[Verdicts[k]]))
		}
	}
	return strings.Join(parts, ", ")
}
