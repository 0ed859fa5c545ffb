package order

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"skep/balance/market"
	"skep/balance/reallocation"
	"skep/grid"
)

// Rule is a row of the table: what a line is, and which is next.
type Rule struct {
	Name  string
	Order market.Order
	Bands bool // bids differ only in whether they are above the usual one, or below
	Fair  bool // bids age, and equal ones go by use

	number uint8 // on the wire: never reuse one
}

var rules = []Rule{
	{Name: "fair", Order: market.ByBid, Fair: true, number: 1},
	{Name: "bid", Order: market.ByBid, number: 2},
	{Name: "fifo", Order: market.ByArrival, number: 3},
	{Name: "sjf", Order: market.BySize, number: 4},
	{Name: "prio_fifo", Order: market.ByBid, Bands: true, number: 5},
}

// Number is the number of the rule in messages, more than 0; of no configuration, that of first come, first served.
func (c *Config) Number() uint8 {
	name := ""
	if c != nil {
		name = c.Rule
	}
	r, _ := find(name)
	return r.number
}

// NameOf returns the name of the rule of a number; "" = this version knows none.
func NameOf(number uint8) string {
	for i := range rules {
		if rules[i].number == number {
			return rules[i].Name
		}
	}
	return ""
}

// Names returns the names of all rules.
func Names() []string {
	names := make([]string, len(rules))
	for i := range rules {
		names[i] = rules[i].Name
	}
	return names
}

// Config says how work that waits is ordered. The zero value is first come, first served.
type Config struct {
	// Rule is the name of a rule; "" = fifo, which is for systems of the literature. Default of a node: fair.
	Rule string

	// MaxBid is the highest bid; work that bids more counts as if it bid that. Default 10. Higher makes bids of a few
	// units age faster beside each other.
	MaxBid grid.Bid

	// Ageing is the time in which the bid of what waits rises to MaxBid under fair; default 4 h. Higher has low bids wait
	// longer while higher ones come.
	Ageing time.Duration

	// HalfLife is the time in which use counts half under fair; default 1 h. Higher remembers longer who has used much.
	HalfLife time.Duration

	// Preempt is how many times as high a bid as that of a task which runs has it suspended; 0 = none has. Only under a
	// rule that goes by bids. Lower has high bids start sooner, and low ones be interrupted more often: at 1 all wait
	// longer together [1, chapter 10].
	Preempt float64 `json:",omitempty"`

	// Reallocate has the cores allocated anew now and then, so that what is worth most runs, whatever runs then.
	Reallocate reallocation.Config `json:",omitzero"`

	// Moves has what is suspended given up for other nodes, if its owner asks: tasks that may run again and have written
	// checkpoints. Only with Preempt.
	Moves bool `json:",omitempty"`

	// LeastSpeed has all work run at once, with cores in proportion to its bid, as long as each task keeps that part of
	// its full speed, up to 1; 0 = a task has the cores that it needs to itself. Lower has more tasks start at once, and
	// each run slower.
	LeastSpeed float64 `json:",omitempty"`

	// OfferWindow is for how long offers of tasks with options are gathered at most where several owners want what is free
	// at a node, and the worth of all decides; default 50 ms, the most; 0 = the first to come has it. Higher meets more
	// offers, and delays those after which none comes.
	OfferWindow time.Duration `json:",omitempty"`
}

// LongestWindow is the most that OfferWindow may be.
const LongestWindow = 50 * time.Millisecond

// Suspending is the usual value of Preempt where it is not 0, that of [1, chapter 10].
const Suspending = 5.0

// Defaults returns the configuration of a real node.
func Defaults() Config {
	return Config{Rule: "fair", MaxBid: 10 * grid.UsualBid, Ageing: 4 * time.Hour, HalfLife: time.Hour,
		OfferWindow: LongestWindow}
}

// SetPreempt sets Preempt and Moves as a setting says it: never, suspend, suspend:F, migrate, or migrate:F.
func (c *Config) SetPreempt(s string) (err error) {
	c.Preempt, c.Moves, err = parsePreempt(s)
	return err
}

