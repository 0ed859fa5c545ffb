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
func (c *coordinator) findPolicy(name string) (int, bool) {
	return slices.BinarySearchFunc(c.policies.list, name, func(p policy, s string) int { return strings.Compare(p.name, s) })
}

// policy returns the named policy. On first use it is created, and given all known rates.
func (c *coordinator) policy(name string) (balance.Policy, error) {
	if name == "" {
		name = c.cfg.Policy
	}
	at, ok := c.findPolicy(name)
	if ok {
		return c.policies.list[at].Policy, nil
	}
	p, err := balance.Make(name, &c.cfg.Balance, grid.NewRand(c.cfg.Seed, 16+c.policies.made))
	if err != nil {
		return nil, err
	}
	c.policies.made++
	if len(c.policies.list) >= max(2*c.policies.kept, minPolicies) {
		c.forgetPolicies()
		at, _ = c.findPolicy(name)
	}
	c.policies.list = slices.Insert(c.policies.list, at, policy{name, p})
	c.policies.stale = true
	for _, q := range c.peers {
		q.columnMark = 0
	}
	c.policies.told = 0
	return p, nil
}

// forgetPolicies removes the policies that no unfinished job names; a later job creates its own anew.
func (c *coordinator) forgetPolicies() {
	named := map[string]bool{c.cfg.Policy: true}
	for j := range c.jobs.All() {
		if j.counts[grid.Ended] < j.count() {
			named[j.spec.Policy] = true
		}
	}
	c.policies.list = slices.DeleteFunc(c.policies.list, func(p policy) bool { return !named[p.name] })
	c.policies.kept = len(c.policies.list)
}

// policyOf returns the policy that places a job's tasks: the node's default if a job from disk names one that this
// version does not have.
func (c *coordinator) policyOf(j *job) balance.Policy {
	p, err := c.policy(j.spec.Policy)
	if err != nil {
		p, _ = c.policy("")
	}
	return p
}

// note tells every policy an outcome, in a fixed order.
func (n *parts) note(o balance.Outcome) {
	for i := range n.policies.list {
		n.policies.list[i].Note(o)
	}
}
