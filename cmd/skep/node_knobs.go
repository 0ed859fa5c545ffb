package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skep/balance/order"
	"skep/document"
	"skep/grid"
	"skep/node"
	"skep/node/coordinator/retention"
	"skep/node/p2p"
	"skep/requirement"
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

// signSettings is the setting of skep up that says of which jobs ends are signed.
var signSettings = []setting{{name: "sign", def: []string{string(p2p.SignAuto)},
	usage: "of which jobs submitted here the workers sign how tasks end: auto (of all, but while a node is connected " +
		"whose version knows no signed jobs), always or never",
	apply: func(n *nodeSettings, v []string) error { n.Sign = p2p.Signing(v[0]); return n.Sign.Check() }}}

// keepSettings is the setting of skep up that bounds what a node keeps of jobs that are over.
var keepSettings = []setting{{name: "keep", shape: pairs, apply: setKeep,
	usage: "jobs=N, age=TIME as in 30d, bytes=SIZE: how many jobs that are over this node keeps, for how long after " +
		"their ends, and with how many bytes of files (default as many as have 200,000 tasks)"}}

func setKeep(n *nodeSettings, values []string) error {
	b := retention.Bounds{}
	for _, v := range values {
		name, value, _ := strings.Cut(v, "=")
		var err error
		switch name {
		case "jobs":
			if b.Jobs, err = strconv.Atoi(value); err != nil || b.Jobs < 1 {
				err = fmt.Errorf("%.40q: want 1 or more", value)
			}
		case "age":
			if b.Age, err = document.ParseDays(value); err == nil && b.Age == 0 {
				err = fmt.Errorf("%.40q: want more than 0", value)
			}
		case "bytes":
			err = setSize(&b.Bytes, value)
		default:
			return fmt.Errorf("%.80q: want jobs=N, age=TIME or bytes=SIZE", v)
		}
		if err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
	}
	n.Node.Retention.Bounds = b
	return b.Check()
}

// orderSettings are the settings of skep up that say whose work is taken, and whose goes first.
var orderSettings = []setting{
	{name: "order",
		usage: "whose work goes first, of what waits here: " + strings.Join(order.Names(), ", "),
		def:   []string{order.Defaults().Rule}, apply: func(n *nodeSettings, v []string) error {
			n.Node.Order.Rule = v[0]
			return checkOrder(n, "order", v[0])
		}},
	{name: "max_bid", usage: "highest priority of a job submitted here; at the queue, higher ones count as this one",
		def: []string{order.Defaults().MaxBid.String()},
		apply: func(n *nodeSettings, v []string) (err error) {
			n.Node.Order.MaxBid, err = grid.ParseBid(v[0])
			return err
		}},
	{name: "ageing", usage: "time in which the bid of what waits rises to max_bid under order fair, as in 4h",
		def: []string{order.Defaults().Ageing.String()}, apply: setAgeing},
	{name: "preempt", usage: fmt.Sprintf("whether a waiting task that bids more has a running one stopped in place: "+
		"never; suspend, from %g times its bid on; suspend:F, from F times on; migrate, migrate:F: and that moves to "+
		"another node if it writes checkpoints and is done there sooner", order.Suspending),
		def: []string{"never"}, apply: setPreempt},
	{name: "reallocate", usage: "when the cores are allocated anew, so that what is worth most runs: never; TICK, " +
		"at each, as 10m; or TICK,LEAST, also when a task comes, so long after the last time at the soonest, as 10m,30s. " +
		"Tasks are stopped in place, and with preempt migrate may go on elsewhere", def: []string{"never"},
		apply: func(n *nodeSettings, v []string) error {
			if err := n.Node.Order.Reallocate.SetTimes(v[0]); err != nil {
				return err
			}
			return checkOrder(n, "reallocate", v[0])
		}},
	{name: "reallocate_utility", usage: "what a task is worth when the cores are allocated anew: a utility function, " +
		"as of policy utility", def: []string{"balanced"}, apply: func(n *nodeSettings, v []string) error {
		return n.Node.Order.Reallocate.SetUtility(v[0])
	}},
	{name: "sharing", usage: fmt.Sprintf("whether tasks share the cores: exclusive, each has those that it needs; "+
		"proportional, all run at once, by their bids, as long as each keeps %g of its speed; proportional:S, S of it",
		order.Sharing), def: []string{"exclusive"}, apply: setSharing},
	{name: "offer_window", usage: fmt.Sprintf("for how long offers of tasks with options are gathered at most where "+
		"several owners want the same cores, and the worth of all decides: 0s (the first has them) to %v",
		order.LongestWindow),
		def: []string{order.LongestWindow.String()},
		apply: func(n *nodeSettings, v []string) (err error) {
			if n.Node.Order.OfferWindow, err = time.ParseDuration(v[0]); err != nil {
				return fmt.Errorf("%.40q: want a time, as in 20ms", v[0])
			}
			return checkOrder(n, "offer_window", v[0])
		}},
	{name: "accept", usage: "expression that must hold of a job whose tasks are to run here, as in " +
		`'job.submitter != "guest" && (time.hour >= 18 || job.cpu <= 1)'`,
		apply: func(n *nodeSettings, v []string) (err error) {
			n.Node.Accept, err = requirement.Parse(v[0], requirement.Accept)
			return err
		}},
}

func setSharing(n *nodeSettings, v []string) (err error) {
	if err = n.Node.Order.SetSharing(v[0]); err != nil {
		return err
	}
	return checkOrder(n, "sharing", v[0])
}

func setPreempt(n *nodeSettings, v []string) (err error) {
	if err = n.Node.Order.SetPreempt(v[0]); err != nil {
		return err
	}
	return checkOrder(n, "preempt", v[0])
}

// checkOrder checks a setting with those before it. The caller names the setting, as the problem may itself.
func checkOrder(n *nodeSettings, name, value string) error {
	err := n.Node.Order.Check()
	if err == nil {
		return nil
	}
	if what, same := strings.CutPrefix(err.Error(), name+" "); same {
		return errors.New(what)
	}
	return fmt.Errorf("%s: %w", value, err)
}

func setAgeing(n *nodeSettings, v []string) (err error) {
	const most = 1000 * time.Hour
	if n.Node.Order.Ageing, err = time.ParseDuration(v[0]); err != nil || n.Node.Order.Ageing < time.Second ||
		n.Node.Order.Ageing > most {
		return fmt.Errorf("%.40q: want 1s to %v", v[0], most)
	}
	return nil
}

func setStrikes(n *nodeSettings, v []string) error {
	x, err := strconv.Atoi(v[0])
	if err != nil || x < 0 || x > node.MaxStrikes {
		return fmt.Errorf("%.40q: want 0 to %d", v[0], node.MaxStrikes)
	}
	n.Node.Strikes = x
	return nil
}

func setReplaceAfter(n *nodeSettings, v []string) (err error) {
	if n.Node.ReplaceAfter, err = time.ParseDuration(v[0]); err != nil || n.Node.ReplaceAfter < 0 {
		return fmt.Errorf("%.40q: want a time, or 0s for never", v[0])
	}
	return nil
}
