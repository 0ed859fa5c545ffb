package queueing

import (
	"fmt"

	"skep/balance"
	"skep/grid"
)

// outsideError reports that a policy named a node that it was not shown.
type outsideError struct {
	policy, call string
	id           grid.NodeID
}

// Error names the policy, what it did and what it may do.
func (x outsideError) Error() string {
	return fmt.Sprintf("policy %s: %s named node %s, which is not in the view that it was given: want nodes of "+
		"View.Nodes from Poll, and those that answered from Choose", x.policy, x.call, x.id.Short())
}

// within panics with an outsideError if one of the nodes that Poll named is not in the view.
func (p *push) within(e *engine, ids []grid.NodeID) {
	for k := range ids {
		if j := number(&ids[k]); j < 0 || j >= e.m || p.where[j] < 0 {
			panic(outsideError{call: "Poll", id: ids[k]})
		}
	}
}

// chosen panics with an outsideError if Choose named a node that is not there. Which nodes answered is not kept.
func (p *push) chosen(e *engine, c *balance.Choice) {
	if j := number(&c.Node); c.Act == balance.Place && (j < 0 || j >= e.m) {
		panic(outsideError{call: "Choose", id: c.Node})
	}
}

// runChecked runs to the end. That the policy names nodes outside of its view is an error.
func (e *engine) runChecked(policy string) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case outsideError:
			x.policy = policy
			err = x
		default:
			panic(x)
		}
	}()
	e.run()
	return nil
}
