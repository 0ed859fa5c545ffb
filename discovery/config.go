package discovery

import (
	"errors"
	"fmt"
	"time"

	"skep/grid"
)

// Times that nobody needs to set.
const (
	// meeting is how long after the node's start a search without any neighbour waits for one before it ends. Without
	// it a node that has just started reports wrongly that no node fits.
	meeting = 5 * time.Second

	// seenTime is how long a search that passed here is remembered, so that it is not walked twice: longer than the
	// life of a walk.
	seenTime = 2 * time.Minute
)

// Config configures searches.
type Config struct {
	// Hops is the length of a walk, 1 to 64; default 16, which finds what one node in ten has with a probability of
	// five sixths. Raising it finds rarer things and takes longer. It bounds a peer's walk too.
	Hops int

	// Walkers is how many walks a search sends at once, 1 to 4; default 1. Raising it finds sooner at as many times
	// the messages.
	Walkers int

	// Retries is how many further walks follow a failed one, 0 to 16; default 3. Raising it finds rarer things before
	// a call to all nodes.
	Retries int

	// Deadline bounds the time of a walk, default 2 s: 16 hops and the answer at 100 ms each. Lowering it gives up
	// walks over slow links; raising it makes a lost message cost more.
	Deadline time.Duration

	// CallDelay is the longest delay of an answer to a call, uniform from 0; default 1 s. Raising it thins the answers
	// of many nodes; lowering it finds sooner.
	CallDelay time.Duration

	// CallWait is how long a call waits for answers, at least CallDelay; default 3 s.
	CallWait time.Duration

	// CallGap is the time after a failed call in which no other is made for the same needs, doubled each time up to
	// CallMax; defaults 30 s and 10 min. A call reaches every node: lowering these costs the whole grid.
	CallGap, CallMax time.Duration

	// SeenMax bounds how many searches that passed here are remembered; default 4096 of about 100 bytes. Beyond it the
	// oldest are forgotten.
	SeenMax int

	// Searches bounds this node's own searches at one time; default 256. Beyond it a search ends without a find after
	// Deadline.
	Searches int

	// Rate is how many finds and calls per second are handled for one peer, in the mean, and Burst at once;
	// defaults 20 and 40. What is beyond is dropped. Raising it lets a peer load more of the grid.
	Rate, Burst float64

	// CallHold spreads the calls of nodes that miss the same at once: each waits up to that long, most of them nearly
	// as long, and asks a node that called before it instead; default 2 s, 0 = calls at once. Raising it lets fewer
	// calls out when many miss the same, and delays each.
	CallHold time.Duration

	// Forward is the forwarding strategy of walks: one of Forwards; default "learning".
	Forward string

	// Explore is the share of hops that go to a random neighbour whatever was learnt, 0 to 1; default 0.05. Raising it
	// finds new providers sooner and takes more hops; without it nothing better is ever found.
	Explore float64

	// Age is the time after which a met request is forgotten, and in which counts halve; default 10 min. Raising it
	// saves walks where little changes, and misdirects more of them where much does.
	Age time.Duration

	// Keys bounds the kinds of requests that are learnt about, each with at most 4 providers; default 256 of about 200
	// bytes. Beyond it the kind that was met longest ago is forgotten.
	Keys int

	// Load is how much the walks that this node sends to another count against sending it more: requests met there are
	// divided by (1 + walks sent) to this power; 0 to 8, default 3. 0 is the source's best neighbour, to which nearly
	// everything goes; 2 sends in proportion to how often a node can help, and 3 to the root of that.
	Load float64

	// BestShare is the share of hops without a learnt provider that go to the best neighbour, the others to a random
	// one; 0 to 1, default 0.05. Raising it saves hops where few nodes hold most, and puts more of all messages on
	// those few: 1 is the source's.
	BestShare float64

	// Reverse makes the nodes on the path of a walk that was met learn its provider, too: the asker tells them, one
	// message each; default false. It spreads what is learnt for as many messages again as the walk had hops: fewer in
	// the end, but more of them on the providers.
	Reverse bool

	// Ads lets a node that a walk reaches send it to one that fits by its ad; default true. Without it a walk asks
	// only the nodes that it reaches, as in the source.
	Ads bool
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		Hops: 16, Walkers: 1, Retries: 3, Deadline: 2 * time.Second,
		CallDelay: time.Second, CallWait: 3 * time.Second, CallGap: 30 * time.Second, CallMax: 10 * time.Minute,
		SeenMax: 4096, Searches: 256, Rate: 20, Burst: 40,
		CallHold: 2 * time.Second, Forward: "learning", Explore: 0.05, Age: 10 * time.Minute, Keys: 256, Load: 3,
		BestShare: 0.05, Ads: true,
	}
}

// Check reports all problems of c, each with its field, its value and what is allowed.
func (c Config) Check() error {
	var all []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Errorf("discovery: "+format, args...))
		}
	}
	want(c.Hops >= 1 && c.Hops <= grid.MaxHops, "hops %d: want 1 to %d", c.Hops, grid.MaxHops)
	want(c.Walkers >= 1 && c.Walkers <= 4, "walkers %d: want 1 to 4", c.Walkers)
	want(c.Retries >= 0 && c.Retries <= 16, "retries %d: want 0 to 16", c.Retries)
	want(c.Deadline > 0 && c.Deadline <= seenTime, "deadline %v: want more than 0, at most %v", c.Deadline, seenTime)
	want(c.CallDelay >= 0, "call_delay %v: want 0 or more", c.CallDelay)
	want(c.CallWait > 0 && c.CallWait >= c.CallDelay, "call_wait %v: want more than 0, at least call_delay, %v",
		c.CallWait, c.CallDelay)
	want(c.CallGap >= 0, "call_gap %v: want 0 or more", c.CallGap)
	want(c.CallMax >= c.CallGap, "call_max %v: want at least call_gap, %v", c.CallMax, c.CallGap)
	want(c.CallHold >= 0, "call_hold %v: want 0 or more", c.CallHold)
	want(c.Explore >= 0 && c.Explore <= 1, "explore %g: want 0 to 1", c.Explore)
	want(c.Age > 0, "age %v: want more than 0", c.Age)
	want(c.Keys >= 1 && c.Keys <= 1<<16, "keys %d: want 1 to %d", c.Keys, 1<<16)
	want(c.Load >= 0 && c.Load <= 8, "load %g: want 0 to 8", c.Load)
	want(c.BestShare >= 0 && c.BestShare <= 1, "best_share %g: want 0 to 1", c.BestShare)
	want(c.SeenMax >= 1 && c.SeenMax <= 1<<20, "seen_max %d: want 1 to %d", c.SeenMax, 1<<20)
	want(c.Searches >= 1 && c.Searches <= 1<<16, "searches %d: want 1 to %d", c.Searches, 1<<16)
	want(c.Rate > 0 && c.Rate <= 1e6, "rate %g: want more than 0, at most 1e6 per second", c.Rate)
	want(c.Burst >= 1 && c.Burst <= 1e6, "burst %g: want 1 to 1e6", c.Burst)
	if _, ok := forwards[c.Forward]; !ok {
		want(false, "forward %q: is not known: want one of %v", c.Forward, Forwards())
	}
	return errors.Join(all...)
}
