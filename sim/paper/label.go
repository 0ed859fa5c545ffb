package paper

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// label is what a folder says of a line beforehand. It excuses nothing: a line that agrees is reported as agreeing.
type label struct {
	class Class
	why   string
	tried string // of known: what was run, and what came of it
	since string // of known and open: the day
	by    string // of known: the line of what was tried: its scenario, and its policy or order; "" = it is none
}

// label reads the columns class, why, tried, since and by.
func (r record) label(of rule) (label, error) {
	l := label{class: Class(r["class"]), why: r["why"], tried: r["tried"], since: r["since"], by: r["by"]}
	named := of == known || of == open
	switch _, err := time.Parse(time.DateOnly, l.since); {
	case !slices.Contains(rules, of):
		return l, fmt.Errorf("rule %q: want one of %v", of, rules)
	case !slices.Contains(Classes, l.class):
		return l, fmt.Errorf("class %q: want one of %q", l.class, Classes)
	case l.why == "" && (of == known || of == damaged || of == unrun):
		return l, fmt.Errorf("rule %s: want a reason", of)
	case l.tried == "" && of == known:
		return l, fmt.Errorf("rule known: want what was tried; where nothing was, the rule is open")
	case named && err != nil:
		return l, fmt.Errorf("since %q: want the day on which the departure was named, as in 2026-11-24", l.since)
	case l.by != "" && of != known:
		return l, fmt.Errorf("by %q: is of the rule known", l.by)
	case !named && l.since != "":
		return l, fmt.Errorf("since %q: is of the rules known and open", l.since)
	}
	return l, nil
}

// explains reports whether a line is the one that by names, of the same metric.
func explains(by, metric, scenario, policy, value string, of string) bool {
	where, what, _ := strings.Cut(by, " ")
	return figureOf(metric) == figureOf(of) && where == scenario && (what == policy || what == value)
}

// figureOf is a metric without the other scenario that it compares with: that, too, is another one in what was tried.
func figureOf(metric string) string {
	if kind, rest, _ := strings.Cut(metric, ":"); kind == "growth" || kind == "times" {
		figure, _, _ := strings.Cut(rest, "/")
		return kind + ":" + figure
	}
	return metric
}

// explain makes a departure of those whose explanation departs, too.
func explain(lines []Line, by []string) {
	for k := range lines {
		l := &lines[k]
		if l.Verdict != Known || by[k] == "" {
			continue
		}
		for x := range lines {
			o := &lines[x]
			if !explains(by[k], o.Metric, o.Scenario, o.Policy, o.Published, l.Metric) {
				continue
			}
			switch o.Verdict {
			case Departs:
				l.Verdict = Departs
				l.Says += ", which departs, too"
			case Inside:
				l.Says += ", which is inside"
			default:
				l.Says += ", which is " + string(o.Verdict)
			}
			break
		}
	}
}

// apply applies a rule and its label to a verdict.
func (b *label) apply(l *Line, of rule) {
	switch of {
	case report:
		l.Verdict, l.Says = Reported, "reported"
		if b.why != "" {
			l.Says += ": " + b.why
		}
	case damaged:
		l.Says = fmt.Sprintf("damaged in print: %s; ours %s", b.why, l.Says)
		l.Verdict = Damaged
	case known, open:
		if l.Verdict != Departs {
			return
		}
		l.Since, l.Tried = b.since, b.tried
		if of == known {
			l.Verdict = Known
			l.Says += fmt.Sprintf(": %s; tried: %s", b.why, b.tried)
			return
		}
		l.Says += ", unexplained"
		if b.why != "" {
			l.Says += ": " + b.why
		}
		if b.tried != "" {
			l.Says += "; tried: " + b.tried
		}
	}
}
