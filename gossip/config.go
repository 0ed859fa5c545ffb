package gossip

import (
	"errors"
	"fmt"
	"time"
)

// Config sets how neighbours are kept and ads are spread.
type Config struct {
	// Neighbours is how many neighbours a node looks for, 2 to 32; default 8: a random graph of that degree
	// stays connected when half of its nodes go. Up to twice as many are accepted when others choose this
	// node. Raising it costs messages in proportion and shortens paths; below 4 the overlay may split.
	Neighbours int

	// View is how many other nodes are remembered, more than 2×Neighbours, to 65536; default 256. Raising it costs
	// about 150 bytes and an ad each, and gives the policies more to choose from. It should exceed the number of
	// connections that the driver allows: of connected peers beyond it only the latest are known.
	View int

	// Rule is the dissemination rule: names joined by "*", all of which must agree; see Rules. Default
	// "probabilistic*change_sensitive".
	Rule string

	// P0 is the chance that the rule probabilistic starts from, more than 0 to 1; default 1.
	P0 float64

	// Decay is the factor on that chance for each hop an ad has come, more than 0 to 1; default 0.6, with
	// which an ad costs about a seventh of a flood. Raising it to 1 is a flood; 0.4 leaves nodes 5 hops
	// away without news.
	Decay float64

	// PMin is the least chance, 0 to 1; default 0.1, so that news reaches everybody some time.
	PMin float64

	// Theta is the change of an ad that is worth a message, more than 0 to 1 (see Delta); default 0.1,
	// what makes an allocation be solved again. The error of what others know is about Theta; halving it
	// roughly doubles the messages.
	Theta float64

	// BacklogScale is the backlog that counts as one half in Delta; default 1 min, about the time from which a
	// longer wait makes the same difference to nobody. Raising it makes short queues invisible.
	BacklogScale time.Duration

	// Refresh is after how long the own ad is sent though nothing changed, jittered by a tenth; default 30 s.
	// It is the heartbeat of an idle grid: raising it makes idle nodes quieter and dead ones known for longer.
	Refresh time.Duration

	// Expire is after how long without a new ad an unconnected node is forgotten; default 6×Refresh, at least
	// 3×Refresh. Lowering it loses far nodes, whose ads come seldom.
	Expire time.Duration

	// Tmax is after how long an ad is handed on by the rule change_sensitive though it has not changed enough;
	// default Expire/2, so that two tries fit before the node would be forgotten.
	Tmax time.Duration

	// MinGap is the least time between two own ads and between two digests to one neighbour; default 1 s.
	// What comes in between is joined. Raising it saves messages and costs as much delay at every hop.
	MinGap time.Duration

	// Look is how often the neighbour set is looked over if something changed, and how long a neighbour may
	// take to connect; default 60 s. Lowering it adapts faster to round-trip times and dials more often.
	Look time.Duration

	// Exchange is how many ads of near nodes a new connection is given beside the own one, 0 to 63; default 32.
	// Raising it makes joins and healed partitions know more at once.
	Exchange int

	// Forget is after how long a neighbour that cannot be reached is given up though nobody can take its
	// place; default 24 h, at least Expire: an isolated node goes on trying for that long.
	Forget time.Duration
}

// Defaults returns the configuration that a node has when nothing is said.
func Defaults() Config {
	return Config{
		Neighbours: 8, View: 256, Rule: "probabilistic*change_sensitive",
		P0: 1, Decay: 0.6, PMin: 0.1, Theta: 0.1, BacklogScale: time.Minute,
		Refresh: 30 * time.Second, Expire: 180 * time.Second, Tmax: 90 * time.Second,
		MinGap: time.Second, Look: time.Minute, Exchange: 32, Forget: 24 * time.Hour,
	}
}

// Check reports everything that is wrong with c, each problem with its field, its value and what would be right.
func (c Config) Check() error {
	var all []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Errorf("gossip: "+format, args...))
		}
	}
	want(c.Neighbours >= 2 && c.Neighbours <= 32, "neighbours %d: want 2 to 32", c.Neighbours)
	want(c.View > 2*c.Neighbours && c.View <= 65536, "view %d: want more than 2×neighbours, %d, at most 65536", c.View, 2*c.Neighbours)
	if _, err := parseRule(c.Rule); err != nil {
		all = append(all, err)
	}
	want(c.P0 > 0 && c.P0 <= 1, "p0 %g: want more than 0, at most 1", c.P0)
	want(c.Decay > 0 && c.Decay <= 1, "decay %g: want more than 0, at most 1", c.Decay)
	want(c.PMin >= 0 && c.PMin <= 1, "pmin %g: want 0 to 1", c.PMin)
	want(c.Theta > 0 && c.Theta <= 1, "theta %g: want more than 0, at most 1", c.Theta)
	want(c.BacklogScale > 0, "backlog_scale %v: want more than 0", c.BacklogScale)
	want(c.MinGap > 0, "min_gap %v: want more than 0", c.MinGap)
	want(c.Refresh >= c.MinGap && c.Refresh <= 24*time.Hour, "refresh %v: want min_gap, %v, to 24h", c.Refresh, c.MinGap)
	want(c.Expire >= 3*c.Refresh, "expire %v: want at least 3×refresh, %v", c.Expire, 3*c.Refresh)
	want(c.Tmax > 0 && c.Tmax <= c.Expire, "tmax %v: want more than 0, at most expire, %v", c.Tmax, c.Expire)
	want(c.Look > 0, "look %v: want more than 0", c.Look)
	want(c.Exchange >= 0 && c.Exchange < 64, "exchange %d: want 0 to 63", c.Exchange)
	want(c.Forget >= c.Expire, "forget %v: want at least expire, %v", c.Forget, c.Expire)
	return errors.Join(all...)
}
