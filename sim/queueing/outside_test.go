package queueing

import (
	"strings"
	"testing"

	"skep/balance"
	"skep/grid"
)

// stray is a policy that names nodes of its own.
type stray struct {
	balance.Policy
	poll, choose grid.NodeID
}

func (s stray) Poll(_ grid.Time, _ *grid.Task, v balance.View, dst []grid.NodeID) []grid.NodeID {
	if !s.poll.IsZero() {
		return append(dst, s.poll)
	}
	return append(dst, v.Nodes[0].Node)
}

func (s stray) Choose(grid.Time, *grid.Task, []balance.State) balance.Choice {
	return balance.Choice{Act: balance.Place, Node: s.choose}
}

func (stray) Note(balance.Outcome) {}

// A policy that names nodes outside of its view is refused with its name and what it did, with and without delay.
func TestPolicyOutsideOfItsView(t *testing.T) {
	for _, delay := range []float64{0, 0.1} {
		for want, policy := range map[string]stray{
			"policy mine: Poll named node":   {poll: grid.NodeID{1, 2, 3}},
			"policy mine: Choose named node": {choose: grid.NodeID{0x80}},
		} {
			s := system2A()
			s.Delay = delay
			e := mustEngine(t, s, "mct")
			e.push.policies[0] = policy
			if err := e.runChecked("mine"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("delay %g: %v: want %q", delay, err, want)
			}
		}
	}
}
