package order

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"skep/document"
	"skep/grid"
)

// MaxJobs bounds the jobs of a file.
const MaxJobs = 256

// Sort returns the jobs of a file in an order in which each comes after those that it waits for, as far as they are in
// the file; of, by position, what each waits for. A circle is an error that names it.
func Sort(names []string, of []Refs) (order []int, err error) {
	const (
		fresh = iota
		entered
		done
	)
	state := make([]int, len(names))
	var path []string
	var visit func(i int) error
	visit = func(i int) error {
		switch state[i] {
		case done:
			return nil
		case entered:
			path = append(path[slices.Index(path, names[i]):], names[i])
			return fmt.Errorf("jobs %s: wait for each other: want no circle", strings.Join(path, " after "))
		}
		state[i] = entered
		path = append(path, names[i])
		for _, other := range of[i].Names() {
			if k := slices.Index(names, other); k >= 0 {
				if err := visit(k); err != nil {
					return err
				}
			}
		}
		path = path[:len(path)-1]
		state[i] = done
		order = append(order, i)
		return nil
	}
	for i := range names {
		if err := visit(i); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// Jobs returns the jobs of a file that has several, under the key jobs, by name; nil = it has one.
func Jobs(f *document.Reader, body ast.Node) []document.Entry {
	first := body
	if m, ok := body.(*ast.MappingNode); ok && len(m.Values) > 0 {
		first = m.Values[0]
		for _, v := range m.Values {
			if key, _ := document.Scalar(v.Key); key == "jobs" {
				first = v
			}
		}
	}
	v, ok := first.(*ast.MappingValueNode)
	if !ok {
		return nil
	}
	if key, _ := document.Scalar(v.Key); key != "jobs" {
		return nil
	}
	for _, e := range f.Mapping(body, "job file", "jobs") {
		body = e.Value
	}
	jobs := f.Mapping(body, "jobs")
	if len(jobs) < 1 || len(jobs) > MaxJobs {
		f.At(body, "jobs: %d: want 1 to %d", len(jobs), MaxJobs)
	}
	for _, e := range jobs {
		if e.Key == "last" || len(e.Key) > grid.MaxName || !grid.Printable(e.Key) || strings.ContainsAny(e.Key, ":/,") {
			f.At(e.Node, "jobs %q: want a name of at most %d characters without ':', '/' and ',', and not last", e.Key,
				grid.MaxName)
		}
	}
	if jobs == nil {
		return []document.Entry{}
	}
	return jobs
}
