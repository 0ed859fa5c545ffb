package grid

import "slices"

// Feature is a capability of a node beyond understanding message kinds. The numbers are on the wire: never reuse one.
type Feature uint8

// FeatureAccess: the node shows a job under AccessOwner only to a client that presents the job's capability.
const FeatureAccess Feature = 1

// FeatureLevels: the node knows the finer levels of classes (LevelOf), and may be polled for them. Number 2 said the
// same of levels with another mark.
const FeatureLevels Feature = 3

// FeatureReruns: the node keeps registers whose entries may be succeeded by those of further attempts (Entry.Round).
const FeatureReruns Feature = 4

// FeatureRetries: the node keeps registers that are opened again after their jobs were over, and entries that succeed
// final ones (Entry.RetriedAt).
const FeatureRetries Feature = 5

// FeatureOrder: the node keeps registers of jobs that wait for other jobs, and releases no task of them early.
const FeatureOrder Feature = 6

// FeatureGangs: the node reserves slots for ranks of gangs, and keeps registers of jobs that are gangs.
const FeatureGangs Feature = 7

// FeatureDeadlines: the node keeps registers of jobs with deadlines, and heeds these as their owner.
const FeatureDeadlines Feature = 8

// FeatureGangSizes: the node keeps registers of gangs whose attempts have different numbers of ranks (Gang.Min).
const FeatureGangSizes Feature = 9

// FeatureContracts: the node keeps registers of gangs that say when they move (ScheduleSearch.Contract), and heeds that
// as their owner.
const FeatureContracts Feature = 10

// FeatureBudgets: the node keeps registers of jobs with budgets, with the entry of what they have used, and heeds these
// as their owner.
const FeatureBudgets Feature = 11

// FeatureMoves: the node keeps registers of gangs with the entry of how often they have moved
// (ScheduleSearch.CountsMoves), and goes by it as their owner.
const FeatureMoves Feature = 15

// FeaturePorts: the node keeps registers of gangs that name their ports (Gang.Ports), and checks their spec so.
const FeaturePorts Feature = 14

// FeatureRequirements: the node knows requirements and ranks, and heeds them as the owner of a job.
const FeatureRequirements Feature = 12

// FeatureOptions: the node keeps registers of jobs with options, and chooses among these as their owner.
const FeatureOptions Feature = 17

// FeaturePrices: the node understands refusals with prices: see package intake.
const FeaturePrices Feature = 18

// FeatureOuter: the node keeps registers of jobs for tasks of other grids (JobSpec.Outer).
const FeatureOuter Feature = 19

// FeatureGenerations: the node keeps the generations that others tell it, and shows them to those: see package
// generation.
const FeatureGenerations Feature = 16

// FeatureReplacement: the node keeps registers whose members are replaced (Membership).
const FeatureReplacement Feature = 21

// FeatureSigned: the node keeps registers of jobs whose ends are signed (JobSpec.Signed), votes for their owners by
// signature, and takes no end without.
const FeatureSigned Feature = 22

// FeatureOffers: the node keeps registers with the entry of which tasks may have been offered (JobSpec.RecordsOffers),
// and goes by it as their owner.
const FeatureOffers Feature = 26

// FeatureSignedChanges: the node keeps registers of signed jobs whose members are replaced (Membership.Links), and
// signs changes of these.
const FeatureSignedChanges Feature = 23

// FeatureSecrets: the node keeps registers of jobs with secrets (JobSpec.Secrets), and heeds these as their owner.
const FeatureSecrets Feature = 27

// FeatureSet is a set of features, a bit each.
type FeatureSet uint64

// AllFeatures are the features of this version of Skep.
const AllFeatures = FeatureSet(1<<FeatureAccess | 1<<FeatureLevels | 1<<FeatureReruns | 1<<FeatureRetries |
	1<<FeatureOrder | 1<<FeatureGangs | 1<<FeatureDeadlines | 1<<FeatureGangSizes |
	1<<FeatureContracts | 1<<FeatureBudgets | 1<<FeaturePorts | 1<<FeatureRequirements |
	1<<FeatureMoves | 1<<FeatureOptions | 1<<FeatureGenerations | 1<<FeaturePrices |
	1<<FeatureOuter | 1<<FeatureReplacement | 1<<FeatureSigned | 1<<FeatureOffers |
	1<<FeatureSignedChanges | 1<<FeatureSecrets)

// MemberFeatures are the features that a member of the register of such a job must have.
func (s *JobSpec) MemberFeatures() (f FeatureSet) {
	if s.Access() == AccessOwner {
		f |= 1 << FeatureAccess
	}
	if !s.Rules.None() {
		f |= 1 << FeatureReruns
	}
	if len(s.After.Jobs) > 0 {
		f |= 1 << FeatureOrder
	}
	if s.IsGang() {
		f |= 1 << FeatureGangs
	}
	if s.Rules.Deadline.Some() {
		f |= 1 << FeatureDeadlines
	}
	if s.Gang.Sized() {
		f |= 1 << FeatureGangSizes
	}
	if s.Gang.Search != nil && s.Gang.Search.Contract != nil {
		f |= 1 << FeatureContracts
	}
	if s.CountsMoves() {
		f |= 1 << FeatureMoves
	}
	if s.Gang.Ports.Some() {
		f |= 1 << FeaturePorts
	}
	if s.Rules.Budget.Some() {
		f |= 1 << FeatureBudgets
	}
	if s.Needs.Where != nil || s.Rules.Rank != nil {
		f |= 1 << FeatureRequirements
	}
	if len(s.Needs.Options) > 0 {
		f |= 1 << FeatureOptions
	}
	if s.Outer.Some() {
		f |= 1 << FeatureOuter
	}
	if s.Signed {
		f |= 1 << FeatureSigned
	}
	if s.RecordsOffers {
		f |= 1 << FeatureOffers
	}
	if len(s.Secrets) > 0 {
		f |= 1 << FeatureSecrets
	}
	return f
}

