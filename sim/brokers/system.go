package brokers

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/goccy/go-yaml"

	"skep/balance"
)

// System is a grid of clusters. Times are in seconds.
type System struct {
	Name string `yaml:"name"`

	// Clusters lists the resources of each: the classes that they are kept for.
	Clusters [][]string `yaml:"clusters"`
	Classes  []Class    `yaml:"classes"`
	Delays   Delays     `yaml:"delays"`

	// Mistaken is the part of the jobs of each class but the first that are declared as one of the class before it.
	Mistaken float64 `yaml:"mistaken"`
}

// Class is a kind of jobs. Part of all jobs are of it; how long one takes is uniform in Demand.
type Class struct {
	Name   string     `yaml:"name"`
	Part   float64    `yaml:"part"`
	Demand [2]float64 `yaml:"demand"`

	// Bound is how long a job of this class may run. One that takes longer is stopped and goes back to its broker,
	// which places it anew as one of the next class; what it did is lost. 0 = for ever.
	Bound float64 `yaml:"bound"`
}

// Delays are one-way times of messages, and the time that an information service takes to answer.
type Delays struct {
	Discovery float64 `yaml:"discovery"`
	Inside    float64 `yaml:"inside"`  // a cluster
	Between   float64 `yaml:"between"` // clusters
}

// Mean is the mean demand of a class.
func (c *Class) Mean() float64 { return (c.Demand[0] + c.Demand[1]) / 2 }

// Mean is the mean demand of a job, Σ p_k·S_k.
func (s *System) Mean() (x float64) {
	for k := range s.Classes {
		x += s.Classes[k].Part * s.Classes[k].Mean()
	}
	return x
}

// Allotment says how many of the grid's resources are kept for each class by the rule of balance.Allot, in words.
func (s *System) Allotment() string {
	n := 0
	for _, c := range s.Clusters {
		n += len(c)
	}
	var demand []balance.Demand
	for k := range s.Classes {
		demand = append(demand, balance.Demand{Class: s.Classes[k].Name, Rate: s.Classes[k].Part,
			Service: s.Classes[k].Mean()})
	}
	var parts []string
	for _, a := range balance.Allot(n, demand) {
		parts = append(parts, fmt.Sprint(a.Nodes, " ", strings.Join(a.Classes, " and ")))
	}
	return strings.Join(parts, ", ")
}

// Bounds of a system.
const (
	MaxResources = 4096
	MaxClasses   = 64
)

// Read reads a system.
func Read(name string, b []byte) (*System, error) {
	s := new(System)
	if err := yaml.UnmarshalWithOptions(b, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// Check reports everything that is wrong with a system.
func (s *System) Check() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if n := len(s.Classes); n == 0 || n > MaxClasses {
		add("classes: %d of them: want from 1 to %d", n, MaxClasses)
	}
	known, sum := map[string]bool{}, 0.0
	for k, c := range s.Classes {
		if c.Name == "" || known[c.Name] {
			add("classes[%d].name: %q: want a name that no other class has", k, c.Name)
		}
		known[c.Name] = true
		if !(c.Part > 0 && c.Part <= 1) {
			add("classes[%d].part: %g: want a part above 0 and at most 1", k, c.Part)
		}
		sum += c.Part
		if !(c.Demand[0] > 0 && c.Demand[0] <= c.Demand[1] && c.Demand[1] <= 1e9) {
			add("classes[%d].demand: [%g, %g]: want seconds, above 0, the lesser first", k, c.Demand[0], c.Demand[1])
		}
		if !(c.Bound >= 0) || c.Bound > 0 && k == len(s.Classes)-1 {
			add("classes[%d].bound: %g: want 0 or more seconds, and 0 for the last class", k, c.Bound)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		add("classes: parts sum to %g: want 1", sum)
	}
	n := 0
	for i, c := range s.Clusters {
		if len(c) == 0 {
			add("clusters[%d]: has no resource: want one or more", i)
		}
		for j, class := range c {
			if !known[class] {
				add("clusters[%d][%d]: class %q: is none of the classes", i, j, class)
			}
			n++
		}
	}
	if n == 0 || n > MaxResources {
		add("clusters: %d resources: want from 1 to %d", n, MaxResources)
	}
	for _, d := range []struct {
		name string
		x    float64
	}{{"discovery", s.Delays.Discovery}, {"inside", s.Delays.Inside}, {"between", s.Delays.Between}} {
		if !(d.x >= 0 && d.x <= 1e6) {
			add("delays.%s: %g: want from 0 to 1e6 seconds", d.name, d.x)
		}
	}
	if !(s.Mistaken >= 0 && s.Mistaken <= 1) {
		add("mistaken: %g: want a part from 0 to 1", s.Mistaken)
	}
	return errors.Join(errs...)
}
