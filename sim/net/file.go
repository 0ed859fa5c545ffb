package net

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/grid"
	"skep/node"
)

// scenarioFile is a scenario's file (YAML) being parsed.
type scenarioFile struct {
	document.Reader
	s          Scenario
	read       func(name string) ([]byte, error) // reads a file that the scenario names
	positions  map[string]ast.Node               // by the paths of Problem
	unreadable map[string]bool                   // paths of invalid values: further problems of them only follow
}

var scenarioKeys = []string{"name", "seed", "replications", "start", "warmup", "time", "spread", "nodes", "classes",
	"network", "policy", "order", "preempt", "reallocate", "reallocate_utility", "sharing",
	"rule", "perfect", "forward", "rates", "node", "balance", "gossip", "discovery", "disk", "overhead", "workload",
	"faults", "digest", "checks"}

// requiredKeys are the keys that a scenario must have.
var requiredKeys = []string{"nodes", "classes", "workload"}

// ParseScenario parses a scenario's file and checks it, and returns it with its λ* (see [Scenario.Check]). The error
// lists all problems with line and column. read reads a file that the scenario names; change, which may be nil, is
// applied before the check, as by flags that override the file.
func ParseScenario(name string, b []byte, read func(name string) ([]byte, error), change func(*Scenario)) (
	*Scenario, float64, error) {
	f := &scenarioFile{Reader: document.Reader{Name: name}, read: read, positions: map[string]ast.Node{},
		unreadable: map[string]bool{}}
	f.s = Scenario{Name: strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), Seed: 1, Replications: 1,
		Start: 10 * time.Second, Warmup: time.Minute, Time: 10 * time.Minute, Node: node.Defaults()}
	f.s.Node.Strikes = 0 // its nodes die at random, and its classes are retried for ever
	body, err := f.Parse(b)
	if err != nil {
		return nil, 0, err
	}
	if body == nil {
		return nil, 0, fmt.Errorf("%s: is empty: want a scenario, at least its nodes, classes and workload", name)
	}
	entries := f.Mapping(body, "scenario", scenarioKeys...)
	// Classes come first: other keys refer to them.
	slices.SortStableFunc(entries, func(x, y document.Entry) int { return readOrder(y.Key) - readOrder(x.Key) })
	for _, e := range entries {
		f.positions[e.Key] = e.Node
		switch e.Key {
		case "nodes", "classes", "workload", "network": // an invalid part of them leaves the rest to be checked
			f.field(e)
		default:
			f.readAt(e.Key, func() { f.field(e) })
		}
	}
	for _, need := range requiredKeys {
		if f.positions[need] == nil {
			f.Note(nil, "%s: has no %s", name, need)
		}
	}
	if change != nil {
		change(&f.s)
	}
	if f.unreadable["time"] { // it must not be reported as too short as well
		f.s.Time = max(f.s.Time, f.s.Start+1, f.s.Warmup+1)
		for i := range f.s.Faults {
			f.s.Time = max(f.s.Time, f.s.Faults[i].At)
		}
	}
	f.gangClasses()
	whole := f.Err() == nil
	problems, lambda := f.s.Check()
	for _, p := range problems {
		if whole || lambda == 0 { // the load is wrong if something could not be read
			f.locate(p)
		}
	}
	return &f.s, lambda, f.Err()
}

// readAt records whether the value at a path is invalid.
func (f *scenarioFile) readAt(path string, read func()) {
	before := f.Invalid()
	read()
	if f.Invalid() > before {
		f.unreadable[path] = true
	}
}

func readOrder(key string) int {
	if key == "classes" {
		return 1
	}
	return 0
}

// locate reports a problem at the line of its path, or of the nearest enclosing one.
func (f *scenarioFile) locate(p Problem) {
	for path := p.Where; ; path = path[:max(0, strings.LastIndexByte(path, '.'))] {
		if f.unreadable[path] || f.positions[path] == nil && slices.Contains(requiredKeys, path) {
			return
		}
		if n := f.positions[path]; n != nil {
			what := p.What
			for _, line := range strings.Split(what, "\n") {
				f.At(n, "%s: %s", p.Where, line)
			}
			return
		}
		if path == "" {
			f.Note(nil, "%s: %s: %s", f.Name, p.Where, p.What)
			return
		}
	}
}

