package spread

import (
	"math"
	"time"
)

// Changing is a setting whose load changes its character three times: it drifts, a quarter of the nodes fast; then
// short tasks make half of the nodes flap between idle and full; then long tasks make every node jump now and then; at
// last all drift fast. What suits one of these wastes messages in another, or is wrong.
func Changing(rule string, seed uint64) Config {
	const each = 5 * time.Minute
	c := Config{Nodes: 100, Degree: 8, Seed: seed, Latency: 5 * time.Millisecond, Sample: 5 * time.Second,
		Warmup: 10 * time.Second, Poll: 2 * time.Second,
		Phases: []Phase{
			{Time: time.Minute + each, Kind: Walk, Every: 10 * time.Second, Share: 0.25, Sigma: 0.15, SmallSigma: 0.02},
			{Time: each, Kind: Flap, Every: 5 * time.Second, Share: 0.5},
			{Time: each, Kind: Jump, Every: 2 * time.Minute, Share: 1},
			{Time: each, Kind: Walk, Every: 10 * time.Second, Share: 1, Sigma: 0.15},
		}}
	c.Gossip = still(rule, 30*time.Second)
	return c
}

// Fixed lists rules with fixed settings for an adaptive one to be compared with: the decay of probabilistic by the
// threshold of change_sensitive, 1 being no decay, and the soft gate with some.
func Fixed() (rules []string) {
	for _, decay := range []string{"0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"} {
		for _, theta := range []string{"0.05", "0.1", "0.15", "0.2", "0.3", "0.4"} {
			rules = append(rules, "probabilistic:"+decay+"*change_sensitive:"+theta)
		}
	}
	for _, decay := range []string{"0.4", "0.6", "0.8"} {
		for _, theta := range []string{"0.1", "0.2", "0.4"} {
			rules = append(rules, "probabilistic:"+decay+"*change_sensitive:soft:"+theta)
		}
	}
	return rules
}

// Equal is what the best of fixed settings would send at an error of the view, in the unit of Bytes: between two
// settings on either side of it the logarithm of the bytes is interpolated, so that the comparison does not gain by
// gaps between them. It is +Inf where all err more.
func Equal(fixed []*Result, view float64) float64 {
	best := math.Inf(1)
	for _, a := range fixed {
		if a.View > view {
			continue
		}
		best = min(best, a.Bytes)
		for _, b := range fixed {
			if b.View > view {
				part := (view - a.View) / (b.View - a.View)
				best = min(best, math.Exp((1-part)*math.Log(a.Bytes)+part*math.Log(b.Bytes)))
			}
		}
	}
	return best
}
