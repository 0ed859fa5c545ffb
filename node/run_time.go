package node

import "skep/grid"

// Expected run times: what this node measured, joined with what its peers claim.

// runTime is the expected run time of a task of the class on one slot of this node, seconds, under the present use of
// its cores, and its squared coefficient of variation.
func (n *parts) runTime(class string) (mean, scv float64) {
	mean, scv = n.rates.RunTime(class, n.claims)
	return mean / n.worker.Exec().Speed(grid.CPU), scv
}

// expected returns the expected run time of a class on any worker in seconds; 0 if unknown.
func (n *parts) expected(class string) float64 { return n.rates.Expected(class, n.claims) }

// claims appends μ/speed of a class as the connected peers claim them, if proven only of those with a proven track
// record.
func (n *parts) claims(class string, proven bool, dst []float64) []float64 {
	seen := n.records.Cursor()
	for _, q := range n.peers {
		if !q.up || proven && !seen.Next(q.id).Proven() {
			continue
		}
		for i := range q.rates {
			if q.rates[i].Class == class && q.rates[i].Mu > 0 {
				dst = append(dst, q.rates[i].Mu/q.speed)
			}
		}
	}
	return dst
}
