package grid

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Option is a way in which the tasks of a job can run. A task runs as one of the options of its job, which its owner
// chooses for each attempt.
type Option struct {
	Resources             // all that a task needs that runs so
	Labels    []LabelNeed // beside those of the job; ordered by key
	Speedup   float64     // how many times as fast as the class says a task runs so
	Value     float64     // how much a completion is worth that runs so, relative to that of other options
}

// Bounds of options.
const (
	MaxOptions = 8

	MaxOptionLabels = 4    // of each
	MaxOptionCounts = 96   // bytes of the Counts of each
	MaxSpeedup      = 1000 // and its inverse is the least
	MaxWorth        = 1e6  // and its inverse is the least
)

// OptionVariable is the variable of a task's environment that says as which option of its job it runs, from 0.
const OptionVariable = "SKEP_OPTION"

// Optional are the options of a job. The needs of the job are what all of them need: their resources are the least of
// each, and no node that lacks these can run a task as any of them.
type Optional struct {
	Options []Option
	// Chosen is the one that the needs are of, from 1, in the spec of an attempt; 0 = none of them, or there are none
	Chosen uint8
}

// Option returns a job's option by its number from 1; nil = there is no such option.
func (n *Needs) Option(number uint8) *Option {
	if number < 1 || int(number) > len(n.Options) {
		return nil
	}
	return &n.Options[number-1]
}

// Unchosen reports whether there are options, of which none is chosen.
func (n *Needs) Unchosen() bool { return len(n.Options) > 0 && n.Chosen == 0 }

// Needs are what a task needs that runs as the option, beside what all options need but resources.
func (o *Option) Needs() *Needs { return &Needs{Resources: o.Resources, Labels: o.Labels} }

// ValidOption reports whether an attempt of the job can run as an option: one of them if there are any, else none.
func (s *JobSpec) ValidOption(number uint8) bool {
	if len(s.Needs.Options) == 0 {
		return number == 0
	}
	return s.Needs.Option(number) != nil
}

// AsOption returns the specification of an attempt that runs as an option of the job, by its number from 1: what it
// needs is what the option needs. Without an option of that number it is the job's own.
func (s *JobSpec) AsOption(number uint8) *JobSpec {
	o := s.Needs.Option(number)
	if o == nil || s.Needs.Chosen == number {
		return s
	}
	c := *s
	c.Needs.Resources, c.Needs.Chosen = o.Resources, number
	if len(o.Labels) > 0 {
		c.Needs.Labels = slices.Concat(s.Needs.Labels, o.Labels)
		slices.SortStableFunc(c.Needs.Labels, func(a, b LabelNeed) int { return strings.Compare(a.Key, b.Key) })
	}
	return &c
}

// Speedup is how many times as fast as the class says tasks run with this specification of an attempt.
func (s *JobSpec) Speedup() float64 { return s.Needs.SpeedupOf(s.Needs.Chosen) }

// SpeedupOf is how many times as fast as the class says tasks run as an option, by its number from 1; 1 without one.
func (n *Needs) SpeedupOf(number uint8) float64 {
	if o := n.Option(number); o != nil {
		return o.Speedup
	}
	return 1
}

// SpeedupKnown is SpeedupOf of an attempt of which it may not be known what option it runs as: the least then.
func (n *Needs) SpeedupKnown(number uint8) float64 {
	if len(n.Options) == 0 || n.Option(number) != nil {
		return n.SpeedupOf(number)
	}
	return slices.MinFunc(n.Options, bySpeedup).Speedup
}

func bySpeedup(a, b Option) int { return cmp.Compare(a.Speedup, b.Speedup) }

// Fastest is the greatest speedup of the options; 1 without any.
func (n *Needs) Fastest() float64 {
	if len(n.Options) == 0 {
		return 1
	}
	return slices.MaxFunc(n.Options, bySpeedup).Speedup
}

// ValueOf is how much a completion as an option is worth, by its number from 1; 1 without one.
func (n *Needs) ValueOf(number uint8) float64 {
	if o := n.Option(number); o != nil {
		return o.Value
	}
	return 1
}

