package node

import (
	"cmp"

	"skep/balance"
	"skep/grid"
)

// policy returns the named policy, "" = the node's default.
func (c *coordinator) policy(name string) (balance.Policy, error) {
	name = cmp.Or(name, c.cfg.Policy)
	p, err := c.policies.Get(name)
	if c.policies.Crowded() {
		c.policies.Keep(c.policiesNeeded(name))
	}
	return p, err
}

// policiesNeeded returns the names of the policies that unfinished jobs name, of the default and of the newest.
func (c *coordinator) policiesNeeded(newest string) map[string]bool {
	named := map[string]bool{c.cfg.Policy: true, newest: true}
	for j := range c.jobs.All() {
		if j.counts[grid.Ended] < j.count() {
			named[j.spec.Policy] = true
		}
	}
	return named
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
