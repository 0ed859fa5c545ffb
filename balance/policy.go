package balance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"skep/grid"
)

// Policy decides where tasks go, for one decider. It may keep state and draws only from the randomness
// it was made with. Its calls come one at a time.
type Policy interface {
	// Poll appends the nodes of v whose state must be fresh before the choice. Appending nothing means
	// that none need be: Choose then gets every node of v as it is known without a message. The
	// decider itself may be among them and costs no message. After PollMore it is called again with a
	// View that leaves out those that were asked.
	Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID

	// Choose picks among the answers, which may be fewer than asked for, or none.
	Choose(now grid.Time, t *grid.Task, answers []State) Choice

	// Note tells the policy what became known.
	Note(o Outcome)
}

// Detailed reports whether a policy looks at the queue of a State and not only at its times. For others it
// need not be filled in.
func Detailed(p Policy) bool {
	_, ok := p.(interface{ detailed() })
	return ok
}

// New makes a policy.
type New func(*Config, *grid.Rand) Policy

// View is the nodes that a task could go to now: they meet its needs and there is a live connection, or
// they are the decider. It is the caller's memory and dead after the call.
type View struct {
	Self  grid.NodeID
	Home  *Site   // of the decider
	Nodes []State // as known without a message; ordered by identity
}

// Find returns the state of a node; nil = it is not in the view.
func (v View) Find(id grid.NodeID) *State {
	if at := find(v, id); at >= 0 {
		return &v.Nodes[at]
	}
	return nil
}

// State is a node's answer, or what is known of it without one.
type State struct {
	Node  grid.NodeID
	ECT   float64       // expected completion time of this task there, seconds from when it was said
	Ready float64       // seconds until a task that came then would start
	RTT   time.Duration // round trip to it; 0 for the decider
	Heard grid.Time     // when it was said at the latest, on the decider's clock: when the answer came
	Site  *Site         // where it stands and what it is kept for; nil = anywhere, for everything

	// Its queue, in answers to policies that are [Detailed]; 0 where nothing is said.
	Waiting, Running int32   // tasks
	Ran, Rest        float64 // of what runs: the expected time that is behind it and that is left, seconds
	Whole            bool    // ECT and Ready count Ran too, and not only Rest

	// Answer says that the node said this when asked about the task; otherwise it follows from older news of the node.
	// What a decider knows of itself is an answer. It is for the decider: no policy looks at it.
	Answer bool

	// Most is how many tasks like this one the node can run at a time, whatever cores it has; 0 = no such bound.
	Most float64

	// Quote is what a bid meets there, in answers to policies that are [Trader]s; of others the price is known, if any.
	grid.Quote

	// Fetch is the time in seconds until the task's inputs would be there; 0 = they are, or it is not known.
	Fetch float64

	// Option is as which option of its job the task would run there, by its number; 0 = it has none.
	Option uint8

	// Ways are all ways in which a task whose job has options could run there, for a policy that weighs them and for
	// explanations.
	Ways []Way
}

// Choice is what a policy decided.
type Choice struct {
	Act  Act
	Node grid.NodeID // of Place
	ECT  float64     // seconds, that the choice rested on; of Place
	Tied int32       // of Place by the earliest completion: from how many nearly equal ones it was drawn; else 0

	// Option is as which option of its job the task is to run, by its number, where the answer of the node does not say.
	Option uint8
}

// Charger is what a policy that adds its own placements to what nodes say also tells, for explanations.
type Charger interface {
	// Charge is the work in seconds that was placed on a node and cannot be in what it said.
	Charge(now grid.Time, s *State) float64
}

// Act is what to do with a task.
type Act uint8

// The decisions.
const (
	Wait     Act = iota // keep it, ask again later
	Place               // offer it to Choice.Node
	PollMore            // ask further nodes first
)

// OutcomeKind is what a policy is told.
type OutcomeKind uint8

// What becomes known.
const (
	Placed   OutcomeKind = iota + 1 // a task of Class was offered to Node at At
	Refused                         // Node refused a task of Class
	Finished                        // a task of Class ended on Node
	Rates                           // Node's column is now Rates, Slots
	Gone                            // Node cannot be reached any more
)

// Outcome tells a policy what became known. Rates is the caller's memory and dead after the call.
type Outcome struct {
	Kind  OutcomeKind
	At    grid.Time
	Node  grid.NodeID
	Class string
	// The whole column of Node: arrivals at it and the execution rate of one of its slots, for each
	// class that it can run; a class left out, or with Mu 0, it cannot run.
	Rates []grid.Rate
	Slots float64 // its capacity in the allocation LP; 0 reads as 1
}

var registry = map[string]New{}

// register adds a policy under its name; each policy's file does it once.
func register(name string, f New) { registry[name] = f }

// Names lists the policies, in order.
func Names() []string { return slices.Sorted(maps.Keys(registry)) }

// Make returns the named policy; a parameter may follow a colon, as in kpb:3. The configuration is not copied where it
// need not be, and must not change: a simulator's deciders can share one.
func Make(name string, c *Config, r *grid.Rand) (Policy, error) {
	base, param, has := strings.Cut(name, ":")
	f, ok := registry[base]
	if !ok {
		return nil, fmt.Errorf("policy %q: is not known: want one of %s", name, strings.Join(Names(), ", "))
	}
	if has {
		own := *c
		c = &own
		if err := c.parameter(base, param); err != nil {
			return nil, fmt.Errorf("policy %q: %w", name, err)
		}
	}
	return f(c, r), nil
}
