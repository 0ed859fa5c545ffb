package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skep/grid"
)

// Property is one of those that a level is made of.
type Property uint8

// Properties, in the order of grid.IsolationBasic's comment; the last is what grid.IsolationStrict has beyond it.
const (
	Processes Property = iota
	Files
	Leftovers
	Users
	Bounds
	Kernel
)

var propertyNames = [...]string{
	"reach processes outside its box", "reach files or sockets outside its box", "leave something behind",
	"become another user", "exceed its bounds", "",
}

// String says what a task can do where the property does not hold; Kernel is not about what it can do.
func (p Property) String() string { return propertyNames[p] }

// Finding is why a level does not hold.
type Finding struct {
	Property Property
	What     string // what was tried, or is not to be had
	Remedy   string // what the operator can do; may be empty
}

// String is one line.
func (f Finding) String() string {
	s := fmt.Sprintf("a task could %s: %s", f.Property, f.What)
	if f.Property == Kernel {
		s = fmt.Sprintf("not %v: %s", grid.IsolationStrict, f.What)
	}
	if f.Remedy != "" {
		s += "; " + f.Remedy
	}
	return s
}

// levelOf is what holds beside the findings.
func levelOf(findings []Finding) grid.Isolation {
	switch {
	case slices.ContainsFunc(findings, func(f Finding) bool { return f.Property < Kernel }):
		return grid.IsolationNone
	case len(findings) > 0:
		return grid.IsolationBasic
	}
	return grid.IsolationStrict
}

// Explain says all findings in one line.
func Explain(findings []Finding) string {
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, ". ")
}

// Try reports the level of the boxes that can be made here by this user, and what is missing for a higher one: what a
// node finds that has its data in the folder dir, or in a default one for temporary files if dir is empty.
func Try(dir string) (level grid.Isolation, findings []Finding, err error) {
	dir, err = os.MkdirTemp(dir, "skep-try-")
	if err != nil {
		return grid.IsolationNone, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := Open(Options{Level: grid.IsolationBasic, Work: filepath.Join(dir, "work"), Dir: filepath.Join(dir, "box"),
		Hidden: []string{dir}})
	if err != nil {
		return grid.IsolationNone, nil, err
	}
	defer s.Close()
	return s.Level(), s.Findings(), nil
}
