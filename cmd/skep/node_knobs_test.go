package main

import (
	"slices"
	"testing"

	"skep/node"
)

func TestKnobSettings(t *testing.T) {
	n, err := applySettings(map[string]settingValue{
		"balance":   {[]string{"poll_max=8", "explore=7"}, fromFlag},
		"gossip":    {[]string{"view=64", "theta=2"}, fromFlag},
		"discovery": {[]string{"…"}, fromFile},
		"task_user": {nil, fromDefault},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := node.Defaults()
	want.Balance.PollMax, want.Gossip.View = 8, 64
	if got := n.Node; got.Balance != want.Balance || got.Gossip != want.Gossip || got.Discovery != want.Discovery ||
		got.Speed != 0 {
		t.Errorf("%+v: want all as by default but for what was set, and the speed to be measured", got.Tuning)
	}
	given := []string{"balance explore (flag)", "gossip theta (flag)", "discovery (file)"}
	if !slices.Equal(n.obsolete, given) {
		t.Errorf("obsolete %q, want %q", n.obsolete, given)
	}
}
