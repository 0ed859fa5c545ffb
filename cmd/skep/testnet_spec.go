package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/testnet"
)

// testnetFile is the spec of a testnet being parsed.
type testnetFile struct {
	document.Reader
	s          testnet.Spec
	positions  map[string]ast.Node // by the paths of testnet.Problem
	unreadable map[ast.Node]bool   // invalid, and reported
}

// readTestnet parses a spec. The error lists all problems with line and column.
func readTestnet(name string, b []byte) (*testnet.Spec, error) {
	f := &testnetFile{Reader: document.Reader{Name: name}, positions: map[string]ast.Node{},
		unreadable: map[ast.Node]bool{}}
	body, err := f.Parse(b)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, fmt.Errorf("%s: is empty: want a spec, at least its nodes", name)
	}
	for _, e := range f.Mapping(body, "spec", "nodes", "links") {
		list, ok := e.Value.(*ast.SequenceNode)
		if !ok {
			f.At(e.Value, "%s: want a list", e.Key)
			continue
		}
		for i, n := range list.Values {
			if e.Key == "nodes" {
				f.group(i, n)
			} else {
				f.link(i, n)
			}
		}
		f.positions[map[string]string{"nodes": "groups", "links": "links"}[e.Key]] = e.Node
	}
	if f.positions["groups"] == nil {
		f.At(body, "has no nodes")
		return nil, f.Err()
	}
	for _, p := range f.s.Check() {
		f.locate(p)
	}
	return &f.s, f.Err()
}

// locate reports a problem at the line of its path, or of the nearest enclosing one.
func (f *testnetFile) locate(p testnet.Problem) {
	for path := p.Where; ; path = path[:max(0, strings.LastIndexByte(path, '.'))] {
		if n := f.positions[path]; n != nil {
			if !f.unreadable[n] {
				f.At(n, "%s", p.What)
			}
			return
		}
		if path == "" {
			f.Note(nil, "%s: %s", f.Name, p.What)
			return
		}
	}
}

func (f *testnetFile) group(i int, n ast.Node) {
	g := testnet.Group{Name: "n", Count: 1}
	at := fmt.Sprint("groups.", i)
	f.positions[at] = n
	for _, e := range f.Mapping(n, "nodes", "name", "count", "cpus", "memory", "labels") {
		f.positions[at+"."+e.Key] = e.Value
		switch e.Key {
		case "name":
			f.value(e, func(t string) error { g.Name = t; return nil })
		case "count":
			f.value(e, func(t string) (err error) {
				if g.Count, err = strconv.Atoi(t); err != nil {
					err = fmt.Errorf("%.40q: want 1 to %d", t, testnet.MaxNodes)
				}
				return err
			})
		case "cpus":
			f.value(e, func(t string) (err error) { g.CPUs, err = document.ParseCores(t); return err })
		case "memory":
			f.value(e, func(t string) (err error) { g.Memory, err = document.ParseSize(t); return err })
		case "labels":
			g.Labels = map[string]string{}
			for _, l := range f.Mapping(e.Value, "labels") {
				g.Labels[l.Key], _ = f.Text(l.Value, "label "+l.Key)
			}
		}
	}
	f.s.Groups = append(f.s.Groups, g)
}

func (f *testnetFile) link(i int, n ast.Node) {
	var l testnet.Link
	at := fmt.Sprint("links.", i)
	f.positions[at] = n
	for _, e := range f.Mapping(n, "links", "of", "latency", "loss", "rate") {
		f.positions[at+"."+e.Key] = e.Value
		switch e.Key {
		case "of":
			f.value(e, func(t string) error { l.Of = t; return nil })
		case "latency":
			f.value(e, func(t string) (err error) { l.Latency, err = parseLatency(t); return err })
		case "loss":
			f.value(e, func(t string) (err error) { l.Loss, err = parseLoss(t); return err })
		case "rate":
			f.value(e, func(t string) (err error) { l.Rate, err = document.ParseSize(t); return err })
		}
	}
	f.s.Links = append(f.s.Links, l)
}

// value parses a scalar and reports its problem.
func (f *testnetFile) value(e document.Entry, read func(text string) error) {
	t, ok := f.Text(e.Value, e.Key)
	if !ok {
		f.unreadable[e.Value] = true
		return
	}
	if err := read(t); err != nil {
		f.unreadable[e.Value] = true
		f.At(e.Value, "%s: %v", e.Key, err)
	}
}

func parseLatency(t string) (time.Duration, error) {
	d, err := time.ParseDuration(t)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%.40q: want a length of time, as in 40ms", t)
	}
	return d, nil
}

func parseLoss(t string) (float64, error) {
	x, err := strconv.ParseFloat(t, 64)
	if err != nil || !(x >= 0 && x < 1) {
		return 0, fmt.Errorf("%.40q: want a part of 0 or more and less than 1, as in 0.01", t)
	}
	return x, nil
}
