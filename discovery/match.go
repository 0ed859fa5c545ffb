package discovery

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
	"skep/requirement"
)

// Fit returns why a node could never run a task with these needs on this engine, by its ad [2]; WhyNone if it could.
// It allocates nothing.
func Fit(n *grid.Needs, engine string, ad *grid.Ad) grid.Why {
	if !slices.Contains(ad.Engines, engine) {
		return grid.WhyEngine
	}
	switch why := fit(&n.Resources, n.Labels, ad); {
	case why != grid.WhyNone:
		return why
	case n.Where != nil && n.Where.Holds(requirement.Match{Node: (*nodeFacts)(ad)}) != requirement.True:
		return grid.WhyUnmet
	case n.Unchosen():
		return fitAny(n, ad)
	}
	return grid.WhyNone
}

// fitAny returns why a node that has what all options need could run a task as none of them: what the first one lacks.
func fitAny(n *grid.Needs, ad *grid.Ad) (why grid.Why) {
	for i := range n.Options {
		w := FitOption(&n.Options[i], ad)
		if w == grid.WhyNone {
			return w
		}
		if why == grid.WhyNone {
			why = w
		}
	}
	return why
}

// FitOption returns why a node that has what all options of a job need could never run a task as this one; WhyNone if
// it could.
func FitOption(o *grid.Option, ad *grid.Ad) grid.Why { return fit(&o.Resources, o.Labels, ad) }

// fit returns why a node does not have resources and labels; WhyNone if it does.
func fit(r *grid.Resources, labels []grid.LabelNeed, ad *grid.Ad) grid.Why {
	switch {
	case r.CPU > ad.Capacity.CPU:
		return grid.WhyCPU
	case r.Memory > ad.Capacity.Memory:
		return grid.WhyMemory
	case r.Counts != "" && !ad.Capacity.Counts.Fits(r.Counts):
		return grid.WhyResource
	case lacks(labels, ad) != nil:
		return grid.WhyLabel
	}
	return grid.WhyNone
}

// Match is Fit with details: what is needed and what the node has.
func Match(n *grid.Needs, engine string, ad *grid.Ad) grid.Refusal {
	r := grid.Refusal{Why: Fit(n, engine, ad)}
	if r.Why == grid.WhyEngine {
		r.Detail = fmt.Sprintf("needs engine %s, it has %s", engine, orNone(ad.Engines))
		return r
	}
	if r.Why == grid.WhyNone || !n.Unchosen() {
		r.Detail = detail(r.Why, n, ad)
		return r
	}
	all := grid.Needs{Resources: n.Resources, Labels: n.Labels, Where: n.Where}
	if Fit(&all, engine, ad) != grid.WhyNone {
		r.Detail = detail(r.Why, &all, ad)
		return r
	}
	for i := range n.Options {
		if i > 0 {
			r.Detail += "; "
		}
		o := &n.Options[i]
		r.Detail += fmt.Sprintf("option %d %s", i, detail(FitOption(o, ad), o.Needs(), ad))
	}
	r.Detail = grid.Clean(r.Detail, grid.MaxText)
	return r
}

// detail says what is needed and what the node has; "" of nothing.
func detail(why grid.Why, n *grid.Needs, ad *grid.Ad) string {
	switch why {
	case grid.WhyCPU:
		return fmt.Sprintf("needs %g cpu, it has %g", float64(n.CPU)/1000, float64(ad.Capacity.CPU)/1000)
	case grid.WhyMemory:
		return fmt.Sprintf("needs %s, it has %s", memory(n.Memory), memory(ad.Capacity.Memory))
	case grid.WhyResource:
		kind, want, have := ad.Capacity.Counts.Lacks(n.Counts)
		if have == 0 {
			return fmt.Sprintf("needs %d %s, it has none", want, kind)
		}
		return fmt.Sprintf("needs %d %s, it has %d", want, kind, have)
	case grid.WhyUnmet:
		return fmt.Sprintf("%s: %s", n.Where, n.Where.Explain(requirement.Match{Node: (*nodeFacts)(ad)}))
	case grid.WhyLabel:
		return labelDetail(n, ad)
	}
	return ""
}

