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

// netFile is a scenario of `skep sim net` while it is read.
type netFile struct {
	yamlFile
	s     net.Scenario
	read  func(name string) ([]byte, error) // of a file that the scenario names
	where map[string]ast.Node               // by the paths of net.Problem
	wrong map[string]bool                   // paths of what could not be read: what else is wrong with it only follows
}

var netKeys = []string{"name", "seed", "replications", "start", "warmup", "time", "spread", "nodes", "classes", "network", "policy",
	"rule", "perfect", "forward", "rates", "node", "balance", "gossip", "discovery", "disk", "workload", "faults"}

// netNeeds are the keys that a scenario must have.
var netNeeds = []string{"nodes", "classes", "workload"}

// readNet reads a scenario. The error lists everything that is wrong with it, with line and column. change
// is what the command line says, which covers the file.
func readNet(name string, b []byte, read func(string) ([]byte, error), change func(*net.Scenario)) (*net.Scenario, float64, error) {
	f := &netFile{yamlFile: yamlFile{name: name}, read: read, where: map[string]ast.Node{}, wrong: map[string]bool{}}
	f.s = net.Scenario{Name: strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), Seed: 1, Replications: 1,
		Start: 10 * time.Second, Warmup: time.Minute, Time: 10 * time.Minute, Node: node.Defaults()}
	f.s.Node.Strikes = 0 // its nodes die by chance, and its classes are retried without end
	body, err := f.parse(b)
	if err != nil {
		return nil, 0, err
	}
	if body == nil {
		return nil, 0, fmt.Errorf("%s: is empty: want a scenario, at least its nodes, classes and workload", name)
	}
	entries := f.mapping(body, "scenario", netKeys...)
	// Classes come first: others speak of them.
	slices.SortStableFunc(entries, func(x, y entry) int { return first(y.key) - first(x.key) })
	for _, e := range entries {
		f.where[e.key] = e.node
		switch e.key {
		case "nodes", "classes", "workload", "network": // what of them cannot be read leaves the rest to be judged
			f.field(e)
		default:
			f.reading(e.key, func() { f.field(e) })
		}
	}
	for _, need := range netNeeds {
		if f.where[need] == nil {
			f.note(nil, "%s: has no %s", name, need)
		}
	}
	if change != nil {
		change(&f.s)
	}
	if f.wrong["time"] { // it is not to be too short, too
		f.s.Time = max(f.s.Time, f.s.Start+1, f.s.Warmup+1)
		for i := range f.s.Faults {
			f.s.Time = max(f.s.Time, f.s.Faults[i].At)
		}
	}
	whole := len(f.problems) == 0
	problems, lambda := f.s.Check()
	for _, p := range problems {
		if whole || lambda == 0 { // the load of what was not read is nothing to speak of
			f.located(p)
		}
	}
	return &f.s, lambda, f.err()
}

// reading notes whether what stands at a path can be read.
func (f *netFile) reading(path string, read func()) {
	before := len(f.problems) - f.strange
	read()
	if len(f.problems)-f.strange > before {
		f.wrong[path] = true
	}
}

func first(key string) int {
	if key == "classes" {
		return 1
	}
	return 0
}

// located notes a problem at the line of what it is about, or of what contains that.
func (f *netFile) located(p net.Problem) {
	for path := p.Where; ; path = path[:max(0, strings.LastIndexByte(path, '.'))] {
		if f.wrong[path] || f.where[path] == nil && slices.Contains(netNeeds, path) {
			return
		}
		if n := f.where[path]; n != nil {
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

func (f *netFile) field(e entry) {
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
			f.reading("classes."+c.key, func() { f.class(c) })
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

// list calls read for each item of a sequence and remembers where it stands.
func (f *netFile) list(e entry, read func(i int, n ast.Node)) {
	seq, ok := e.value.(*ast.SequenceNode)
	if !ok {
		f.at(e.value, "%s: want a list", e.key)
		return
	}
	for i, n := range seq.Values {
		f.where[fmt.Sprint(e.key, ".", i)] = n
		read(i, n)
	}
}

// span reads a length of time, 0 or more.
func (f *netFile) span(e entry, dst *time.Duration) {
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

// real reads a number within bounds.
func (f *netFile) real(e entry, lo, hi float64, dst *float64) {
	f.parsed(e, func(t string) error {
		x, err := strconv.ParseFloat(t, 64)
		if err != nil || !(x >= lo && x <= hi) {
			return fmt.Errorf("%.40q: want a number from %g to %g", t, lo, hi)
		}
		*dst = x
		return nil
	})
}

func (f *netFile) flag(e entry, dst *bool) {
	f.parsed(e, func(t string) (err error) { *dst, err = strconv.ParseBool(t); return badBool(err) })
}

func (f *netFile) size(e entry, dst *grid.Bytes) {
	f.parsed(e, func(t string) error {
		n, err := parseSize(t)
		if err == nil {
			*dst = grid.Bytes(n)
		}
		return err
	})
}

func (f *netFile) labels(e entry) []grid.Label {
	var out []grid.Label
	for _, l := range f.mapping(e.value, "labels") {
		if t, ok := f.text(l.value, "labels "+l.key); ok {
			out = append(out, grid.Label{Key: l.key, Value: t})
		}
	}
	return out
}

var errTwo = errors.New("want two lengths of time, the lower first, as in [1ms, 20ms]")
