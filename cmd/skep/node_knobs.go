package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"skep/sim/net"
)

// setKnobs returns a function that parses NAME=VALUE of a section that a scenario of skep sim net has too, where NAME
// is one of names.
func setKnobs(section string, names ...string) func(n *nodeSettings, values []string) error {
	return func(n *nodeSettings, values []string) error {
		c := &n.Node
		known := net.Knobs(c, section)
		for _, v := range values {
			name, value, _ := strings.Cut(v, "=")
			if !slices.Contains(names, name) {
				return fmt.Errorf("%.80q: want NAME=VALUE, and a name of %s", v, strings.Join(names, ", "))
			}
			if err := known[name].Set(value); err != nil {
				return fmt.Errorf("%s %w", name, err)
			}
		}
		var err error
		switch section {
		case "balance":
			err = c.Balance.Check()
		case "gossip":
			err = c.Gossip.Check()
		}
		if err != nil {
			return errors.New(strings.ReplaceAll(err.Error(), section+": ", ""))
		}
		return nil
	}
}
