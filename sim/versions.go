package sim

import (
	"cmp"
	"fmt"
	"slices"

	"skep/grid"
	"skep/node"
)

// Versions of nodes. All run the code of today; what an older one does not list is not sent to it, and it has no label
// of what came later.

// featuresOf is what a node tells those that it connects to.
func (w *World) featuresOf(i int32) grid.FeatureSet {
	if f := w.cfg.Network.Features; f != nil {
		return f(int(i), w.hosts[i].boots)
	}
	f := grid.FeatureSet(1<<grid.FeatureReruns | 1<<grid.FeatureRetries | 1<<grid.FeatureDeadlines |
		1<<grid.FeatureBudgets | 1<<grid.FeatureOptions | 1<<grid.FeatureSigned | 1<<grid.FeatureOffers |
		1<<grid.FeatureReplacement | 1<<grid.FeatureSignedChanges)
	kinds := w.cfg.Network.Kinds(int(i))
	if kinds.Has(grid.KindAwait) {
		f |= 1 << grid.FeatureOrder
	}
	if kinds.Has(grid.KindReserve) {
		f |= 1<<grid.FeatureGangs | 1<<grid.FeatureGangSizes | 1<<grid.FeatureContracts | 1<<grid.FeatureMoves
	}
	return f
}

// kindsOf are the kinds of messages that a node understands.
func (w *World) kindsOf(i int32) grid.KindSet {
	kinds := w.cfg.Network.Kinds(int(i))
	if w.cfg.Network.Features == nil {
		return kinds
	}
	f := w.featuresOf(i)
	if !f.Has(grid.FeatureOrder) {
		kinds &^= 1<<grid.KindAwait | 1<<grid.KindAwaited
	}
	if !f.Has(grid.FeatureGangs) {
		kinds &^= 1<<grid.KindReserve | 1<<grid.KindReserveAck
	}
	return kinds
}

// labelFeature is a label and the feature that it came with.
type labelFeature struct {
	label   string
	feature grid.Feature
}

var labelFeatures = [...]labelFeature{
	{grid.JobInputsLabel, grid.FeatureOrder},
	{grid.GangSizeLabel, grid.FeatureGangSizes},
	{grid.RequirementLabel, grid.FeatureRequirements},
	{grid.OptionLabel, grid.FeatureOptions},
	{grid.OuterLabel, grid.FeatureOuter},
	{grid.SignedLabel, grid.FeatureSigned},
}

// versionLabels returns a node's labels without those of what came after its version.
func (w *World) versionLabels(i int32, labels []grid.Label) []grid.Label {
	if w.cfg.Network.Features == nil {
		return labels
	}
	f := w.featuresOf(i)
	return slices.DeleteFunc(slices.Clone(labels), func(l grid.Label) bool {
		return slices.ContainsFunc(labelFeatures[:], func(x labelFeature) bool {
			return x.label == l.Key && !f.Has(x.feature)
		})
	})
}

// checkKept checks that no job is given for keeping to a node whose version cannot keep it.
func (w *World) checkKept(i int32, s *grid.Send) {
	if spec := s.Msg.Register.Spec; w.cfg.Network.Features != nil && spec != nil && w.hosts[i].hostile == 0 {
		j := w.index(s.To)
		if lacks := spec.MemberFeatures() &^ w.featuresOf(j); lacks != 0 {
			w.failf(i, "gives n%d a job to keep that its version cannot: it lacks features %b", j, lacks)
		}
	}
}

// checkRunnable checks that a node starts nothing that its version cannot run.
func (w *World) checkRunnable(i int32, s *grid.Start) {
	if w.cfg.Network.Features == nil || w.hosts[i].hostile != 0 {
		return
	}
	f := w.featuresOf(i)
	for _, x := range labelFeatures {
		if s.Spec.Needs.HasFeature(x.label) && !f.Has(x.feature) {
			w.failf(i, "starts %s, which needs %s, and its version has not", attemptName(s.Attempt), x.label)
		}
	}
}

