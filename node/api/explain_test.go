package api

import (
	"encoding/json"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// It is said of a task that its deadline cannot be met as long as it waits, and if that has come true.
func TestTooLate(t *testing.T) {
	late := grid.Trace{At: grid.Time(time.Second), What: grid.TraceWait, Refusal: grid.Refusal{Why: grid.WhyDeadline}}
	chosen := grid.Trace{At: grid.Time(2 * time.Second), What: grid.TraceChosen}
	ended := func(cause grid.Cause) node.TaskView {
		return node.TaskView{State: grid.Ended, Result: &grid.Result{Cause: cause}, Traces: []grid.Trace{late}}
	}
	for _, x := range []struct {
		name string
		task node.TaskView
		want bool
	}{
		{"it waits at its worker", node.TaskView{State: grid.Placed, Traces: []grid.Trace{chosen, late}}, true},
		{"it has a worker again", node.TaskView{State: grid.Placed, Traces: []grid.Trace{late, chosen}}, false},
		{"it runs after all", node.TaskView{State: grid.Placed, Runs: true, Traces: []grid.Trace{late}}, false},
		{"it ended in time", ended(grid.Exited), false},
		{"it ended too late", ended(grid.Missed), true},
		{"it was cancelled", ended(grid.Cancelled), false},
	} {
		if got := tooLateOf(&x.task, grid.Wall{}); (got != nil) != x.want {
			t.Errorf("%s: %v, want %t", x.name, got, x.want)
		}
	}
}

// A step says what was expected of each option at a node, with its utility and its price where there is one, and a
// refusal says for which prices: that of the same time and node.
func TestStepsSayOptionsAndPrices(t *testing.T) {
	id, at := grid.NodeID{1}, grid.Time(time.Second)
	x := taskTraces{traces: []grid.Trace{{At: at, What: grid.TraceChosen, Node: id},
		{At: 2 * at, What: grid.TraceRefused, Node: id, Refusal: grid.Refusal{Why: grid.WhyWorth}},
		{At: 3 * at, What: grid.TraceRefused, Node: id, Refusal: grid.Refusal{Why: grid.WhyDrain}}}}
	prices := &grid.Prices{CPU: 2, Worth: 10, Offers: 5, Counted: []grid.UnitPrice{{Kind: "gpu", Price: 7}},
		Left: grid.Resources{CPU: 3 * grid.CPU, Counts: "gpu=1"}}
	steps := x.steps([]*grid.Decision{
		{At: at, Nodes: []grid.Considered{{Node: id, Chosen: true, Option: 2, Options: []grid.WeighedOption{
			{Number: 1, Ready: time.Second, ECT: 3 * time.Second, Judged: true, Utility: 0.5},
			{Number: 2, ECT: 2 * time.Second, Price: 4, Worth: 10}}}}},
		{At: 2 * at, Why: grid.VerdictPriced, Prices: prices, Nodes: []grid.Considered{{Node: id,
			Options: []grid.WeighedOption{{Number: 2, Price: 4, Worth: 10}}}}},
	}, nil, grid.Wall{})
	for what, of := range map[string]struct {
		got  any
		want string
	}{
		"options": {steps[0].Nodes[0].Options, `[{"option":0,"ready_seconds":1,"ect_seconds":3,"utility":0.5},` +
			`{"option":1,"ready_seconds":0,"ect_seconds":2,"price":4,"worth":10}]`},
		"prices": {steps[1].Prices, `{"cpu":2,"resources":{"gpu":7},"worth":10,"left":{"cpus":3,"resources":{"gpu":1}},"offers":5,` +
			`"options":[{"option":1,"price":4,"worth":10}]}`},
		"a refusal for another reason": {steps[2].Prices, `null`},
	} {
		if got, _ := json.Marshal(of.got); string(got) != of.want {
			t.Errorf("%s: %s\nwant %s", what, got, of.want)
		}
	}
}
