package paper

import (
	"context"
	"flag"
	"os"
	"slices"
	"testing"
)

var whole = flag.Bool("paper.quick", false, "run the whole quick form of each study in TestQuick: minutes")

// short is what TestQuick runs of each study, by system or scenario: the policies, none = all. It takes seconds, and
// shows a study with the verdicts of all its kinds of figures.
var short = map[string]map[string][]string{
	"class-based": {"e1": nil, "e2": nil, "e3": nil, "e5b": nil, "e8b": nil},
	"dissemination": {"reference@150": {"neighbourhood:2", "probabilistic:0.6", "change_sensitive:0.2",
		"probabilistic:0.6*change_sensitive:0.1"}},
	"data":       {"e11@1": nil},
	"faults":     {"e12@40": nil},
	"forwarding": {"rich-zipf": nil, "cold-1000": nil},
	"gang-mapping": {"M1": nil, "M2": nil, "M3": nil, "M4": nil, "M5": nil, "M6": nil, "M7": nil, "counts-1": nil,
		"counts-3": nil, "counts-3-small": nil, "counts-30": nil, "e1-life-one@4800": nil, "e1-life-three@9000": nil,
		"e1-life-three@630": nil, "e2-life-three@4500": nil, "e3-life-one@9600": nil, "e4-jacobi-one": nil},
	"gridx1":       {"sites@0.7": nil, "sites@1.1": {"load:0.1", "combined:0.1", "combined:free"}},
	"knapsack":     {"e1@6.4": {"fcfs", "easy", "min_min", "gang:6"}, "e5-even@0": nil, "e5-even-utility@0": nil},
	"lpas-cluster": {"2a": nil, "2b": nil, "2c2": nil, "2d": nil, "2e": nil, "2f2": nil, "2g": nil, "sharifnia": nil},
	"lpas-desktop": {"3a-alpha1-1": nil, "3b-alpha1-1": nil, "3c-alpha1-1": nil, "3d-alpha2-1": nil, "3e-alpha1-1": nil,
		"3a-exp-1": nil, "3a-hyper-1": nil, "3a-const-1": nil, "3h-i75": nil, "3g1-alpha1": nil, "hihi-mfd-fd": nil,
		"lohi-mpd-fd": nil, "lolo-mfd-fd": nil, "lolo-mpd-fd-delay-01": nil},
	"market":      {"t1-sp1-bg0@0.9": nil, "t2-sp2@0.95": nil, "t3-rd1-11@0.95": {"cda", "hbp", "hbp_t:5"}},
	"sensitivity": {"e7@0": {"credit:0:6", "credit:0.5:6", "credit:0.8:6"}},
	"lpas-grid":   {"4a-i10": nil, "4a-i30": nil, "4b1": nil, "4b2": nil}, // the tests of balance and sim/queueing run 4a
}

// shorten leaves of a study what needs no other runs than those of some systems under some policies.
func (s *Study) shorten(t *testing.T, systems map[string][]string) {
	t.Helper()
	var names []string
	for name, policies := range systems {
		names = append(names, name)
		if policies == nil {
			continue
		}
		other := func(policy string) bool { return !slices.Contains(policies, policy) }
		for k := range s.runs {
			if r := &s.runs[k]; r.scenario == name {
				r.policies = slices.DeleteFunc(slices.Clone(r.policies), other)
			}
		}
		s.numbers = slices.DeleteFunc(s.numbers, func(p printed) bool {
			return slices.ContainsFunc(p.keys(), func(k key) bool { return k.scenario == name && other(k.policy) })
		})
	}
	if err := s.Only(names...); err != nil {
		t.Fatal(err)
	}
}

// TestQuick runs every study, shortened or in its quick form: no number may depart that the study does not name. What
// it names and nobody explains still counts as a departure.
func TestQuick(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			s, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			if systems := short[name]; systems != nil && !*whole {
				s.shorten(t, systems)
			}
			r, err := s.Run(context.Background(), Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d numbers in %.1f s: %s", len(r.Lines), r.Seconds, r.Summary())
			inside := 0
			for _, l := range r.Lines {
				if l.Verdict == Inside {
					inside++
				}
				if l.Verdict == Departs && l.Since == "" {
					t.Errorf("%s: %s under %s, %s: printed %s, ours %s: %s", l.Source, l.Scenario, l.Policy, l.Metric, l.Published,
						l.Ours, l.Says)
				}
			}
			if inside < 2 {
				t.Errorf("%d numbers are inside: the runs are too short to tell anything", inside)
			}
			if testing.Verbose() && t.Failed() {
				r.Print(os.Stderr)
			}
		})
	}
}
