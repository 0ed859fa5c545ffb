package policies

import (
	"slices"
	"strings"

	"skep/balance"
	"skep/grid"
)

// minPolicies is the least number of policies in use before unused ones are removed.
const minPolicies = 32

// Config is what a set is told once.
type Config struct {
	Seed    uint64 // of the node's random generator: each policy gets a stream of its own
	Balance *balance.Config
	Default string // the node's own policy, whose stream does not depend on when it is made
}

// Set is the policies in use.
type Set struct {
	cfg   Config
	list  []policy // by name
	made  uint64   // number of policies made
	other uint64   // of those, others than the default one
	kept  int      // number of policies after the last cleanup
	own   Mark     // of this node's column
	stale bool     // some column may have changed since the policies were told
}

// policy is a policy in use.
type policy struct {
	name string
	balance.Policy
}

// New returns an empty set.
func New(cfg Config) Set { return Set{cfg: cfg} }

// find returns the index of a policy, or where to insert it.
func (s *Set) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.list, name, func(p policy, name string) int { return strings.Compare(p.name, name) })
}

// Get returns the named policy. On first use it is made, and every column is new to it.
func (s *Set) Get(name string) (balance.Policy, error) {
	at, ok := s.find(name)
	if ok {
		return s.list[at].Policy, nil
	}
	stream, own := uint64(firstStream), name == s.cfg.Default
	if !own {
		stream += 1 + s.other
	}
	p, err := balance.Make(name, s.cfg.Balance, grid.NewRand(s.cfg.Seed, stream))
	if err != nil {
		return nil, err
	}
	if !own {
		s.other++
	}
	s.Use(name, p)
	return p, nil
}

// firstStream is the stream of the default policy; those before it are used elsewhere in a node.
const firstStream = 16

// DefaultName is the name of the node's own policy.
func (s *Set) DefaultName() string { return s.cfg.Default }

// Default returns the default policy; nil = nothing has needed it so far.
func (s *Set) Default() balance.Policy {
	if at, ok := s.find(s.cfg.Default); ok {
		return s.list[at].Policy
	}
	return nil
}

// Use sets the policy of a name, so that it need not be one that package balance makes.
func (s *Set) Use(name string, p balance.Policy) {
	at, replaces := s.find(name)
	if replaces {
		s.list[at].Policy = p
	} else {
		s.list = slices.Insert(s.list, at, policy{name, p})
	}
	s.made++
	s.stale = true
}

// Len returns the number of policies.
func (s *Set) Len() int { return len(s.list) }

// Crowded reports whether there are so many policies that those not needed are to be removed with Keep: twice those
// that were left the last time, and the one made since.
func (s *Set) Crowded() bool { return len(s.list) > max(2*s.kept, minPolicies) }

// Keep removes the policies not named, one of which is the newest. A later Get makes such a policy anew.
func (s *Set) Keep(named map[string]bool) {
	s.list = slices.DeleteFunc(s.list, func(p policy) bool { return !named[p.name] })
	s.kept = len(s.list) - 1
}

// Note tells every policy an outcome, in a fixed order.
func (s *Set) Note(o balance.Outcome) {
	for i := range s.list {
		s.list[i].Note(o)
	}
}
