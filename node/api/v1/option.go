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

// OptionEstimate is what was expected of a task at a node as an option of its job.
type OptionEstimate struct {
	Option  int      `json:"option"`
	Ready   float64  `json:"ready_seconds" doc:"Until the task would start."`
	ECT     float64  `json:"ect_seconds"`
	Utility *float64 `json:"utility,omitempty" doc:"What the policy utility found it worth, as the first of its job."`
	Price   *float64 `json:"price,omitempty" doc:"Of what it takes, by the prices for which the node has refused a task within the last second, in credits."`
	Worth   *float64 `json:"worth,omitempty" doc:"Of its completion, in credits; with a price."`
}

// Prices are why a node has refused a task with options: others that it was offered were worth more. Credits are a bid
// times seconds.
type Prices struct {
	CPU       float64            `json:"cpu" doc:"Credits for a core."`
	Memory    float64            `json:"memory,omitempty" doc:"Credits for a GiB."`
	Resources map[string]float64 `json:"resources,omitempty" doc:"Credits for a unit of a counted resource."`
	Worth     float64            `json:"worth" doc:"Of the task as it was offered, as the node sees it, in its credits."`
	Left      Needs              `json:"left" doc:"What the node had free beside what it has taken."`
	Offers    int                `json:"offers" doc:"That it chose among."`
	Options   []OptionPrice      `json:"options,omitempty" doc:"What the options of the job cost there by these prices, as the job's node counts credits."`
}

// OptionPrice is what an option costs at a node, and what it is worth, in credits.
type OptionPrice struct {
	Option int     `json:"option"`
	Price  float64 `json:"price"`
	Worth  float64 `json:"worth"`
}

// OptionEstimates describes what was expected of each option.
func OptionEstimates(all []grid.WeighedOption) (out []OptionEstimate) {
	for i := range all {
		o := &all[i]
		x := OptionEstimate{Option: *OptionIndex(o.Number), Ready: o.Ready.Seconds(), ECT: o.ECT.Seconds()}
		if o.Judged {
			x.Utility = &o.Utility
		}
		if o.Worth > 0 {
			x.Price, x.Worth = &o.Price, &o.Worth
		}
		out = append(out, x)
	}
	return out
}

// PricesOf describes prices, and what the options of a job cost by them.
func PricesOf(p *grid.Prices, options []grid.WeighedOption) *Prices {
	x := &Prices{CPU: p.CPU, Memory: p.Memory, Worth: p.Worth, Offers: p.Offers,
		Left: Needs{Cores: p.Left.CPU.Cores(), Memory: int64(p.Left.Memory)}}
	x.Left.setCounts(&grid.Needs{Resources: p.Left})
	for _, u := range p.Counted {
		if x.Resources == nil {
			x.Resources = map[string]float64{}
		}
		x.Resources[u.Kind] = u.Price
	}
	for i := range options {
		o := &options[i]
		x.Options = append(x.Options, OptionPrice{*OptionIndex(o.Number), o.Price, o.Worth})
	}
	return x
}
