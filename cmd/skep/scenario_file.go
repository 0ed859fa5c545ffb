package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"skep/grid"
	"skep/node"
	"skep/sim/net"
)

// scenarioFile is a scenario of `skep sim net` being parsed.
type scenarioFile struct {
	yamlFile
	s          net.Scenario
	read       func(name string) ([]byte, error) // reads a file that the scenario names
	positions  map[string]ast.Node               // by the paths of net.Problem
	unreadable map[string]bool                   // paths of invalid values: further problems of them only follow
}

var scenarioKeys = []string{"name", "seed", "replications", "start", "warmup", "time", "spread", "nodes", "classes", "network", "policy",
	"rule", "perfect", "forward", "rates", "node", "balance", "gossip", "discovery", "disk", "workload", "faults"}

// requiredKeys are the keys that a scenario must have.
var requiredKeys = []string{"nodes", "classes", "workload"}

// readScenario parses a scenario. The error lists all problems with line and column. change applies the command line's
// flags, which override the file.
func readScenario(name string, b []byte, read func(string) ([]byte, error), change func(*net.Scenario)) (*net.Scenario, float64, error) {
	f := &scenarioFile{yamlFile: yamlFile{name: name}, read: read, positions: map[string]ast.Node{}, unreadable: map[string]bool{}}
	f.s = net.Scenario{Name: strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), Seed: 1, Replications: 1,
		Start: 10 * time.Second, Warmup: time.Minute, Time: 10 * time.Minute, Node: node.Defaults()}
	f.s.Node.Strikes = 0 // its nodes die at random, and its classes are retried for ever
	body, err := f.parse(b)
	if err != nil {
		return nil, 0, err
	}
	if body == nil {
		return nil, 0, fmt.Errorf("%s: is empty: want a scenario, at least its nodes, classes and workload", name)
	}
	entries := f.mapping(body, "scenario", scenarioKeys...)
	// Classes come first: other keys refer to them.
	slices.SortStableFunc(entries, func(x, y entry) int { return readOrder(y.key) - readOrder(x.key) })
	for _, e := range entries {
		f.positions[e.key] = e.node
		switch e.key {
		case "nodes", "classes", "workload", "network": // an invalid part of them leaves the rest to be checked
			f.field(e)
		default:
			f.readAt(e.key, func() { f.field(e) })
		}
	}
	for _, need := range requiredKeys {
		if f.positions[need] == nil {
			f.note(nil, "%s: has no %s", name, need)
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
	whole := len(f.problems) == 0
	problems, lambda := f.s.Check()
	for _, p := range problems {
		if whole || lambda == 0 { // the load is wrong if something could not be read
			f.locate(p)
		}
	}
	return &f.s, lambda, f.err()
}

// readAt records whether the value at a path is invalid.
func (f *scenarioFile) readAt(path string, read func()) {
	before := len(f.problems) - f.unknownKeys
	read()
	if len(f.problems)-f.unknownKeys > before {
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
func (f *scenarioFile) locate(p net.Problem) {
	for path := p.Where; ; path = path[:max(0, strings.LastIndexByte(path, '.'))] {
		if f.unreadable[path] || f.positions[path] == nil && slices.Contains(requiredKeys, path) {
			return
		}
		if n := f.positions[path]; n != nil {
			what := p.What
			for _, line := range strings.Split(what, "\n") {
				f.at(n, "%s: %s", p.Where, line)
			}
			return
		}
		if path == "" {
			f.note(nil, "%s: %s: %s", f.name, p.Where, p.What)
			return
		}
	}
}

func (f *scenarioFile) field(e entry) {
	s := &f.s
	switch e.key {
	case "name":
		f.parsed(e, func(t string) error { s.Name = t; return nil })
	case "seed":
		f.parsed(e, func(t string) (err error) {
			if s.Seed, err = strconv.ParseUint(t, 10, 64); err != nil {
				err = fmt.Errorf("%.40q: want a whole number, 0 or more", t)
			}
			return
		})
	case "replications":
		f.number(e, 1, net.MaxReplications, func(n int64) { s.Replications = int(n) })
	case "start":
		f.span(e, &s.Start)
	case "warmup":
		f.span(e, &s.Warmup)
	case "time":
		f.span(e, &s.Time)
	case "perfect":
		f.flag(e, &s.Perfect)
	case "spread":
		f.span(e, &s.Spread)
	case "nodes":
		f.list(e, func(i int, n ast.Node) { f.group(i, n) })
	case "classes":
		for _, c := range f.mapping(e.value, "classes") {
			f.readAt("classes."+c.key, func() { f.class(c) })
		}
	case "network":
		f.network(e)
	case "disk":
		for _, k := range f.mapping(e.value, "disk", "sync") {
			f.span(k, &s.Sync)
		}
	case "workload":
		f.list(e, f.stream)
	case "faults":
		f.list(e, f.fault)
	default:
		f.knobs(e)
	}
}

// list calls read for each item of a sequence and records its position.
func (f *scenarioFile) list(e entry, read func(i int, n ast.Node)) {
	seq, ok := e.value.(*ast.SequenceNode)
	if !ok {
		f.at(e.value, "%s: want a list", e.key)
		return
	}
	for i, n := range seq.Values {
		f.positions[fmt.Sprint(e.key, ".", i)] = n
		read(i, n)
	}
}

// span parses a duration, 0 or more.
func (f *scenarioFile) span(e entry, dst *time.Duration) {
	f.parsed(e, func(t string) error { return parseSpan(t, dst) })
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
func (f *scenarioFile) real(e entry, lo, hi float64, dst *float64) {
	f.parsed(e, func(t string) error {
		x, err := strconv.ParseFloat(t, 64)
		if err != nil || !(x >= lo && x <= hi) {
			return fmt.Errorf("%.40q: want a number from %g to %g", t, lo, hi)
		}
		*dst = x
		return nil
	})
}

func (f *scenarioFile) flag(e entry, dst *bool) {
	f.parsed(e, func(t string) (err error) { *dst, err = strconv.ParseBool(t); return badBool(err) })
}

func (f *scenarioFile) size(e entry, dst *grid.Bytes) {
	f.parsed(e, func(t string) error {
		n, err := parseSize(t)
		if err == nil {
			*dst = grid.Bytes(n)
		}
		return err
	})
}

func (f *scenarioFile) labels(e entry) []grid.Label {
	var out []grid.Label
	for _, l := range f.mapping(e.value, "labels") {
		if t, ok := f.text(l.value, "labels "+l.key); ok {
			out = append(out, grid.Label{Key: l.key, Value: t})
		}
	}
	return out
}

var errInterval = errors.New("want two lengths of time, the lower first, as in [1ms, 20ms]")
