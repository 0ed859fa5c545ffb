package balance

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skep/grid"
)

// Whatever a policy is told, asked and answered: it asks only nodes of the view, each once, somebody if it
// is one that asks and there is anybody; it places only on nodes among the answers; it never panics; and
// the same calls give the same decisions.
func TestAnyPolicyAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(append(Names(), "kpb:3", "kpb:40%", "cb_rr:past", "cb_frr:class", "workqueue:2")).Draw(t,
			"policy")
		c := rapid.SampledFrom([]Config{{}, Node(), {PollMax: 2, NearTie: 1, Debit: true, Classes: 1, Explore: 1,
			KPB: 2}}).Draw(t, "config")
		p, q := mustMakeRapid(t, name, c), mustMakeRapid(t, name, c)
		now := grid.Time(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "later")))
			if rapid.Bool().Draw(t, "told") {
				o := anyOutcome(t, now)
				p.Note(o)
				q.Note(o)
				continue
			}
			decide(t, name, now, p, q)
		}
	})
}

func mustMakeRapid(t *rapid.T, name string, c Config) Policy {
	p, err := Make(name, &c, grid.NewRand(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func decide(t *rapid.T, name string, now grid.Time, p, q Policy) {
	v := View{Self: anyNode(t), Home: rapid.SampledFrom(anySites).Draw(t, "home"), Nodes: anyStates(t)}
	tk := &grid.Task{Class: anyClass(t),
		ID: grid.AttemptID{Task: grid.TaskID{Index: uint32(rapid.IntRange(0, 2).Draw(t, "task"))}}}
	ids := p.Poll(now, tk, v, nil)
	if again := q.Poll(now, tk, v, nil); !slices.Equal(ids, again) {
		t.Fatalf("%s asked %v, and then with the same input %v", name, ids, again)
	}
	classy := strings.HasPrefix(name, "cb") // ask those that may be kept for the class
	silent := name == "met" || name == "lp_static" || name == "random" || name == "local"
	if silent && len(ids) > 0 || !silent && !classy && len(ids) == 0 && len(v.Nodes) > 0 {
		t.Fatalf("%s asks %d of %d nodes", name, len(ids), len(v.Nodes))
	}
	for k, id := range ids {
		if find(v, id) < 0 || slices.Contains(ids[:k], id) {
			t.Fatalf("%s asks %v: not in the view, or twice", name, id[1])
		}
	}
	answers := v.Nodes
	if len(ids) > 0 {
		answers = nil
		for _, id := range ids {
			if rapid.Bool().Draw(t, "answers") {
				answers = append(answers, anyState(t, id))
			}
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "vanishes") == 0 && len(answers) > 0 {
		o := Outcome{Kind: Gone, At: now, Node: answers[0].Node}
		p.Note(o)
		q.Note(o)
	}
	c := p.Choose(now, tk, answers)
	if again := q.Choose(now, tk, answers); c != again && !math.IsNaN(c.ECT) {
		t.Fatalf("%s chose %v, and then with the same input %v", name, c, again)
	}
	switch c.Act {
	case Place:
		if !slices.ContainsFunc(answers, func(s State) bool { return s.Node == c.Node }) {
			t.Fatalf("%s placed on %v, which did not answer", name, c.Node[1])
		}
		o := Outcome{Kind: Placed, At: now, Node: c.Node, Class: tk.Class}
		p.Note(o)
		q.Note(o)
	case PollMore:
		if len(v.Nodes) == 0 {
			t.Fatalf("%s wants to ask more where nobody is", name)
		}
	case Wait:
	default:
		t.Fatalf("%s: act %d", name, c.Act)
	}
}

func anyNode(t *rapid.T) grid.NodeID { return nodeID(rapid.IntRange(0, 7).Draw(t, "node")) }

func anyClass(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "c", "", grid.OtherClass}).Draw(t, "class")
}

func anyFloat(t *rapid.T, what string) float64 {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), -1, math.MaxFloat64, 5e-324, 1e-9}),
		rapid.Float64Range(0, 100)).Draw(t, what)
}

func anyState(t *rapid.T, id grid.NodeID) State {
	return State{Node: id, ECT: anyFloat(t, "ect"), Ready: anyFloat(t, "ready"),
		RTT:   time.Duration(rapid.Int64Range(-10, 1e9).Draw(t, "rtt")),
		Heard: grid.Time(rapid.Int64().Draw(t, "heard")), Site: rapid.SampledFrom(anySites).Draw(t, "site"),
		Waiting: rapid.Int32().Draw(t, "waiting"), Running: rapid.Int32().Draw(t, "running"), Ran: anyFloat(t, "ran"),
		Rest: anyFloat(t, "rest"), Whole: rapid.Bool().Draw(t, "whole"), Fetch: anyFloat(t, "fetch")}
}

var anySites = []*Site{nil, {}, {Class: "a"}, {Class: "b", Cluster: "x"}, {Cluster: "x", Closed: true},
	{Class: "a", Cluster: "y"}}

func anyStates(t *rapid.T) []State {
	var out []State
	for j := range 8 {
		if rapid.Bool().Draw(t, "there") {
			out = append(out, anyState(t, nodeID(j)))
		}
	}
	return out
}

func anyOutcome(t *rapid.T, now grid.Time) Outcome {
	o := Outcome{Kind: OutcomeKind(rapid.IntRange(0, 6).Draw(t, "kind")), At: now, Node: anyNode(t), Class: anyClass(t),
		Slots: anyFloat(t, "slots")}
	for range rapid.IntRange(0, 3).Draw(t, "rates") {
		o.Rates = append(o.Rates, grid.Rate{Class: anyClass(t), Alpha: anyFloat(t, "alpha"), Mu: anyFloat(t, "mu")})
	}
	return o
}
