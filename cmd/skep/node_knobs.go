package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skep/sim/net"
)

// setKnobs returns a function that parses NAME=VALUE of a section that a scenario of skep sim net has too, under the
// same names. Walkers and reverse_path are settings of their own.
func setKnobs(section string) func(n *nodeSettings, values []string) error {
	return func(n *nodeSettings, values []string) error {
		c := &n.Node
		known := net.Knobs(c, section)
		delete(known, "walkers")
		delete(known, "reverse_path")
		for _, v := range values {
			name, value, _ := strings.Cut(v, "=")
			knob, ok := known[name]
			if !ok {
				return fmt.Errorf("%.80q: want NAME=VALUE, and a name of %s", v, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			}
			if err := knob.Set(value); err != nil {
				return fmt.Errorf("%s %w", name, err)
			}
		}
		var err error
		switch section {
		case "balance":
			err = c.Balance.Check()
		case "gossip":
			err = c.Gossip.Check()
		case "discovery":
			err = c.Discovery.Check()
		}
		if err != nil {
			return errors.New(strings.ReplaceAll(err.Error(), section+": ", ""))
		}
		return nil
	}
}