// ReplacementFeatures are those that the members of the register of such a job must have for one to be replaced.
func (s *JobSpec) ReplacementFeatures() FeatureSet {
	f := s.MemberFeatures() | 1<<FeatureReplacement
	if s.Signed {
		f |= 1 << FeatureSignedChanges
	}
	return f
}

// Has reports whether f is in the set.
func (s FeatureSet) Has(f Feature) bool { return s&(1<<f) != 0 }

// Labels of nodes whose version gives tasks what older ones do not. A job that rests on it needs the label: every
// version checks labels, so no node of an older one is given such a task, not even by another of an older one.
const (
	ArrayLabel     = "skep.arrays"     // a task's values in its command, its environment and its patterns of outputs
	StdinLabel     = "skep.stdin"      // a standard input
	ResourceLabel  = "skep.resources"  // counted resources
	TerminalLabel  = "skep.terminal"   // a terminal: only nodes that can make one have it
	PinLabel       = "skep.pin"        // processors of their own: only nodes that can pin tasks have it
	JobInputsLabel = "skep.job_inputs" // files that tasks of other jobs have left

	RequirementLabel = "skep.requirements" // expressions about nodes (Needs.Where)
	OptionLabel      = "skep.options"      // options of jobs (Needs.Options)
	OuterLabel       = "skep.outer"        // tasks of other grids (JobSpec.Outer)

	GangSizeLabel = "skep.gang_size" // ranks of gangs whose attempts have different numbers of them

	SignedLabel = "skep.signed" // ends of tasks are signed (JobSpec.Signed)

	SecretLabel = "skep.secrets" // secrets in its box: only nodes that box their tasks have it

	// DurableLabel: what runs there goes on while the node does not; only nodes whose tasks another system runs have it.
	DurableLabel = "skep.durable"

	// GangNetworkLabel: a network for the ranks of a gang; only nodes that can make one have it.
	GangNetworkLabel = "skep.gang_network"

	// GangPortsLabel: ports on which the ranks of a gang reach each other; only nodes that can give them have it.
	GangPortsLabel = "skep.gang_ports"
)

// FeatureValue is the value of these labels.
const FeatureValue = "1"

// IsFeatureLabel reports whether a label is one of these.
func IsFeatureLabel(key string) bool {
	switch key {
	case ArrayLabel, StdinLabel, ResourceLabel, TerminalLabel, PinLabel, JobInputsLabel,
		GangSizeLabel, GangNetworkLabel, GangPortsLabel, RequirementLabel, OptionLabel, OuterLabel, DurableLabel,
		SignedLabel, SecretLabel:
		return true
	}
	return false
}

// FeatureLabels returns those that all nodes of this version have.
func FeatureLabels() []Label {
	return []Label{{ArrayLabel, FeatureValue}, {StdinLabel, FeatureValue}, {ResourceLabel, FeatureValue},
		{TerminalLabel, FeatureValue}, {JobInputsLabel, FeatureValue}, {GangSizeLabel, FeatureValue},
		{RequirementLabel, FeatureValue}, {OptionLabel, FeatureValue}, {OuterLabel, FeatureValue},
		{SignedLabel, FeatureValue}}
}

// FeatureNeed returns the need of such a label.
func FeatureNeed(label string) LabelNeed {
	return LabelNeed{Key: label, Values: []string{FeatureValue}}
}

// HasFeature reports whether such a label is needed.
func (n *Needs) HasFeature(label string) bool {
	return slices.ContainsFunc(n.Labels, func(l LabelNeed) bool {
		return l.Key == label && slices.Equal(l.Values, []string{FeatureValue})
	})
}

// AddFeature adds the need of such a label, unless there is one already.
func (n *Needs) AddFeature(label string) {
	if !slices.ContainsFunc(n.Labels, func(l LabelNeed) bool { return l.Key == label }) {
		n.Labels = append(n.Labels, FeatureNeed(label))
	}
}

func (s *JobSpec) checkSigned(p *problems) {
	if s.Signed && !s.Needs.HasFeature(SignedLabel) {
		p.addf("signed: want needs.labels.%s %s with it: older nodes would not sign how a task ended", SignedLabel,
			FeatureValue)
	}
}

func (n *Needs) checkWhere(p *problems) {
	if n.Where != nil && !n.HasFeature(RequirementLabel) {
		p.addf("needs.where: want needs.labels.%s %s with it: older nodes would run the tasks without", RequirementLabel,
			FeatureValue)
	}
}
