package market

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Protocol says who is matched with whom [1, section 6.5 and appendix A].
type Protocol struct {
	Name      string
	Candidate Candidate
	Choice    Choice
	Order     Order
	Serving   Serving

	Outbid   float64 // a running task is outbid by a bid so many times its own, and higher; at least 1
	Interval float64 // time between ticks, before which nothing is matched; 0 = at once
	Reserve  bool    // servers ask for a reserve price
	Discount float64 // of the reserve price, in the unit of a bid

	Migrates bool // a task that was outbid may move to another server
	Active   bool // so may a task that would run faster elsewhere
	Moves    int  // of a task at most; 0 = any number
}

// Candidate says which offers a query may get.
type Candidate uint8

// Candidates.
const (
	Free    Candidate = iota // those that no task is matched with
	Outbids                  // those that are idle, or execute a task of a lower bid
	Any                      // all
)

// Choice says which candidate a query gets.
type Choice uint8

// Choices.
const (
	Fastest Choice = iota // where the task would run fastest; of equals the first in the list
	Lowest                // where it would run fastest; of equals that of the lowest executing bid, an idle one before all
	Ring                  // the next one after that of the last match
	// Of those where it would meet its deadline and its budget the one where it would cost least, by its price and for how
	// long it would run there; of equals where it would run fastest. If it would meet them nowhere, where it would be done
	// soonest. The cost optimization of Nimrod-G [2].
	Cheapest
)

// Order says which of the queries that wait goes first. Among equals it is the one that came first.
type Order uint8

// Orders.
const (
	ByBid     Order = iota // the highest bid
	ByArrival              // the oldest
	BySize                 // the smallest
	ByValue                // the highest value that it would deliver now, on that offer
)

// Serving says how a server runs the tasks that it was given.
type Serving uint8

// Servings.
const (
	Exclusive    Serving = iota // one task, to its end
	Preemptive                  // the task of the highest bid; the others are suspended
	Proportional                // all, each with a share in proportion to its bid
)

// rows are the protocols by name [1, section 6.5].
var rows = []Protocol{
	{Name: "cda"},
	{Name: "cda_res", Reserve: true},
	{Name: "cda_tdb", Order: ByValue},
	{Name: "pda", Interval: 0.1},
	{Name: "fifo", Order: ByArrival},
	{Name: "sjf", Order: BySize},
	{Name: "cheapest", Choice: Cheapest, Reserve: true},
	{Name: "rr", Order: ByArrival, Choice: Ring},
	{Name: "psp", Candidate: Any, Serving: Proportional},
	{Name: "hbp", Candidate: Outbids, Choice: Lowest, Serving: Preemptive},
	{Name: "hbp_t", Candidate: Outbids, Choice: Lowest, Serving: Preemptive, Outbid: 5},
	{Name: "hbp_res", Candidate: Outbids, Choice: Lowest, Serving: Preemptive, Reserve: true},
	{Name: "pe_p", Candidate: Outbids, Choice: Lowest, Serving: Preemptive, Migrates: true},
	{Name: "pe_a", Candidate: Outbids, Choice: Lowest, Serving: Preemptive, Migrates: true, Active: true},
	{Name: "pe_t", Candidate: Outbids, Choice: Lowest, Serving: Preemptive, Migrates: true, Outbid: 2},
}

// parameter is what the number after the colon of a protocol's name means.
type parameter struct {
	words    string
	min, max float64
	whole    bool
	set      func(*Protocol, float64)
}

var (
	discount = parameter{"the discount of the reserve price", 0, 1e9, false,
		func(p *Protocol, x float64) { p.Discount = x }}
	factor = parameter{"the factor by which a bid must be higher", 1, 1e9, false,
		func(p *Protocol, x float64) { p.Outbid = x }}
	interval = parameter{"the time between auctions", 1e-6, 1e9, false,
		func(p *Protocol, x float64) { p.Interval = x }}
	moves = parameter{"how often a task moves at most", 1, MostMoves, true,
		func(p *Protocol, x float64) { p.Moves = int(x) }}
)

var parameters = map[string]parameter{"cda_res": discount, "cheapest": discount, "hbp_res": discount, "hbp_t": factor,
	"pe_t": factor, "pda": interval, "pe_a": moves}

// MostMoves is the largest budget of moves of a task.
const MostMoves = 8

// Names lists the protocols.
func Names() []string {
	names := make([]string, len(rows))
	for i := range rows {
		names[i] = rows[i].Name
	}
	return names
}

// Wants says what the number after the colon of a protocol's name is; "" = it takes none.
func Wants(base string) string {
	par, ok := parameters[base]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s, from %g to %g", par.words, par.min, par.max)
}

// Parse returns a protocol by its name, as in cda, hbp_t:5 or pda:0.1.
func Parse(name string) (Protocol, error) {
	base, text, has := strings.Cut(name, ":")
	for _, p := range rows {
		if p.Name != base {
			continue
		}
		p.Name, p.Outbid = name, max(p.Outbid, 1)
		if !has {
			return p, nil
		}
		par, ok := parameters[base]
		if !ok {
			return p, fmt.Errorf("protocol %q: %s takes no parameter", name, base)
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= par.min && x <= par.max) || par.whole && x != math.Trunc(x) {
			return p, fmt.Errorf("protocol %q: %q: want %s", name, text, Wants(base))
		}
		par.set(&p, x)
		return p, nil
	}
	return Protocol{}, fmt.Errorf("protocol %q: is not known: want one of %s", name, strings.Join(Names(), ", "))
}
