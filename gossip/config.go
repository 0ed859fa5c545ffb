package gossip

import (
	"errors"
	"fmt"
	"time"

	"skep/grid"
)

// Config configures the neighbour set and the dissemination of ads.
type Config struct {
	// Neighbours is how many neighbours a node looks for, 2 to 32; default 8: a random graph of that degree stays
	// connected when half of its nodes fail. Up to twice as many are accepted when others choose this node. Raising it
	// costs messages in proportion and shortens paths; below 4 the overlay may split.
	Neighbours int

	// View is how many other nodes are remembered, more than 2×Neighbours, to 65536; default 256. Raising it costs
	// about 150 bytes and an ad each, and gives the policies more choice. It should exceed the number of connections
	// that the driver allows: of connected peers beyond it only the latest are known.
	View int

	// Rule is the dissemination rule: names joined by "*", all of which must agree, some with a parameter after
	// a colon; see Rules. Default "probabilistic*change_sensitive".
	Rule string

	// Near is the radius of the rule neighbourhood and the least one of distinctive, in hops, 1 to 64; default 3.
	// Raising it makes all nodes known farther away.
	Near int

	// P0 is the initial probability of the rule probabilistic, more than 0 to 1; default 1.
	P0 float64

	// PMin is the least probability, 0 to 1; default 0.1, so that news reaches every node eventually.
	PMin float64

	// Beta is the exponent with which the rule probabilistic falls with the round-trip time, more than 0 to 8; default
	// 1. Raising it makes the boundary of the dissemination sharper.
	Beta float64

	// WeightScarce, WeightNormal and WeightPlentiful are the chances of the rule prioritised for resources that at
	// most a twentieth, fewer than half, and half of the known nodes equal or better, 0 to 1; default 1, 0.5, 0.2.
	WeightScarce, WeightNormal, WeightPlentiful float64

	// GainLoad is how much a load below that of the vicinity raises the probability of the rule prioritised, 0 to 10;
	// default 1: an idle node among busy ones is forwarded twice as often. 0 ignores loads.
	GainLoad float64

	// Reach is the round-trip time over which a node's worth falls to 1/e in the rule prioritised:potential; default
	// 20 ms, a country. Raising it makes capacity known farther away.
	Reach time.Duration

	// Potential is the least worth of a node there, as a share of the mean of those known as near, more than 0 to 1;
	// default 0.1. Lowering it makes all known farther away.
	Potential float64

	// BacklogScale is the backlog that counts as one half in Delta; default 1 min, about the wait beyond which longer
	// ones make no difference. Raising it makes short queues invisible.
	BacklogScale time.Duration

	// Refresh is the time after which an unchanged own ad is sent, jittered by a tenth; default 30 s. It is the
	// heartbeat of an idle grid: raising it saves messages of idle nodes and keeps dead nodes known for longer.
	Refresh time.Duration

	// Expire is the time without a new ad after which an unconnected node is removed; default 6×Refresh, at least
	// 3×Refresh. Lowering it loses far nodes, whose ads come rarely.
	Expire time.Duration

	// Tmax is the time after which the rule change_sensitive forwards an ad that has not changed enough; default
	// Expire/2, so that two attempts fit before the node would be removed.
	Tmax time.Duration

	// MinGap is the least time between two own ads and between two digests to one neighbour; default 1 s. Changes in
	// between are sent together. Raising it saves messages and adds as much delay at every hop.
	MinGap time.Duration

	// Hold is the least time between two own ads of which the second reverts the first; default 2 s, at least MinGap.
	// Raising it saves the messages of an alternating load, and reports the end of a load later.
	Hold time.Duration

	// Look is how often the neighbour set is reviewed after changes, and how long a neighbour may take to connect;
	// default 60 s. Lowering it adapts faster to round-trip times and dials more often.
	Look time.Duration

	// Exchange is how many ads of near nodes a new connection gets besides the own one, 0 to 63; default 32. Raising
	// it makes joins and healed partitions know more at once.
	Exchange int

	// Forget is the time after which an unreachable neighbour is dropped without a replacement; default 24 h, at least
	// Expire: an isolated node keeps trying for that long.
	Forget time.Duration
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		Neighbours: 8, View: 256, Rule: "probabilistic*change_sensitive", Near: 3,
		P0: 1, PMin: 0.1, Beta: 1, WeightScarce: 1, WeightNormal: 0.5, WeightPlentiful: 0.2,
		GainLoad: 1, Reach: 20 * time.Millisecond, Potential: 0.1, BacklogScale: time.Minute,
		Refresh: 30 * time.Second, Expire: 180 * time.Second, Tmax: 90 * time.Second,
		MinGap: time.Second, Hold: 2 * time.Second, Look: time.Minute, Exchange: 32, Forget: 24 * time.Hour,
	}
}

