package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/gossip"
	"skep/node"
)

// knobs are the settings of the simulated nodes, by the section of the scenario and by name.
func knobs(c *node.Config) map[string]map[string]any {
	b, g, d := &c.Balance, &c.Gossip, &c.Discovery
	return map[string]map[string]any{
		"node": {"lease": &c.Lease, "window": &c.Window, "poll_floor": &c.PollFloor, "poll_cap": &c.PollCap, "memory": &c.Memory, "keep": &c.Keep},
		"balance": {"poll_max": &b.PollMax, "resolve": &b.Resolve, "explore": &b.Explore, "near_tie": &b.NearTie, "debit": &b.Debit,
			"classes": &b.Classes, "kpb": &b.KPB},
		"gossip": {"neighbours": &g.Neighbours, "view": &g.View, "p0": &g.P0, "decay": &g.Decay, "pmin": &g.PMin, "theta": &g.Theta,
			"backlog_scale": &g.BacklogScale, "refresh": &g.Refresh, "expire": &g.Expire, "tmax": &g.Tmax, "min_gap": &g.MinGap,
			"look": &g.Look, "exchange": &g.Exchange, "forget": &g.Forget},
		"discovery": {"hops": &d.Hops, "walkers": &d.Walkers, "retries": &d.Retries, "deadline": &d.Deadline, "call_delay": &d.CallDelay,
			"call_wait": &d.CallWait, "call_gap": &d.CallGap, "call_max": &d.CallMax, "seen": &d.Seen, "seen_max": &d.SeenMax,
			"searches": &d.Searches, "rate": &d.Rate, "burst": &d.Burst},
	}
}

// knobs reads the policy, the rules and the sections of settings.
func (f *netFile) knobs(e entry) {
	c := &f.s.Node
	switch e.key {
	case "policy":
		f.parsed(e, func(t string) error {
			c.Policy = t
			if _, err := balance.Make(t, balance.Config{}, nil); err != nil {
				return fmt.Errorf("%.40q: want one of %s, where kpb:3 asks three machines", t, strings.Join(balance.Names(), ", "))
			}
			return nil
		})
		return
	case "rule":
		f.parsed(e, func(t string) error {
			c.Gossip.Rule = t
			for _, name := range strings.Split(t, "*") {
				if !slices.Contains(gossip.Rules(), strings.TrimSpace(name)) {
					return fmt.Errorf("%q: want %s, joined by *", t, strings.Join(gossip.Rules(), ", "))
				}
			}
			return nil
		})
		return
	case "forward":
		f.parsed(e, func(t string) error {
			c.Discovery.Forward = t
			if !slices.Contains(discovery.Forwards(), t) {
				return fmt.Errorf("%q: want one of %s", t, strings.Join(discovery.Forwards(), ", "))
			}
			return nil
		})
		return
	}
	section := knobs(c)[e.key]
	names := make([]string, 0, len(section))
	for name := range section {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, k := range f.mapping(e.value, e.key, names...) {
		f.parsed(k, func(t string) error { return turn(section[k.key], t) })
	}
}

// turn sets a knob.
func turn(dst any, t string) (err error) {
	switch p := dst.(type) {
	case *int:
		if *p, err = strconv.Atoi(t); err != nil || *p < 0 {
			return fmt.Errorf("%.40q: want a whole number, 0 or more", t)
		}
	case *float64:
		if *p, err = strconv.ParseFloat(t, 64); err != nil || !(*p >= 0) {
			return fmt.Errorf("%.40q: want a number, 0 or more", t)
		}
	case *bool:
		*p, err = strconv.ParseBool(t)
		return badBool(err)
	case *time.Duration:
		return parseSpan(t, p)
	default:
		panic(fmt.Sprintf("skep: a knob of type %T", dst))
	}
	return nil
}