func parsePreempt(s string) (factor float64, moves bool, err error) {
	for _, on := range []string{"suspend", "migrate"} {
		if f, ok := switched(s, "never", on, Suspending, 1, 1000); ok {
			return f, f > 0 && on == "migrate", nil
		}
	}
	return 0, false, fmt.Errorf("%.40q: want never, suspend, migrate, or suspend:F or migrate:F with a ratio of bids F "+
		"of 1 to 1000", s)
}

// switched reads a setting that is off, on with the usual number, or on:NUMBER; off is 0.
func switched(s, off, on string, usual, least, most float64) (f float64, ok bool) {
	switch s {
	case off:
		return 0, true
	case on:
		return usual, true
	}
	number, given := strings.CutPrefix(s, on+":")
	f, err := strconv.ParseFloat(number, 64)
	return f, given && err == nil && f >= least && f <= most
}

// find returns the rule of a name.
func find(name string) (*Rule, bool) {
	if name == "" {
		name = "fifo"
	}
	for i := range rules {
		if rules[i].Name == name {
			return &rules[i], true
		}
	}
	return nil, false
}

// Check reports all problems of c.
func (c *Config) Check() error {
	r, ok := find(c.Rule)
	if !ok {
		return fmt.Errorf("order %.40q: want one of %s", c.Rule, strings.Join(Names(), ", "))
	}
	if c.MaxBid < 0 || c.MaxBid > grid.MaxBid {
		return fmt.Errorf("max_bid %v: want more than 0, at most %v", c.MaxBid, grid.MaxBid)
	}
	if r.Fair && (c.MaxBid == 0 || c.Ageing < time.Second || c.HalfLife < time.Second) {
		return fmt.Errorf("order fair with max_bid %v, ageing %v, half-life %v: want more than 0, and 1s at least", c.MaxBid,
			c.Ageing, c.HalfLife)
	}
	if err := c.checkSharing(); err != nil {
		return err
	}
	if w := c.OfferWindow; w < 0 || w > LongestWindow {
		return fmt.Errorf("offer_window %v: want 0s (none) to %v", w, LongestWindow)
	}
	switch p := c.Preempt; {
	case p == 0 && c.Moves:
		return fmt.Errorf("preempt: moves of what is never suspended: want a ratio of bids")
	case p == 0:
	case !(p >= 1 && p <= 1000):
		return fmt.Errorf("preempt: ratio of bids %v: want 1 to 1000", p)
	case r.Order != market.ByBid:
		what := map[bool]string{true: "migrate", false: "suspend"}[c.Moves]
		return fmt.Errorf("preempt %s with order %s: want order fair, bid or prio_fifo, which go by bids", what, r.Name)
	}
	return nil
}

// Cap returns a bid, or the highest that counts.
func (c *Config) Cap(b grid.Bid) grid.Bid {
	if c.MaxBid > 0 {
		return min(b, c.MaxBid)
	}
	return b
}

// Counts returns the bid that counts, for who places many tasks of several bids together, of a task that has waited so
// long: the same for those that go together. Under fair one that has waited for the ageing time counts as more than any
// that has not waited as long.
func (c *Config) Counts(bid grid.Bid, wait time.Duration) grid.Bid {
	r, _ := find(c.Rule)
	bid = c.Cap(bid)
	switch {
	case r.Fair && wait >= c.Ageing:
		return grid.Bid(min(float64(c.MaxBid)*wait.Seconds()/c.Ageing.Seconds(), math.MaxInt32))
	case r.Fair:
		aged := market.Ageing{Min: float64(bid), Max: float64(c.MaxBid), Time: c.Ageing.Seconds()}.Bid(max(wait, 0).Seconds())
		return Band(grid.Bid(aged))
	case r.Bands:
		return threeQueues(bid)
	case r.Order == market.ByBid:
		return bid
	}
	return 0
}
