package node_test

import (
	"testing"

	"skep/grid"
	"skep/node"
)

// A tuning is checked also where nodes share what they are made with, by the first and by those after it.
func TestTuningsAreChecked(t *testing.T) {
	var shared node.Scratch
	for _, c := range []struct {
		policy string
		view   int
		ok     bool
	}{
		{"lpas_dec", 256, true}, {"kpb:3", 256, true}, {"kpb:x", 256, false}, {"unheard_of", 256, false},
		{"lpas_dec", 1, false}, {"lpas_dec", 256, true}, {"unheard_of", 256, false},
	} {
		cfg := node.Defaults()
		cfg.Self, cfg.Capacity, cfg.Scratch = grid.NodeID{1}, grid.Resources{CPU: grid.CPU}, &shared
		cfg.Policy, cfg.Gossip.View = c.policy, c.view
		if err := cfg.Check(); (err == nil) != c.ok {
			t.Errorf("policy %s, view %d: Check returns %v", c.policy, c.view, err)
		}
		if _, err := node.New(cfg, grid.Wall{}); (err == nil) != c.ok {
			t.Errorf("policy %s, view %d: New returns %v", c.policy, c.view, err)
		}
	}
}