// Values reports whether completions are not all worth the same.
func (n *Needs) Values() bool {
	return slices.ContainsFunc(n.Options, func(o Option) bool { return o.Value != n.Options[0].Value })
}

// SetOptions gives a job options, makes its needs what all of them need, and has it need nodes that know options. It
// comes after all other needs.
func (n *Needs) SetOptions(options []Option) {
	if n.Options = options; len(options) == 0 {
		return
	}
	n.Resources = options[0].Resources
	for i := range options[1:] {
		n.Resources = n.Resources.Least(options[i+1].Resources)
	}
	n.AddFeature(OptionLabel)
	for i := range options {
		if options[i].Counts != "" {
			n.AddFeature(ResourceLabel)
		}
	}
	slices.SortFunc(n.Labels, func(a, b LabelNeed) int { return strings.Compare(a.Key, b.Key) })
}

// Least returns what fits in both r and s.
func (r Resources) Least(s Resources) Resources {
	least := Resources{CPU: min(r.CPU, s.CPU), Memory: min(r.Memory, s.Memory)}
	for kind, units := range r.Counts.All() {
		if u := min(units, s.Counts.Of(kind)); u > 0 {
			least.Counts += Counts("," + kind + "=" + strconv.FormatInt(u, 10))
		}
	}
	least.Counts = Counts(strings.TrimPrefix(string(least.Counts), ","))
	return least
}

func (n *Needs) checkOptions(p *problems) {
	if len(n.Options) > MaxOptions {
		p.addf("options: %d: want at most %d", len(n.Options), MaxOptions)
		return
	}
	if len(n.Options) == 0 {
		return
	}
	if !n.HasFeature(OptionLabel) {
		p.addf("options: want needs.labels.%s %s with them: older nodes would run the tasks without", OptionLabel,
			FeatureValue)
	}
	least := n.Options[0].Resources
	for i := range n.Options {
		o := &n.Options[i]
		at := "options[" + strconv.Itoa(i) + "]."
		own := Needs{Resources: o.Resources, Pin: n.Pin, Labels: slices.Concat(o.Labels, []LabelNeed{
			FeatureNeed(ResourceLabel), FeatureNeed(PinLabel)})}
		var of problems
		own.check(&of)
		for _, err := range of {
			p.addf("%s%w", at, err)
		}
		if len(o.Labels) > MaxOptionLabels {
			p.addf("%sneeds.labels: %d: want at most %d", at, len(o.Labels), MaxOptionLabels)
		}
		if len(o.Counts) > MaxOptionCounts {
			p.addf("%sneeds.resources: %d bytes: want at most %d", at, len(o.Counts), MaxOptionCounts)
		}
		if !inRange(o.Speedup, MaxSpeedup) {
			p.addf("%sspeedup %g: want %g to %d", at, o.Speedup, 1.0/MaxSpeedup, MaxSpeedup)
		}
		if !inRange(o.Value, MaxWorth) {
			p.addf("%svalue %g: want %g to %g", at, o.Value, 1/MaxWorth, float64(MaxWorth))
		}
		if o.Counts != "" && !n.HasFeature(ResourceLabel) {
			p.addf("%sneeds.resources %s: want needs.labels.%s %s with it: older nodes would run the tasks without", at,
				o.Counts, ResourceLabel, FeatureValue)
		}
		for _, l := range o.Labels {
			if slices.ContainsFunc(n.Labels, func(x LabelNeed) bool { return x.Key == l.Key }) {
				p.addf("%sneeds.labels.%s: the job's needs say it too: want one of them", at, l.Key)
			}
		}
		least = least.Least(o.Resources)
	}
	if n.Chosen == 0 && n.Resources != least {
		p.addf("needs %v: want what all options need, %v", n.Resources, least)
	}
}

// inRange reports whether x is from 1/most to most.
func inRange(x, most float64) bool { return !math.IsNaN(x) && x >= 1/most && x <= most }