func labelDetail(n *grid.Needs, ad *grid.Ad) string {
	l := lacks(n.Labels, ad)
	if grid.IsFolderNeed(l.Key) {
		return folderDetail(l)
	}
	if detail := gangNetworkDetail(n, ad); detail != "" {
		return detail // it says why the level is needed, too
	}
	want := l.Key + "=" + strings.Join(l.Values, " or ")
	if v, ok := ad.Label(l.Key); ok {
		return fmt.Sprintf("needs %s, it has %s=%s", want, l.Key, v)
	}
	return fmt.Sprintf("needs %s, it has no label %s", want, l.Key)
}

// gangNetworkDetail says what a node without the network that a gang wants would need, and a job that runs there; "" =
// it has it, or none is wanted.
func gangNetworkDetail(n *grid.Needs, ad *grid.Ad) string {
	without := func(label string) bool {
		_, has := ad.Label(label)
		return !has && n.HasFeature(label)
	}
	switch {
	case without(grid.GangPortsLabel):
		return "it can give ranks no ports: want isolation strict and this version there, as its log says, or a job with " +
			"network: host"
	case !without(grid.GangNetworkLabel):
		return ""
	}
	remedy := "want isolation strict and /dev/net/tun there, as its log says, or a job with network: host"
	if _, fixed := ad.Label(grid.GangPortsLabel); fixed {
		remedy = "want /dev/net/tun there, as its log says, or a job that names its ports (gang.ports), or one with " +
			"network: host"
	}
	return "it can make no network for ranks: " + remedy
}

// folderDetail says which folder a node would have to expose.
func folderDetail(l *grid.LabelNeed) string {
	folder := l.Values[len(l.Values)-1]
	if l.Key == grid.HomeNeed {
		return fmt.Sprintf("needs a folder that is not exposed: want skep up --expose %s there, or one that it is in", folder)
	}
	return fmt.Sprintf("needs a folder that is not exposed to work in: want skep up --expose %s:rw there, of root "+
		"with :as=USER:for=NAME, or one that it is in", folder)
}

// Now returns why a node that could run a task takes none now; WhyNone if it may. Whether resources are free at this
// moment is the node's own decision: a full one has a queue.
func Now(_ *grid.Needs, ad *grid.Ad) grid.Refusal {
	switch {
	case ad.Leaving:
		return grid.Refusal{Why: grid.WhyDrain, Detail: "it is leaving"}
	case ad.Draining:
		return grid.Refusal{Why: grid.WhyDrain}
	case ad.Full:
		return grid.Refusal{Why: grid.WhyDisk}
	case ad.Away:
		return grid.Refusal{Why: grid.WhyAway}
	case ad.Private:
		return grid.Refusal{Why: grid.WhyPrivate}
	}
	return grid.Refusal{}
}

// lacks returns the first label need that the ad does not meet; nil if all are met.
func lacks(needs []grid.LabelNeed, ad *grid.Ad) *grid.LabelNeed {
	for i := range needs {
		l := &needs[i]
		if grid.IsFolderNeed(l.Key) {
			if !ad.Exposes(l) {
				return l
			}
			continue
		}
		if v, ok := ad.Label(l.Key); !ok || !slices.Contains(l.Values, v) {
			return l
		}
	}
	return nil
}

func orNone(s []string) string {
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, ", ")
}

// memory formats bytes in the largest unit that leaves at least 1.
func memory(b grid.Bytes) string {
	switch {
	case b >= grid.GiB:
		return fmt.Sprintf("%.4g GiB", float64(b)/float64(grid.GiB))
	case b >= grid.MiB:
		return fmt.Sprintf("%.4g MiB", float64(b)/float64(grid.MiB))
	}
	return fmt.Sprintf("%d bytes", b)
}
