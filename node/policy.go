package node

import (
	"slices"
	"strings"

	"skep/balance"
	"skep/grid"
)

// policy is one in use, under its name.
type policy struct {
	name string
	balance.Policy
}

// minPolicies is how many policies there are, at least, before those that no job names any more go: each keeps rates of all peers and is
// told all news.
const minPolicies = 32

// findPolicy returns where a policy stands, or would.
func (n *Node) findPolicy(name string) (int, bool) {
	return slices.BinarySearchFunc(n.policies, name, func(p policy, s string) int { return strings.Compare(p.name, s) })
}

// policy returns the named policy, making it on its first use and telling it all that is known.
func (n *Node) policy(name string) (balance.Policy, error) {
	if name == "" {
		name = n.cfg.Policy
	}
	at, ok := n.findPolicy(name)
	if ok {
		return n.policies[at].Policy, nil
	}
	p, err := balance.Make(name, &n.cfg.Balance, grid.NewRand(n.cfg.Seed, 16+n.policiesMade))
	if err != nil {
		return nil, err
	}
	n.policiesMade++
	if len(n.policies) >= max(2*n.policiesKept, minPolicies) {
		n.forgetPolicies()
		at, _ = n.findPolicy(name)
	}
	n.policies = slices.Insert(n.policies, at, policy{name, p})
	n.rates.stale = true
	for _, q := range n.peers {
		q.columnMark = 0
	}
	n.rates.columnMark = 0
	return p, nil
}

// forgetPolicies lets those go that no unfinished job names; a job that comes later makes its own anew.
func (n *Node) forgetPolicies() {
	named := map[string]bool{n.cfg.Policy: true}
	for j := range n.jobs.all() {
		if j.counts[grid.Ended] < j.count() {
			named[j.spec.Policy] = true
		}
	}
	n.policies = slices.DeleteFunc(n.policies, func(p policy) bool { return !named[p.name] })
	n.policiesKept = len(n.policies)
}

// policyOf returns the policy that places a job's tasks. A job from disk may name one that this version does
// not have: the node's own does it.
func (n *Node) policyOf(j *job) balance.Policy {
	p, err := n.policy(j.spec.Policy)
	if err != nil {
		p, _ = n.policy("")
	}
	return p
}

// note tells every policy what became known, in a fixed order.
func (n *Node) note(o balance.Outcome) {
	for i := range n.policies {
		n.policies[i].Note(o)
	}
}
