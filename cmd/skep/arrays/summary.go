package arrays

import (
	"fmt"
	"strings"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// Summary is what a submission made.
type Summary struct {
	ID      string            `json:"id"`
	Name    string            `json:"name,omitempty"`
	Command []string          `json:"command"`
	Count   int               `json:"count"`
	Array   string            `json:"array,omitempty"`
	First   map[string]string `json:"first,omitempty"`
	Last    map[string]string `json:"last,omitempty"`
	Note    string            `json:"note,omitempty"`

	first, last []grid.Var
}

// Summarize says what a submitted job is; values is nil if it has no array.
func Summarize(j *v1.Job, values *Values) *Summary {
	s := &Summary{ID: j.ID, Name: j.Name, Command: j.Command, Count: j.Count, Note: j.Note}
	if values != nil {
		s.Array = values.spec.Array.String()
		s.first, s.last = values.Of(0), values.Of(uint32(max(j.Count, 1)-1))
		s.First, s.Last = asMap(s.first), asMap(s.last)
	}
	return s
}

func asMap(vars []grid.Var) map[string]string {
	m := make(map[string]string, len(vars))
	for _, v := range vars {
		m[v.Name] = v.Value
	}
	return m
}

// Text is the summary for people, in a line.
func (s *Summary) Text() string {
	tasks := "1 task"
	if s.Count != 1 {
		tasks = fmt.Sprintf("%d tasks", s.Count)
	}
	text := tasks + " of " + strings.Join(s.Command, " ")
	if runes := []rune(text); len(runes) > 120 {
		text = string(runes[:119]) + "…"
	}
	if s.Array != "" {
		text += ": " + s.Array + ", from " + Text(s.first) + " to " + Text(s.last)
	}
	return grid.Clean(text, len(text))
}

// Text returns values for people, in a few words.
func Text(vars []grid.Var) string {
	var words []string
	for _, v := range vars {
		words = append(words, v.Name+"="+v.Value)
	}
	joined := strings.Join(words, " ")
	text := []rune(grid.Clean(joined, len(joined)))
	if len(text) > 60 {
		return string(text[:59]) + "…"
	}
	return string(text)
}

// Of returns the values of a task that a node told, in the order of the job's array.
func Of(t *v1.Task, a *v1.Array) (vars []grid.Var) {
	for _, name := range a.Names() {
		if value, known := t.Values[name]; known {
			vars = append(vars, grid.Var{Name: name, Value: value})
		}
	}
	return vars
}
