package grid

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Decision is what was weighed when a worker was chosen for a task, when its policy kept it, or when a worker refused
// it for prices.
type Decision struct {
	Task   TaskID
	At     Time // of the entry of the task's history that it belongs to
	Why    Verdict
	Tied   int32        // of VerdictNearTie: nodes that were drawn from
	Nodes  []Considered // the chosen node first, then by expected completion; at most MaxConsidered
	More   int32        // further nodes that were considered
	Prices *Prices      // of VerdictPriced: for which the node has refused the task
}

// MaxConsidered bounds the nodes that are kept of a decision.
const MaxConsidered = 16

// Considered is a node that a task could have gone to, and what was expected of it:
//
//	ECT = Ready + Run + Move
//
// Charged is added to that where the nodes are compared.
type Considered struct {
	Node    NodeID
	Ready   time.Duration // until the task would start there
	Run     time.Duration // its run time there
	Move    time.Duration // for moving it there
	Charged time.Duration // work placed there since, of which the node could not yet tell
	News    time.Duration // age of what is known of the node
	Basis   Basis
	Price   Bid   // reserve price that it asked, as far as known; 0 = none
	Option  uint8 // of the job, that it would run as there, from 1; 0 = it has none
	Results int32 // of BasisOwn: results that the run time rests on
	Asked   bool  // it was polled in this decision
	Chosen  bool
	Options []WeighedOption // of the job, those that could run there; nil = it has none
}

// WeighedOption is what was expected of a task at a node as one of the options of its job.
type WeighedOption struct {
	Number  uint8         // of the option
	Ready   time.Duration // until it would start so
	ECT     time.Duration // and be done
	Judged  bool          // the policy has valued it
	Utility float64       // that the policy gave the first of the tasks that are alike
	Price   float64       // of what it takes, by the prices that the node has named lately, in credits
	Worth   float64       // of its completion, in credits; 0 = the node has named no prices
}

// ECT is the expected completion time.
func (c *Considered) ECT() time.Duration { return c.Ready + c.Run + c.Move }

// Idle reports whether the task would start at once.
func (c *Considered) Idle() bool { return c.Ready+c.Charged <= 0 }

// Verdict is why a decision came out as it did.
type Verdict uint8

// Why a node was chosen, or none.
const (
	VerdictRule     Verdict = iota // the policy's rule, which is not the earliest completion
	VerdictEarliest                // the earliest expected completion
	VerdictNearTie                 // drawn from those whose expected completions are nearly equal
	VerdictOnly                    // no other node fitted
	VerdictPull                    // it is idle and asked for work
	VerdictKept                    // none: the policy keeps the task
	VerdictPriced                  // none: the node has refused it, for others that are worth more
)

var verdictNames = [...]string{"rule", "earliest", "near tie", "only", "pulled", "kept", "priced"}

// String returns the name used in JSON.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "unknown"
}

// Basis is what an expected run time rests on.
type Basis uint8

// What an expected run time rests on.
const (
	BasisDefault  Basis = iota // nobody is known to have run such a task
	BasisGiven                 // the rates are given
	BasisOwn                   // runs on this node
	BasisAnswer                // the node's answer to a poll
	BasisAd                    // the rate that the node told before
	BasisTypical               // what other nodes tell, scaled by its speed
	BasisRecord                // its results took longer than it says
	BasisUnproven              // the least time that is believed before its first result
)

var basisNames = [...]string{"default", "given", "own results", "answer", "ad", "typical", "track record", "unproven"}

// String returns the name used in JSON.
func (b Basis) String() string {
	if int(b) < len(basisNames) {
		return basisNames[b]
	}
	return "unknown"
}

// Expectation is when an attempt is expected to be done, and what its worker's track record needs to know of it.
type Expectation struct {
	Made     Time    // when the worker was chosen; 0 = before this start, or by another owner
	Expected float64 // completion, seconds after Made; 0 = the attempt's time measures nothing
	LateAt   Time    // late from then on; 0 = it is in no record
	SentAt   Time    // when it was sent, as known since this start
	Accepted bool    // its worker has said since that it has it
	Results  uint64  // successful results that the owner had counted at that time
	Speedup  float64 // of the option as which it runs; 0 = 1
}

