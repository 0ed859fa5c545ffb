package node

import (
	"slices"
	"strings"

	"skep/balance"
	"skep/grid"
)

// policy is a policy in use.
type policy struct {
	name string
	balance.Policy
}

// policySet is the policies in use, and what they were told of this node.
type policySet struct {
	list  []policy // the node's own and those that jobs asked for, by name
	made  uint64   // number of policies made
	kept  int      // number of policies after the last cleanup
	told  mark     // version of this node's column that the policies have
	stale bool     // some column may have changed since the policies were told
}

// minPolicies is the least number of policies in use before unused ones are removed: each holds rates of all peers and
// is told all news.
const minPolicies = 32

// findPolicy returns the index of a policy, or where to insert it.
func (n *Node) findPolicy(name string) (int, bool) {
	return slices.BinarySearchFunc(n.policies.list, name, func(p policy, s string) int { return strings.Compare(p.name, s) })
}

// policy returns the named policy. On first use it is created, and given all known rates.
func (n *Node) policy(name string) (balance.Policy, error) {
	if name == "" {
		name = n.cfg.Policy
	}
	at, ok := n.findPolicy(name)
	if ok {
		return n.policies.list[at].Policy, nil
	}
	p, err := balance.Make(name, &n.cfg.Balance, grid.NewRand(n.cfg.Seed, 16+n.policies.made))
	if err != nil {
		return nil, err
	}
	n.policies.made++
	if len(n.policies.list) >= max(2*n.policies.kept, minPolicies) {
		n.forgetPolicies()
		at, _ = n.findPolicy(name)
	}
	n.policies.list = slices.Insert(n.policies.list, at, policy{name, p})
	n.policies.stale = true
	for _, q := range n.peers {
		q.columnMark = 0
	}
	n.policies.told = 0
	return p, nil
}

// forgetPolicies removes the policies that no unfinished job names; a later job creates its own anew.
func (n *Node) forgetPolicies() {
	named := map[string]bool{n.cfg.Policy: true}
	for j := range n.jobs.All() {
		if j.counts[grid.Ended] < j.count() {
			named[j.spec.Policy] = true
		}
	}
	n.policies.list = slices.DeleteFunc(n.policies.list, func(p policy) bool { return !named[p.name] })
	n.policies.kept = len(n.policies.list)
}

// policyOf returns the policy that places a job's tasks: the node's default if a job from disk names one that this
// version does not have.
func (n *Node) policyOf(j *job) balance.Policy {
	p, err := n.policy(j.spec.Policy)
	if err != nil {
		p, _ = n.policy("")
	}
	return p
}

// note tells every policy an outcome, in a fixed order.
func (n *Node) note(o balance.Outcome) {
	for i := range n.policies.list {
		n.policies.list[i].Note(o)
	}
}