// addSigned has half of the jobs of a third of the worlds be signed, so that each end of them is proved.
func addSigned(seed uint64, c *Config) {
	if r := grid.NewRand(seed, 100); r.IntN(3) == 0 {
		signSome(r, c)
	}
}

func signSome(r *grid.Rand, c *Config) {
	labelNodes(c)
	for k := range c.Work {
		if r.IntN(2) == 0 {
			sign(&c.Work[k], k)
		}
	}
}

// sign has a submission be of a signed job, unless it needs as many labels as there may be. The seal stands for the
// bytes that the origin's node would sign.
func sign(s *Submission, k int) {
	spec := *s.Spec
	spec.Signed, spec.Sealed = true, fmt.Sprintf("sealed %d", k)
	spec.Needs.Labels = slices.Clone(spec.Needs.Labels)
	spec.Needs.AddFeature(grid.SignedLabel)
	slices.SortFunc(spec.Needs.Labels, func(a, b grid.LabelNeed) int { return cmp.Compare(a.Key, b.Key) })
	if spec.Check() == nil {
		s.Spec = &spec
	}
}

// labelNodes gives all nodes the labels of their version.
func labelNodes(c *Config) {
	other := c.Node
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		for _, l := range grid.FeatureLabels() {
			if !slices.ContainsFunc(n.Labels, func(x grid.Label) bool { return x.Key == l.Key }) {
				n.Labels = append(slices.Clone(n.Labels), l)
			}
		}
	}
}

// addVersions has up to half of the nodes of a quarter of the worlds be of an older version, and half of these start
// with the new one from their second run on.
func addVersions(seed uint64, c *Config) {
	if r := grid.NewRand(seed, 101); r.IntN(4) == 0 {
		mixVersions(r, c)
	}
}

// The first feature that an old node may lack, and those of new ones. Before gangs no node could be asked how a job has
// ended, and what waits for one that only such nodes keep waits for ever. Members are not replaced.
const (
	firstLacking = grid.FeatureGangs
	newest       = grid.AllFeatures &^ (1 << grid.FeatureReplacement)
)

// mixVersions makes some nodes old: they lack all features from a number on. What only some nodes can run is given to
// old ones nowhere, and the largest node and what may be lost for good decide nothing: a job needs one core then.
func mixVersions(r *grid.Rand, c *Config) {
	lost := func(i int) bool {
		return slices.ContainsFunc(c.Faults, func(f Fault) bool { return f.Kind == Lose && slices.Contains(f.Nodes, i) })
	}
	old, upgraded := make([]bool, c.Nodes), make([]bool, c.Nodes)
	kept := -1 // a node that is new and stays
	for left, perm := c.Nodes/2, r.Perm(c.Nodes); len(perm) > 0; perm = perm[1:] {
		switch i := perm[0]; {
		case kept < 0 && !lost(i):
			kept = i
		case left > 0:
			old[i], upgraded[i] = true, r.IntN(2) == 0
			left--
		}
	}
	from := firstLacking + grid.Feature(r.IntN(int(grid.FeatureSigned-firstLacking)+1))
	if kept < 0 {
		return
	}
	c.Network.Features = func(i int, run uint64) grid.FeatureSet {
		if old[i] && (run == 1 || !upgraded[i]) {
			return newest & (1<<from - 1)
		}
		return newest
	}
	labelNodes(c)
	c.Conserves, c.Hindsight = false, false // an old node may be idle beside what it cannot run
	for k := range c.Work {
		s := &c.Work[k]
		if old[s.Node] && s.Spec.MemberFeatures()&^(1<<from-1) != 0 {
			s.Node = kept
		}
		if spec := *s.Spec; !spec.IsGang() && slices.ContainsFunc(spec.Needs.Labels, func(l grid.LabelNeed) bool {
			return grid.IsFeatureLabel(l.Key)
		}) {
			spec.Needs.CPU = min(spec.Needs.CPU, grid.CPU)
			s.Spec = &spec
		}
	}
}
