package grid

import (
	"fmt"
	"slices"
	"time"
)

// Gang says that the tasks of a job start together and run at the same time: task i is rank i. The zero value: they do
// not.
type Gang struct {
	Ranks  uint32          // number of tasks; 0 = the job is no gang
	Min    uint32          // fewest ranks that an attempt may have, and Ranks the most; 0 = each has all
	Ports  Ports           // on which they reach each other; none = any
	Search *ScheduleSearch // for the workers and for each rank's share of the work; nil = few and near workers, no shares
}

// ScheduleSearch says by what the workers of a gang are chosen: what its program needs, and how the work is divided.
type ScheduleSearch struct {
	Model      string      // of the program, by name
	Parameters []Parameter // that the model is told, ordered by name
	Measured   []Measured  // of the model table, ordered by ranks
	Mapper     string      // by name; "" = the default
	Conserve   float64     // part by which an iteration may take longer for the sake of fewer workers
	OneSite    bool        // all ranks are near each other
	Contract   *Contract   // nil = DefaultContract

	// CountsMoves says that the job's register has an entry of how often the gang has moved: JobSpec.MovesEntry. Its
	// origin sets it, so that all members have as many entries.
	CountsMoves bool
}

// Parameter is a number by its name.
type Parameter struct {
	Name  string
	Value float64
}

// Measured is what an iteration took with so many ranks, each with an equal share of the work.
type Measured struct {
	Ranks   uint32
	Compute float64 // seconds of a rank
	Message float64 // seconds in which it communicated
}

// Bounds of gangs.
const (
	MaxRanks      = 1024
	MaxParameters = 16
	MaxMeasured   = 64
)

// RankPlace says that a node has so many ranks of a gang: those after the ranks of the places before.
type RankPlace struct {
	Node   NodeID
	Ranks  uint32
	Shares []uint32 // of the work, of each of these ranks; nil = it is not divided
}

// Equal reports whether both say the same.
func (p RankPlace) Equal(q RankPlace) bool {
	return p.Node == q.Node && p.Ranks == q.Ranks && slices.Equal(p.Shares, q.Shares)
}

// PlaceOf returns the node that has a rank; zero = none has.
func PlaceOf(places []RankPlace, rank uint32) NodeID {
	for _, p := range places {
		if rank < p.Ranks {
			return p.Node
		}
		rank -= p.Ranks
	}
	return NodeID{}
}

// CheckPlaces returns what is wrong with the places of the ranks of an attempt. They are needed for NetworkGang alone.
func (s *JobSpec) CheckPlaces(a Attempt, places []RankPlace) error {
	if len(places) == 0 && s.Network != NetworkGang {
		return nil
	}
	sum, divided := uint64(0), false
	for i, p := range places {
		if i == 0 {
			divided = len(p.Shares) > 0
		}
		if len(p.Shares) > 0 != divided || divided && uint64(len(p.Shares)) != uint64(p.Ranks) {
			return fmt.Errorf("%d shares of the work for %d ranks at node %v: want one for each rank, or none at all",
				len(p.Shares), p.Ranks, p.Node)
		}
		if sum += uint64(p.Ranks); p.Ranks == 0 || p.Node.IsZero() {
			return fmt.Errorf("%d ranks at node %v: want at least one, and a node", p.Ranks, p.Node)
		}
	}
	if want := s.Gang.RanksOf(a); sum != uint64(want) {
		return fmt.Errorf("places for %d ranks: want one for each of %d", sum, want)
	}
	return nil
}

// IsGang reports whether the tasks of the job are the ranks of a gang.
func (s *JobSpec) IsGang() bool { return s.Gang.Ranks > 0 }

// The variables of a rank's environment.
const (
	RankVariable      = "RANK"
	WorldSizeVariable = "WORLD_SIZE"
	LocalRankVariable = "LOCAL_RANK"  // among the ranks of the attempt on one node, in the order of the ranks
	SharesVariable    = "SKEP_SHARES" // of the work, of all ranks, with commas between
)

// Reserve is what an owner and a worker say of slots that are kept for ranks of a gang. It is immutable once built.
type Reserve struct {
	Job     JobID
	Attempt Attempt       // that the ranks get if all of them are reserved, the same for all
	Round   uint32        // of the owner's tries; an answer repeats it
	Ranks   uint32        // asked for; 0 = none any more. In an answer: those that are kept, or that could be now
	Needs   Resources     // of one rank
	TTL     time.Duration // after which the worker gives up what was not offered
	Age     time.Duration // of the job, since its submission
	Later   bool          // slots that become free are kept too

	Refusal Refusal // of an answer; WhyNone = all are kept. WhyWounded = those that were kept are not any more
	Holder  JobID   // of an answer: the gang that the slots are kept for instead; zero = none
}