// Check reports all problems of c, each with its field, its value and what is allowed.
func (c Config) Check() error {
	var all []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Errorf("gossip: "+format, args...))
		}
	}
	want(c.Neighbours >= 2 && c.Neighbours <= 32, "neighbours %d: want 2 to 32", c.Neighbours)
	want(c.View > 2*c.Neighbours && c.View <= 65536, "view %d: want more than 2×neighbours, %d, at most 65536", c.View,
		2*c.Neighbours)
	if err := CheckRule(c.Rule); err != nil {
		all = append(all, err)
	}
	c.checkRule(want)
	want(c.MinGap > 0, "min_gap %v: want more than 0", c.MinGap)
	want(c.Refresh >= c.MinGap && c.Refresh <= 24*time.Hour, "refresh %v: want min_gap, %v, to 24h", c.Refresh, c.MinGap)
	want(c.Expire >= 3*c.Refresh, "expire %v: want at least 3×refresh, %v", c.Expire, 3*c.Refresh)
	want(c.Tmax > 0 && c.Tmax <= c.Expire, "tmax %v: want more than 0, at most expire, %v", c.Tmax, c.Expire)
	want(c.Hold >= c.MinGap && c.Hold <= 24*time.Hour, "hold %v: want min_gap, %v, to 24h", c.Hold, c.MinGap)
	want(c.Look > 0, "look %v: want more than 0", c.Look)
	want(c.Exchange >= 0 && c.Exchange < 64, "exchange %d: want 0 to 63", c.Exchange)
	want(c.Forget >= c.Expire, "forget %v: want at least expire, %v", c.Forget, c.Expire)
	return errors.Join(all...)
}

// checkRule checks the parameters of rules.
func (c *Config) checkRule(want func(ok bool, format string, args ...any)) {
	want(c.Near >= 1 && c.Near <= grid.MaxHops, "near %d hops: want 1 to %d", c.Near, grid.MaxHops)
	want(c.P0 > 0 && c.P0 <= 1, "p0 %g: want more than 0, at most 1", c.P0)
	want(c.PMin >= 0 && c.PMin <= 1, "pmin %g: want 0 to 1", c.PMin)
	want(c.Beta > 0 && c.Beta <= 8, "beta %g: want more than 0, at most 8", c.Beta)
	for _, w := range [...]struct {
		name string
		v    float64
	}{{"scarce", c.WeightScarce}, {"normal", c.WeightNormal}, {"plentiful", c.WeightPlentiful}} {
		want(w.v >= 0 && w.v <= 1, "weight_%s %g: want 0 to 1", w.name, w.v)
	}
	want(c.GainLoad >= 0 && c.GainLoad <= 10, "gain_load %g: want 0 to 10", c.GainLoad)
	want(c.Reach > 0 && c.Reach <= maxDistance, "reach %v: want more than 0, at most %v", c.Reach, maxDistance)
	want(c.Potential > 0 && c.Potential <= 1, "potential %g: want more than 0, at most 1", c.Potential)
	want(c.BacklogScale > 0, "backlog_scale %v: want more than 0", c.BacklogScale)
}
