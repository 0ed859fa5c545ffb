package main

import (
	"testing"
	"time"

	"skep/node"
)

func TestKnobSettings(t *testing.T) {
	n, err := applySettings(map[string]settingValue{
		"balance":   {[]string{"poll_max=8"}, fromFlag},
		"gossip":    {[]string{"view=64", "theta=0.2"}, fromFlag},
		"discovery": {[]string{"explore=0.1", "age=5m", "load=0"}, fromFile},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := node.Defaults()
	want.Balance.PollMax, want.Gossip.View, want.Gossip.Theta = 8, 64, 0.2
	want.Discovery.Explore, want.Discovery.Age, want.Discovery.Load = 0.1, 5*time.Minute, 0
	if got := n.Node; got.Balance != want.Balance || got.Gossip != want.Gossip || got.Discovery != want.Discovery || got.Speed != 0 {
		t.Errorf("%+v: want all as by default but for what was set, and the speed to be measured", got.Tuning)
	}
}
