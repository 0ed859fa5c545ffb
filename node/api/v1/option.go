package v1

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"skep/grid"
)

// Option is a way in which tasks can run.
type Option struct {
	Needs   Needs   `json:"needs,omitempty" doc:"What a task needs that runs so; what is left out is as in the needs of the job. Labels are needed beside those of the job; where and pin stand there only."`
	Speedup float64 `json:"speedup,omitempty" doc:"How many times as fast as usual for its class a task runs so; 1 if left out."`
	Value   float64 `json:"value,omitempty" doc:"What it is worth that a task runs so, relative to the other options: it may take so many times as long; 1 if left out."`
}

// options sets the options of a job. It comes after all its other needs.
func (s *Spec) options(g *grid.JobSpec) error {
	var all []grid.Option
	var problems []error
	for i := range s.Options {
		o := &s.Options[i]
		x := grid.Option{Resources: g.Needs.Resources, Speedup: o.Speedup, Value: o.Value}
		if o.Needs.Cores != 0 {
			x.CPU = Cores(o.Needs.Cores)
		}
		x.Memory = cmp.Or(grid.Bytes(o.Needs.Memory), x.Memory)
		x.Speedup, x.Value = cmp.Or(x.Speedup, 1), cmp.Or(x.Value, 1)
		if o.Needs.Resources != nil {
			var of grid.Needs
			if err := o.Needs.counts(&of); err != nil {
				problems = append(problems, fmt.Errorf("options[%d].%w", i, err))
			}
			x.Counts = of.Counts
		}
		if o.Needs.Pin || o.Needs.Where != "" {
			problems = append(problems, fmt.Errorf("options[%d].needs: pin and where are the same for all options: want them "+
				"in the needs of the job", i))
		}
		for k, v := range o.Needs.Labels {
			x.Labels = append(x.Labels, grid.LabelNeed{Key: k, Values: v})
		}
		slices.SortFunc(x.Labels, func(a, b grid.LabelNeed) int { return strings.Compare(a.Key, b.Key) })
		all = append(all, x)
	}
	g.Needs.SetOptions(all)
	return errors.Join(problems...)
}

// optionsOf is the inverse of options.
func optionsOf(n *grid.Needs) (all []Option) {
	for i := range n.Options {
		o := &n.Options[i]
		x := Option{Needs: Needs{Cores: o.CPU.Cores(), Memory: int64(o.Memory)}, Speedup: o.Speedup, Value: o.Value}
		x.Needs.setCounts(&grid.Needs{Resources: o.Resources})
		for _, l := range o.Labels {
			if x.Needs.Labels == nil {
				x.Needs.Labels = map[string][]string{}
			}
			x.Needs.Labels[l.Key] = l.Values
		}
		all = append(all, x)
	}
	return all
}

// OptionIndex is the index of an option, from 0, by its number; nil = there is none.
func OptionIndex(number uint8) *int {
	if number == 0 {
		return nil
	}
	index := int(number) - 1
	return &index
}
