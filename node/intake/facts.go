package intake

import (
	"strings"

	"skep/balance/utility"
	"skep/grid"
)

// Facts are what is known of an offered attempt.
type Facts struct {
	Gathers  bool // it may wait for a window, and its owner understands what it may be told then
	Verified bool // the members of its job are known to be true

	Needs   grid.Resources // of the option that it is offered as
	Bid     float64
	Age     float64 // since its submission, seconds; its owner says so
	Usual   float64 // run time here without a speedup, seconds
	Speedup float64
	Worth   float64 // of a completion as this option, relative to that of the job's best one: at most 1
}

// UtilityOf is the function by which a node of that policy weighs offers: that of policy utility, if it names one.
func UtilityOf(policy string) utility.Function {
	name, _ := strings.CutPrefix(policy, utility.PolicyName+":")
	f, err := utility.Parse(name)
	if err != nil {
		f, _ = utility.Parse(utility.Usual)
	}
	return f
}

// FactsOf are the facts of an attempt that is offered as an option of its job, with the usual run time here.
func FactsOf(o *grid.Offer, usual float64) Facts {
	n := &o.Spec.Needs
	best := n.ValueOf(o.Option)
	for k := range n.Options {
		best = max(best, n.Options[k].Value)
	}
	f := Facts{Needs: n.Resources, Bid: o.Spec.Bid().Number(), Age: o.Age.Seconds(), Usual: usual,
		Speedup: n.SpeedupOf(o.Option), Worth: n.ValueOf(o.Option) / best}
	if as := n.Option(o.Option); as != nil {
		f.Needs = as.Resources
	}
	return f
}

// credits is what a completion is worth to its owner: the bid for each second of the usual run time.
func (f *Facts) credits() float64 { return f.Bid * f.Usual * f.Worth }

// utility are the facts for a utility function. What a job says of its value counts among its own options only: else
// the largest number would always win.
func (f *Facts) utility() *utility.Facts {
	alone := f.Usual / f.Speedup
	return &utility.Facts{Value: f.credits(), Waited: f.Age, Length: f.Usual, Remaining: alone,
		Cost: alone * f.Needs.CPU.Cores()}
}
