package reallocation

import (
	"cmp"

	"skep/balance/knapsack"
	"skep/balance/utility"
)

// Item is a task that may run now.
type Item struct {
	Cores  float64
	Memory float64 // that it would take; 0 = it has it already
	Runs   bool    // and may be suspended
	Facts  utility.Facts
}

// Stays is how many times as much a task that runs is worth as if it did not.
const Stays = 1.1

// Chooser chooses what runs. It keeps memory from one choice to the next.
type Chooser struct {
	function utility.Function
	cycle    utility.Cycle
	problem  knapsack.Problem
	solver   knapsack.Solver
	worth    []float64
	chosen   []bool
}

// NewChooser returns one with the function of a configuration, which SetUtility has passed.
func NewChooser(c *Config) *Chooser {
	f, err := utility.Parse(cmp.Or(c.Utility, usual))
	if err != nil {
		panic("reallocation: " + err.Error())
	}
	return &Chooser{function: f}
}

// bounds are those of a solution: some hundred items in less than a millisecond, with a gap of a few thousandths.
var bounds = knapsack.Config{Beta: 1, Rounds: 50, Nodes: 1000}

// Choose returns for each item whether it runs, with so many cores, and so much memory for what does not have it. The
// slice is the chooser's until the next call. What is not chosen and runs goes on where there are cores for it beside
// what was chosen.
func (c *Chooser) Choose(cores, memory float64, items []Item) []bool {
	c.worth, c.chosen = c.worth[:0], append(c.chosen[:0], make([]bool, len(items))...)
	c.cycle.Begin(&c.function)
	for i := range items {
		c.cycle.See(&items[i].Facts)
	}
	c.problem.Reset(cores, memory)
	for i := range items {
		x := &items[i]
		worth := c.cycle.Of(&x.Facts)
		if x.Runs {
			worth *= Stays
		}
		c.worth = append(c.worth, worth)
		c.problem.Item()
		c.problem.Option(worth, knapsack.Demand{Of: 0, Amount: x.Cores}, knapsack.Demand{Of: 1, Amount: x.Memory})
	}
	left := cores
	for i, option := range c.solver.Solve(&c.problem, bounds).Choice {
		if c.chosen[i] = option >= 0; c.chosen[i] {
			left -= items[i].Cores
		}
	}
	for i := range items {
		if x := &items[i]; x.Runs && !c.chosen[i] && x.Cores <= left {
			c.chosen[i] = true
			left -= x.Cores
		}
	}
	return c.chosen
}

// Worth is the utility of an item of the last choice.
func (c *Chooser) Worth(item int) float64 { return c.worth[item] }
