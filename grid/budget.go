package grid

import "time"

// Budget is the node-seconds that the attempts of all tasks of a job may take together: the sum of the times that they
// run, of a gang of all its ranks, also of attempts that were lost and of backup attempts. The job's owner heeds it. It
// is a whole number of seconds, so that no rounding of a client can go beyond it. 0 = any number.
type Budget int64

// MaxBudget is what a time on the wire can hold: 1.2 million node-hours.
const MaxBudget = Budget((1<<62 - 1) / int64(time.Second))

// Some reports whether there is a budget.
func (b Budget) Some() bool { return b > 0 }

// Time is the budget as time of one node.
func (b Budget) Time() time.Duration { return time.Duration(b) * time.Second }

func (b Budget) check(p *problems) {
	if b < 0 || b > MaxBudget {
		p.addf("budget.node_seconds %d: want 1 to %d, or none", b, MaxBudget)
	}
}
