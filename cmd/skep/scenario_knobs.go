package main

import (
	"errors"
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

// knobs returns the settings of the simulated nodes, by section of the scenario and name.
func knobs(c *node.Config) map[string]map[string]any {
	b, g, d := &c.Balance, &c.Gossip, &c.Discovery
	return map[string]map[string]any{
		"node": {"lease": &c.Lease, "overdue": &c.Overdue, "strikes": &c.Strikes, "window": &c.Window, "poll_floor": &c.PollFloor, "poll_cap": &c.PollCap, "memory": &c.Memory, "keep": &c.Keep},
		"balance": {"poll_max": &b.PollMax, "resolve": &b.Resolve, "explore": &b.Explore, "near_tie": &b.NearTie, "debit": &b.Debit, "rest": &b.Rest, "availability": &b.Availability,
			"classes": &b.Classes, "kpb": &b.KPB},
		"gossip": {"neighbours": &g.Neighbours, "view": &g.View, "near": &g.Near, "far": &g.Far, "p0": &g.P0, "decay": &g.Decay, "pmin": &g.PMin,
			"beta": &g.Beta, "weight_scarce": &g.WeightScarce, "weight_normal": &g.WeightNormal, "weight_plentiful": &g.WeightPlentiful,
			"gain_load": &g.GainLoad, "reach": &g.Reach, "potential": &g.Potential, "theta": &g.Theta, "target": &g.Target, "hold": &g.Hold,
			"backlog_scale": &g.BacklogScale, "refresh": &g.Refresh, "expire": &g.Expire, "tmax": &g.Tmax, "min_gap": &g.MinGap,
			"look": &g.Look, "exchange": &g.Exchange, "forget": &g.Forget},
		"discovery": {"hops": &d.Hops, "walkers": &d.Walkers, "retries": &d.Retries, "deadline": &d.Deadline, "call_delay": &d.CallDelay,
			"call_wait": &d.CallWait, "meeting": &d.Meeting, "call_gap": &d.CallGap, "call_max": &d.CallMax, "seen": &d.Seen, "seen_max": &d.SeenMax,
			"searches": &d.Searches, "rate": &d.Rate, "burst": &d.Burst, "call_hold": &d.CallHold, "explore": &d.Explore, "age": &d.Age,
			"keys": &d.Keys, "load": &d.Load, "best_share": &d.BestShare, "reverse_path": &d.Reverse, "ads": &d.Ads},
	}
}

// knobs parses the policy, the rules and the sections of settings.
func (f *scenarioFile) knobs(e entry) {
	c := &f.s.Node
	switch e.key {
	case "policy":
		f.parsed(e, func(t string) error {
			if _, err := balance.Make(t, &balance.Config{}, nil); err != nil {
				return fmt.Errorf("%.40q: want one of %s, where kpb:3 asks three machines", t, strings.Join(balance.Names(), ", "))
			}
			c.Policy = t
			return nil
		})
		return
	case "rule":
		f.parsed(e, func(t string) error {
			rule, err := ruleOf(t)
			if err == nil {
				c.Gossip.Rule = rule
			}
			return err
		})
		return
	case "rates":
		f.parsed(e, func(t string) error {
			if f.s.Given = t == "given"; !f.s.Given && t != "measured" {
				return fmt.Errorf("%.40q: want measured, or given: each node is told what the scenario says", t)
			}
			return nil
		})
		return
	case "forward":
		f.parsed(e, func(t string) error {
			if !slices.Contains(discovery.Forwards(), t) {
				return fmt.Errorf("%q: want one of %s", t, strings.Join(discovery.Forwards(), ", "))
			}
			c.Discovery.Forward = t
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
		f.parsed(k, func(t string) error { return setKnob(section[k.key], t) })
	}
}

// ruleOf checks a dissemination rule.
func ruleOf(t string) (string, error) {
	if err := gossip.CheckRule(t); err != nil {
		return t, errors.New(strings.TrimPrefix(err.Error(), "gossip: rule "))
	}
	return t, nil
}

// setKnob parses and sets a value.
func setKnob(dst any, t string) (err error) {
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
