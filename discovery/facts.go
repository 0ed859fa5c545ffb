package discovery

import (
	"fmt"

	"skep/grid"
	"skep/requirement"
)

// nodeFacts are what expressions may ask of a node, by its ad.
type nodeFacts grid.Ad

// Attribute returns a value.
func (f *nodeFacts) Attribute(a requirement.Attribute, key string) requirement.Value {
	ad := (*grid.Ad)(f)
	switch a {
	case requirement.NodeName:
		return requirement.TextOf(ad.Name)
	case requirement.NodeID:
		return requirement.TextOf(ad.Node.String())
	case requirement.NodeCPU:
		return requirement.NumberOf(ad.Capacity.CPU.Cores())
	case requirement.NodeMemory:
		return gibibytes(ad.Capacity.Memory)
	case requirement.NodeSpeed:
		return requirement.NumberOf(ad.Speed)
	case requirement.NodeAvailability:
		return requirement.NumberOf(ad.Availability)
	case requirement.NodeEngines:
		return requirement.ListOf(ad.Engines)
	case requirement.NodeLabel:
		if v, ok := ad.Label(key); ok {
			return requirement.TextOf(v)
		}
	case requirement.NodeResource:
		return requirement.NumberOf(float64(ad.Capacity.Counts.Of(key)))
	case requirement.NodeFreeCPU:
		return requirement.NumberOf(ad.Free.CPU.Cores())
	case requirement.NodeFreeMemory:
		return gibibytes(ad.Free.Memory)
	case requirement.NodeBacklog:
		return requirement.NumberOf(ad.Backlog.Seconds())
	case requirement.NodePrice:
		return requirement.NumberOf(ad.Price.Number())
	}
	return requirement.Value{}
}

func gibibytes(b grid.Bytes) requirement.Value {
	return requirement.NumberOf(float64(b) / float64(grid.GiB))
}

// jobFacts are what expressions may ask of a job.
type jobFacts grid.JobSpec

// Attribute returns a value.
func (f *jobFacts) Attribute(a requirement.Attribute, key string) requirement.Value {
	s := (*grid.JobSpec)(f)
	switch a {
	case requirement.JobSubmitter:
		if s.Submitter.User != "" {
			return requirement.TextOf(s.Submitter.User)
		}
	case requirement.JobNode:
		if !s.Submitter.Node.IsZero() {
			return requirement.TextOf(s.Submitter.Node.String())
		}
	case requirement.JobName:
		return requirement.TextOf(s.Name)
	case requirement.JobClass:
		return requirement.TextOf(s.Class)
	case requirement.JobCPU:
		return requirement.NumberOf(s.Needs.CPU.Cores())
	case requirement.JobMemory:
		return gibibytes(s.Needs.Memory)
	case requirement.JobCount:
		return requirement.NumberOf(float64(s.Count))
	case requirement.JobPriority:
		return requirement.NumberOf(s.Bid().Number())
	case requirement.JobRanks:
		return requirement.NumberOf(float64(s.Gang.Ranks))
	case requirement.JobRetries:
		return requirement.NumberOf(float64(s.Retries))
	case requirement.JobTimeout:
		if s.Timeout > 0 {
			return requirement.NumberOf(s.Timeout.Seconds())
		}
	case requirement.JobResource:
		return requirement.NumberOf(float64(s.Needs.Counts.Of(key)))
	}
	return requirement.Value{}
}

// accepts is whether a node accepts a job at an hour.
func accepts(spec *grid.JobSpec, ad *grid.Ad, hour requirement.Hour) requirement.Truth {
	return ad.Accept.Holds(requirement.Match{Node: (*nodeFacts)(ad), Job: (*jobFacts)(spec), Hour: hour})
}

// Accepts returns why a node takes no tasks of a job now, by what its ad says that it requires of jobs: WhyAccept
// if it never does, WhyHour if it might at another hour. What is not known of the job speaks against it.
//
// Of a job with options it must accept one that it fits.
func Accepts(spec *grid.JobSpec, ad *grid.Ad) (why grid.Why) {
	n := &spec.Needs
	if ad.Accept == nil || !n.Unchosen() {
		return acceptsAs(spec, ad)
	}
	for k := range n.Options {
		if FitOption(&n.Options[k], ad) != grid.WhyNone {
			continue
		}
		switch w := acceptsAs(spec.AsOption(uint8(k+1)), ad); {
		case w == grid.WhyNone:
			return w
		case why != grid.WhyHour:
			why = w
		}
	}
	return why
}

// acceptsAs is Accepts of a job without options, or as the one that is chosen.
func acceptsAs(spec *grid.JobSpec, ad *grid.Ad) grid.Why {
	switch {
	case ad.Accept == nil || accepts(spec, ad, ad.Hour) == requirement.True:
		return grid.WhyNone
	case !ad.Accept.AsksTime() || accepts(spec, ad, requirement.Hour{}) == requirement.False:
		return grid.WhyAccept
	}
	return grid.WhyHour
}

// Suits is Fit for a job: also whether the node accepts it, and may get its secrets.
func Suits(spec *grid.JobSpec, ad *grid.Ad) grid.Why {
	if why := Fit(&spec.Needs, spec.Engine, ad); why != grid.WhyNone {
		return why
	}
	if !spec.Trusts(ad.Node) {
		return grid.WhyUntrusted
	}
	return Accepts(spec, ad)
}

// SuitsOption returns why a node that has what all options of a job need takes no tasks of it now that run as one of
// them, by its number from 1; WhyNone if it does.
func SuitsOption(spec *grid.JobSpec, number uint8, ad *grid.Ad) grid.Why {
	if why := FitOption(spec.Needs.Option(number), ad); why != grid.WhyNone || ad.Accept == nil {
		return why
	}
	return acceptsAs(spec.AsOption(number), ad)
}

// Explain is Suits with details.
func Explain(spec *grid.JobSpec, ad *grid.Ad) grid.Refusal {
	if r := Match(&spec.Needs, spec.Engine, ad); r.Why != grid.WhyNone {
		return r
	}
	if !spec.Trusts(ad.Node) {
		return grid.Refusal{Why: grid.WhyUntrusted, Detail: "it is not among the workers that its owner has named"}
	}
	r := grid.Refusal{Why: Accepts(spec, ad)}
	if r.Why != grid.WhyNone {
		r.Detail = fmt.Sprintf("accept %s: ", ad.Accept)
		if !spec.Needs.Unchosen() {
			r.Detail += acceptDetail(spec, ad)
			return r
		}
		before := ""
		for k := range spec.Needs.Options {
			if FitOption(&spec.Needs.Options[k], ad) == grid.WhyNone {
				r.Detail += fmt.Sprintf("%soption %d %s", before, k, acceptDetail(spec.AsOption(uint8(k+1)), ad))
				before = "; "
			}
		}
		r.Detail = grid.Clean(r.Detail, grid.MaxText)
	}
	return r
}

func acceptDetail(spec *grid.JobSpec, ad *grid.Ad) string {
	return ad.Accept.Explain(requirement.Match{Node: (*nodeFacts)(ad), Job: (*jobFacts)(spec), Hour: ad.Hour})
}

// Rank is how much a job wants a node; false = it is not known, or the job has no rank.
func Rank(spec *grid.JobSpec, ad *grid.Ad) (float64, bool) {
	if spec.Rules.Rank == nil {
		return 0, false
	}
	return spec.Rules.Rank.Of(requirement.Match{Node: (*nodeFacts)(ad)})
}