func (f *scenarioFile) field(e document.Entry) {
	s := &f.s
	switch e.Key {
	case "name":
		f.Value(e, func(t string) error { s.Name = t; return nil })
	case "seed":
		f.Value(e, func(t string) (err error) {
			if s.Seed, err = strconv.ParseUint(t, 10, 64); err != nil {
				err = fmt.Errorf("%.40q: want a whole number, 0 or more", t)
			}
			return
		})
	case "replications":
		f.Number(e, 1, MaxReplications, func(n int64) { s.Replications = int(n) })
	case "start":
		f.span(e, &s.Start)
	case "warmup":
		f.span(e, &s.Warmup)
	case "time":
		f.span(e, &s.Time)
	case "perfect":
		f.flag(e, &s.Perfect)
	case "digest":
		f.off(e, &s.NoDigest)
	case "checks":
		f.off(e, &s.Unchecked)
	case "spread":
		f.span(e, &s.Spread)
	case "nodes":
		f.list(e, func(i int, n ast.Node) { f.group(i, n) })
	case "classes":
		for _, c := range f.Mapping(e.Value, "classes") {
			f.readAt("classes."+c.Key, func() { f.class(c) })
		}
	case "network":
		f.network(e)
	case "disk":
		for _, k := range f.Mapping(e.Value, "disk", "sync") {
			f.span(k, &s.Sync)
		}
	case "overhead":
		f.overhead(e)
	case "workload":
		f.list(e, f.stream)
	case "faults":
		f.list(e, f.fault)
	default:
		f.knobs(e)
	}
}

// list calls read for each item of a sequence and records its position.
func (f *scenarioFile) list(e document.Entry, read func(i int, n ast.Node)) {
	seq, ok := e.Value.(*ast.SequenceNode)
	if !ok {
		f.At(e.Value, "%s: want a list", e.Key)
		return
	}
	for i, n := range seq.Values {
		f.positions[fmt.Sprint(e.Key, ".", i)] = n
		read(i, n)
	}
}

// span parses a duration, 0 or more.
func (f *scenarioFile) span(e document.Entry, dst *time.Duration) {
	f.Value(e, func(t string) error { return parseSpan(t, dst) })
}

func parseSpan(t string, dst *time.Duration) error {
	d, err := time.ParseDuration(t)
	if err != nil || d < 0 {
		if t == "0" {
			*dst = 0
			return nil
		}
		return fmt.Errorf("%.40q: want a length of time, 0 or more, as in 20ms or 10m", t)
	}
	*dst = d
	return nil
}

// real parses a number within bounds.
func (f *scenarioFile) real(e document.Entry, lo, hi float64, dst *float64) {
	f.Value(e, func(t string) error {
		x, err := strconv.ParseFloat(t, 64)
		if err != nil || !(x >= lo && x <= hi) {
			return fmt.Errorf("%.40q: want a number from %g to %g", t, lo, hi)
		}
		*dst = x
		return nil
	})
}

func (f *scenarioFile) flag(e document.Entry, dst *bool) {
	f.Value(e, func(t string) (err error) { *dst, err = document.ParseBool(t); return err })
}

// off is flag for what is on unless the file says no.
func (f *scenarioFile) off(e document.Entry, dst *bool) {
	f.flag(e, dst)
	*dst = !*dst
}

func (f *scenarioFile) size(e document.Entry, dst *grid.Bytes) {
	f.Value(e, func(t string) error {
		n, err := document.ParseSize(t)
		if err == nil {
			*dst = grid.Bytes(n)
		}
		return err
	})
}

func (f *scenarioFile) labels(e document.Entry) []grid.Label {
	var out []grid.Label
	for _, l := range f.Mapping(e.Value, "labels") {
		if t, ok := f.Text(l.Value, "labels "+l.Key); ok {
			out = append(out, grid.Label{Key: l.Key, Value: t})
		}
	}
	return out
}

var errInterval = errors.New("want two lengths of time, the lower first, as in [1ms, 20ms]")
