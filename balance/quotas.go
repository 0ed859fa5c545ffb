package balance

import "skep/grid"

// quotas says for each class and node how many tasks were placed, A_ij, and how many were to be by the solutions of the
// LP so far,
//
//	G_ij = Σ_s pi_ij(s)·n_i(s),
//
// with pi_ij(s) the share of solution s and n_i(s) the tasks of the class placed under it. The balance A_ij − G_ij goes
// on from one solution to the next, and a node that a solution gives no share keeps it until it has one again: it would
// lose what is due to it whenever its share flickers. Meanwhile the others make up for it: L_i is what nodes without a
// share are behind in all, if they are, and pi_ij·L_i of it a node with one may take besides what is due to it. All
// balances of a class sum to 0, so that those of nodes with a share sum to L_i at most, and one of them is not ahead.
//
// What a guard that places only where A_ij < target + slack guarantees: after each placement
//
//	A_ij < G_ij + pi_ij·L_i + slack + 1,
//
// and where no node loses its share, which makes L_i 0, inequality A.8 of [1] through all solutions:
//
//	G_ij − (M−1)·(slack+1) < A_ij < G_ij + slack + 1.
type quotas struct {
	placed matrix // A_ij
	due    matrix // G_ij as of this solution
	share  matrix // pi_ij of this solution

	// By class.
	since []float64 // tasks placed under this solution
	late  []float64 // L_i as of this solution
	gone  []float64 // the balances of nodes that are no more, in all
	names []string

	ids []grid.NodeID // by index of the node: whose the balances are
}

// target is G_ij + pi_ij·L_i with one arrival more, tasks.
func (q *quotas) target(i, j int32) float64 {
	return q.due.at(i, j) + q.share.at(i, j)*(q.since[i]+1+q.late[i])
}

// class returns the index of a class that this solution gives shares of.
func (q *quotas) class(r *rates, name string) (int32, bool) {
	i, ok := r.classOf(name)
	return i, ok && int(i) < len(q.names) && q.names[i] == name
}

// count takes in that a task was placed, or with −1 refused.
func (q *quotas) count(r *rates, o *Outcome, change float64) {
	i, known := q.class(r, o.Class)
	j, there := r.lookup(&o.Node)
	if !known || !there || int(j) >= len(q.ids) || q.ids[j] != o.Node {
		return
	}
	change = max(change, -q.placed.at(i, j))
	q.placed.set(i, j, q.placed.at(i, j)+change)
	q.since[i] += change
}

// settle passes from the last solution to the one that there is now.
func (q *quotas) settle(r *rates, a *allocation) {
	q.close(r)
	n, m := len(r.names), len(r.ids)
	for _, x := range []*matrix{&q.placed, &q.due, &q.share} {
		x.grow(n, m)
	}
	for len(q.names) < n {
		q.names, q.since, q.late = append(q.names, ""), append(q.since, 0), append(q.late, 0)
		q.gone = append(q.gone, 0)
	}
	q.ids = append(q.ids[:0], r.ids...)
	for i := range n {
		q.open(r, a, int32(i))
	}
}

// close adds what was due by the last solution, and keeps the balances of nodes that are no more in one sum.
func (q *quotas) close(r *rates) {
	for i, n := range q.since {
		i := int32(i)
		for j := range q.ids {
			j := int32(j)
			due := q.due.at(i, j) + q.share.at(i, j)*n
			if q.ids[j] != r.ids[j] {
				q.gone[i] += q.placed.at(i, j) - due
				q.placed.set(i, j, 0)
				due = 0
			}
			q.due.set(i, j, due)
		}
		q.since[i] = 0
	}
}

// open reads the shares of a class. A class that takes the place of another begins anew, and so does one of which
// nobody has a share: it is not guarded.
func (q *quotas) open(r *rates, a *allocation, i int32) {
	m := len(q.ids)
	nodes, weights, _ := a.support(r, r.names[i])
	total := 0.0
	for _, w := range weights {
		total += w
	}
	clear(q.share.row(i, m))
	if q.names[i] != r.names[i] || !(total > 0) {
		clear(q.placed.row(i, m))
		clear(q.due.row(i, m))
		q.gone[i] = 0
	}
	if q.names[i] = r.names[i]; !(total > 0) {
		q.names[i], q.late[i] = "", 0
		return
	}
	for x, j := range nodes {
		q.share.set(i, j, weights[x]/total)
	}
	ahead := q.gone[i]
	for j := range m {
		if j := int32(j); q.share.at(i, j) == 0 {
			ahead += q.placed.at(i, j) - q.due.at(i, j)
		}
	}
	q.late[i] = max(0, -ahead)
}