// Usual is how long the attempt usually takes, of a class whose tasks take a time.
func (e *Expectation) Usual(class float64) float64 {
	if e.Speedup > 0 {
		return class / e.Speedup
	}
	return class
}

// MaxReclaims bounds how often a task's reclaims double the time that its next worker is given.
const MaxReclaims = 12

// RunEstimate is what the owner of a task knows of how long it may take.
type RunEstimate struct {
	RunTime   float64       // expected run time of the class, seconds; more than 0
	Variation float64       // squared coefficient of variation of its run times
	Known     bool          // RunTime rests on results that the owner received
	Fetch     float64       // time to fetch the inputs, seconds
	Limit     time.Duration // time limit of the task; 0 = none
	Reclaims  uint8         // times that the task was reclaimed, at most MaxReclaims
}

// Waiting is work of a job that waits, as far as an idle node may get some of it.
type Waiting struct {
	Job    JobID
	Owner  NodeID
	Spec   *JobSpec
	Class  string
	Level  string   // of the class: see LevelOf
	Option uint8    // of its job, as which it is to run where it is given to; 0 = none, or as its owner chooses
	End    float64  // seconds until the last of it is expected to be done where it waits; unknown where it has no place
	Barred []NodeID // that may pull none of it
	// Here are the attempts of it that wait at the node which is their owner, too: who may pull one of them is asked.
	Here    []AttemptID
	Overdue bool // some of it has waited for half as long again as was predicted, or has no place
}

// MaxPrice bounds the prices of a refusal, in credits, and what it says that a task is worth.
const MaxPrice = 1e18

// Prices are why a worker has refused an offer that would fit: others that it was offered at the same time are worth
// more together. They are the worker's estimates, by a utility function of its own, and bind nobody. Credits are a bid
// times seconds of the usual run time. It is immutable.
type Prices struct {
	CPU     float64     // of a core, in credits
	Memory  float64     // of a GiB
	Counted []UnitPrice // of counted resources that are not free of charge, ordered by kind
	Worth   float64     // of the task as it was offered, in credits
	Left    Resources   // what the worker has free beside what it has taken
	Offers  int         // that it chose among
}

// UnitPrice is the price of a unit of a counted resource.
type UnitPrice struct {
	Kind  string
	Price float64
}

// Check reports prices that no honest worker names.
func (p *Prices) Check() error {
	all := []float64{p.CPU, p.Memory, p.Worth}
	if len(p.Counted) > MaxKinds {
		return fmt.Errorf("prices of %d kinds: want at most %d", len(p.Counted), MaxKinds)
	}
	for k, u := range p.Counted {
		if !ValidKind(u.Kind) || k > 0 && u.Kind <= p.Counted[k-1].Kind {
			return fmt.Errorf("price of %.40q: want kinds of resource in their order", u.Kind)
		}
		all = append(all, u.Price)
	}
	for _, x := range all {
		if !(x >= 0 && x <= MaxPrice) {
			return fmt.Errorf("price %g: want 0 to %g", x, float64(MaxPrice))
		}
	}
	if p.Offers < 0 || p.Offers > MaxCount {
		return fmt.Errorf("chosen among %d offers: want 0 to %d", p.Offers, MaxCount)
	}
	return nil
}

// Of is what needs cost at the prices, in credits.
func (p *Prices) Of(need Resources) float64 {
	sum := p.CPU*need.CPU.Cores() + p.Memory*float64(need.Memory)/float64(GiB)
	for _, u := range p.Counted {
		sum += u.Price * float64(need.Counts.Of(u.Kind))
	}
	return math.Min(sum, MaxPrice)
}

// String says the prices to people.
func (p *Prices) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.3g credits for a core", p.CPU)
	if p.Memory > 0 {
		fmt.Fprintf(&b, ", %.3g for a GiB", p.Memory)
	}
	for _, u := range p.Counted {
		fmt.Fprintf(&b, ", %.3g for a unit of %s", u.Price, u.Kind)
	}
	fmt.Fprintf(&b, "; worth %.3g", p.Worth)
	if p.Offers > 0 {
		fmt.Fprintf(&b, ", of %d offers", p.Offers)
	}
	return b.String()
}
