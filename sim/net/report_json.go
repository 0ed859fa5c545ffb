package net

import "encoding/json"

// MarshalJSON leaves out the times of tasks of an unstable run: they depend on the run's length.
func (r *Report) MarshalJSON() ([]byte, error) {
	type plain Report
	if r.Stable {
		return json.Marshal((*plain)(r))
	}
	type class struct {
		Class string   `json:"class"`
		Tasks int      `json:"tasks"`
		Moved Estimate `json:"moved"`
	}
	out := struct {
		*plain
		Completion *Estimate `json:"completion,omitempty"`
		Worth      *Worth    `json:"worth,omitempty"`
		Classes    []class   `json:"classes"`
	}{plain: (*plain)(r)}
	for _, c := range r.Classes {
		out.Classes = append(out.Classes, class{c.Class, c.Tasks, c.Moved})
	}
	return json.Marshal(out)
}