// GangNode is what a node is known to have for ranks of a gang.
type GangNode struct {
	Node     NodeID
	Free     Resources
	Capacity Resources
	Backlog  time.Duration // expected time until a task that came now would start
	RTT      time.Duration // 0 for the owner itself
	Refuses  Refusal       // why it cannot be asked now; WhyNone = it can
	Speed    float64       // of one core, relative to the reference machine of the calibration
	Coord    Coord
	News     time.Duration // age of what is known
	Own      bool          // it is the owner itself
	Link     Bandwidth     // between it and the owner
}

// Slots returns how many tasks of these needs fit into resources at a time, up to most.
func (r Resources) Slots(need Resources, most int) int {
	n := 0
	for left := r; n < most && left.Fits(need); n++ {
		left = left.Minus(need)
	}
	return n
}

// checkGang rejects rules that are about single tasks: the ranks of a gang are placed, lost and ended together.
func (s *JobSpec) checkGang(p *problems) {
	if label := s.Gang.Ports.NetworkLabel(); s.Network == NetworkGang && (!s.IsGang() ||
		s.Isolation() < IsolationStrict || !s.Needs.HasFeature(label)) {
		p.addf("network gang: want gang.ranks with it, isolation strict, and %s among the labels needed", label)
	}
	if s.Gang.Ports.Some() && s.Network != NetworkGang {
		p.addf("gang.ports with network %v: want network gang, the default of gangs", s.Network)
	}
	if !s.IsGang() {
		return
	}
	s.Gang.Ports.check(&s.Gang, p)
	if s.Gang.Ranks > MaxRanks {
		p.addf("gang.ranks %d: want 1 to %d", s.Gang.Ranks, MaxRanks)
	}
	s.checkMin(p)
	s.Gang.Search.check(p)
	if s.Count != s.Gang.Ranks {
		p.addf("count %d with gang.ranks %d: want the same number: each task is a rank", s.Count, s.Gang.Ranks)
	}
	if s.Array != nil {
		p.addf("array with gang.ranks %d: want one of them: the tasks of a gang differ by their rank", s.Gang.Ranks)
	}
	if s.Idempotent {
		p.addf("idempotent with gang.ranks %d: want none: a single rank is not run twice", s.Gang.Ranks)
	}
	if s.Rules.OnFailure.Retry > 0 {
		p.addf("on_failure.retry %d with gang.ranks %d: want none: a single rank is not run again", s.Rules.OnFailure.Retry,
			s.Gang.Ranks)
	}
	if s.Rules.MaxFailures > 0 {
		p.addf("max_failures %d with gang.ranks %d: want none: the first rank that fails ends the gang",
			s.Rules.MaxFailures, s.Gang.Ranks)
	}
	if s.Rules.MaxRunning > 0 && uint32(s.Rules.MaxRunning) < s.Gang.Ranks {
		p.addf("max_running %d with gang.ranks %d: want none: all ranks run at the same time", s.Rules.MaxRunning,
			s.Gang.Ranks)
	}
	if s.Policy != "" && s.Policy != "local" {
		p.addf("policy %q with gang.ranks %d: want none or local: policies place single tasks", s.Policy, s.Gang.Ranks)
	}
	if s.After.Each() >= 0 {
		p.addf("after_each with gang.ranks %d: want after or after_ok: no rank starts before the others", s.Gang.Ranks)
	}
	for _, v := range s.Env {
		if v.Name == RankVariable || v.Name == WorldSizeVariable || v.Name == LocalRankVariable {
			p.addf("env %q with gang.ranks %d: want another name: each rank has its own", v.Name, s.Gang.Ranks)
		}
	}
}

// check rejects what no search could use. Whether there are such models and mappers is for who searches to say.
func (x *ScheduleSearch) check(p *problems) {
	if x == nil {
		return
	}
	p.text("gang.model", x.Model, MaxClass)
	p.text("gang.mapper", x.Mapper, MaxClass)
	if x.Model == "" {
		p.addf("gang.model: is missing: want the name of one")
	}
	if !(x.Conserve >= 0 && x.Conserve <= 1) {
		p.addf("gang.conserve %g: want a part from 0 to 1", x.Conserve)
	}
	if len(x.Parameters) > MaxParameters {
		p.addf("gang.model: %d parameters: want at most %d", len(x.Parameters), MaxParameters)
	}
	for i, a := range x.Parameters {
		p.text("gang.model", a.Name, MaxClass)
		if i > 0 && x.Parameters[i-1].Name >= a.Name {
			p.addf("gang.model: parameter %q: want each once, ordered by name", a.Name)
		}
	}
	if len(x.Measured) > MaxMeasured {
		p.addf("gang.model: %d measurements: want at most %d", len(x.Measured), MaxMeasured)
	}
	x.Contract.check(p)
}

// IsFor reports whether a node may take an offer: it is of a task of its job and, where the ranks of a gang reach each
// other, of one that is placed there.
func (o *Offer) IsFor(id NodeID) bool {
	return o.Spec != nil && o.ID.Task.Index < o.Spec.TasksOf(o.ID.Attempt) &&
		(o.Spec.Network != NetworkGang || PlaceOf(o.Places, o.ID.Task.Index) == id)
}
