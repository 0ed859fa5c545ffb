package paper

import (
	"context"
	"os"
	"testing"
)

// TestQuick runs every study in its quick form: no number may depart that the study does not name. What it names and
// nobody explains still counts as a departure.
func TestQuick(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			s, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Run(context.Background(), Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d numbers in %.1f s: %s", len(r.Lines), r.Seconds, r.Summary())
			for _, l := range r.Lines {
				if l.Verdict == Departs && l.Since == "" {
					t.Errorf("%s: %s under %s, %s: printed %s, ours %s: %s", l.Source, l.Scenario, l.Policy, l.Metric, l.Published,
						l.Ours, l.Says)
				}
			}
			if testing.Verbose() && t.Failed() {
				r.Print(os.Stderr)
			}
		})
	}
}
