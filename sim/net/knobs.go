package net

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/document"
	"skep/gossip"
	"skep/node"
)

// Knob is a setting of a node that a file can set.
type Knob struct{ at any }

// Knobs returns the settings of a node that a section of a scenario may have, by name. The sections are node, balance,
// gossip and discovery.
func Knobs(c *node.Config, section string) map[string]Knob {
	b, g, d := &c.Balance, &c.Gossip, &c.Discovery
	sections := map[string]map[string]any{
		"node": {"lease": &c.Lease, "strikes": &c.Strikes, "memory": &c.ArrivalMemory, "members": &c.Members,
			"pull": &c.Pull, "mapping_interval": &c.MappingInterval, "mapping_count": &c.MappingCount},
		"balance": {"poll_max": &b.PollMax, "resolve": &b.Resolve, "explore": &b.Explore, "near_tie": &b.NearTie,
			"debit": &b.Debit, "rest": &b.Rest, "availability": &b.Availability, "classes": &b.Classes,
			"bandwidth": &b.Bandwidth},
		"gossip": {"neighbours": &g.Neighbours, "view": &g.View, "near": &g.Near, "p0": &g.P0, "pmin": &g.PMin,
			"beta": &g.Beta, "weight_scarce": &g.WeightScarce, "weight_normal": &g.WeightNormal,
			"weight_plentiful": &g.WeightPlentiful, "gain_load": &g.GainLoad, "reach": &g.Reach, "potential": &g.Potential,
			"refresh": &g.Refresh, "expire": &g.Expire, "tmax": &g.Tmax},
		"discovery": {"hops": &d.Hops, "walkers": &d.Walkers, "retries": &d.Retries, "deadline": &d.Deadline,
			"explore": &d.Explore, "age": &d.Age, "load": &d.Load, "best_share": &d.BestShare, "reverse_path": &d.Reverse,
			"ads": &d.Ads},
	}
	knobs := make(map[string]Knob)
	for name, at := range sections[section] {
		knobs[name] = Knob{at}
	}
	return knobs
}

// Set parses a value and sets it. Its error says what is allowed.
func (k Knob) Set(t string) (err error) {
	switch p := k.at.(type) {
	case *int:
		if *p, err = strconv.Atoi(t); err != nil || *p < 0 {
			return fmt.Errorf("%.40q: want a whole number, 0 or more", t)
		}
	case *float64:
		if *p, err = strconv.ParseFloat(t, 64); err != nil || !(*p >= 0) {
			return fmt.Errorf("%.40q: want a number, 0 or more", t)
		}
	case *bool:
		*p, err = document.ParseBool(t)
		return err
	case *time.Duration:
		return parseSpan(t, p)
	default:
		panic(fmt.Sprintf("net: a knob of type %T", k.at))
	}
	return nil
}

// knobs parses the policy, the rules and the sections of settings.
func (f *scenarioFile) knobs(e document.Entry) {
	c := &f.s.Node
	switch e.Key {
	case "policy":
		f.Value(e, func(t string) error {
			if _, err := balance.Make(t, &balance.Config{}, nil); err != nil {
				return fmt.Errorf("%.40q: want one of %s, where kpb:3 asks three machines", t, strings.Join(balance.Names(), ", "))
			}
			c.Policy = t
			return nil
		})
		return
	case "order":
		f.Value(e, func(t string) error {
			c.Order.Rule = t
			return c.Order.Check()
		})
		return
	case "preempt":
		f.Value(e, c.Order.SetPreempt)
		return
	case "reallocate":
		f.Value(e, c.Order.Reallocate.SetTimes)
		return
	case "reallocate_utility":
		f.Value(e, c.Order.Reallocate.SetUtility)
		return
	case "sharing":
		f.Value(e, c.Order.SetSharing)
		return
	case "rule":
		f.Value(e, func(t string) error {
			if err := CheckRule(t); err != nil {
				return err
			}
			c.Gossip.Rule = t
			return nil
		})
		return
	case "rates":
		f.Value(e, func(t string) error {
			if f.s.Given = t == "given"; !f.s.Given && t != "measured" {
				return fmt.Errorf("%.40q: want measured, or given: each node is told what the scenario says", t)
			}
			return nil
		})
		return
	case "forward":
		f.Value(e, func(t string) error {
			if !slices.Contains(discovery.Forwards(), t) {
				return fmt.Errorf("%q: want one of %s", t, strings.Join(discovery.Forwards(), ", "))
			}
			c.Discovery.Forward = t
			return nil
		})
		return
	}
	section := Knobs(c, e.Key)
	for _, k := range f.MappingBeside(e.Value, e.Key, obsoleteKnobs[e.Key], slices.Sorted(maps.Keys(section))...) {
		if knob, ok := section[k.Key]; ok {
			f.Value(k, knob.Set)
		} else {
			f.s.Obsolete = append(f.s.Obsolete, e.Key+"."+k.Key)
		}
	}
}

// CheckRule checks a dissemination rule, for a file or a flag named rule.
func CheckRule(t string) error {
	if err := gossip.CheckRule(t); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "gossip: rule "))
	}
	return nil
}

// obsoleteKnobs were knobs of the last version, by section. A file may still have them: their values are not looked at,
// and the scenario lists them. cmd/skep/DESIGN.md says why each went.
var obsoleteKnobs = map[string][]string{
	"node":    {"keep", "overdue", "poll_cap", "poll_floor", "window"},
	"balance": {"kpb"},
	"gossip": {"backlog_scale", "decay", "exchange", "far", "forget", "hold", "look", "min_gap", "target",
		"theta"},
	"discovery": {"burst", "call_delay", "call_gap", "call_hold", "call_max", "call_wait", "keys", "meeting", "rate",
		"searches", "seen", "seen_max"},
}
