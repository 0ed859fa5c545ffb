package node

import (
	"skep/grid"
	"skep/sparse"
)

// depositAccount is what one node is charged for the files that are stored here for its jobs.
type depositAccount struct {
	payer     grid.NodeID
	deposited grid.Bytes // size of the files, those under way included
	fetching  int        // number of deposits being fetched
	evictable []*job     // its jobs that are over and whose files take room, oldest end first
}

// Key returns the node that is charged.
func (a *depositAccount) Key() grid.NodeID { return a.payer }

// depositAccounts are the accounts of all nodes.
type depositAccounts struct {
	by sparse.Map[grid.NodeID, *depositAccount]
}

// of returns a node's account; it creates it if there is none.
func (s *depositAccounts) of(id grid.NodeID) *depositAccount {
	if a := s.by.Get(id); a != nil {
		return a
	}
	a := &depositAccount{payer: id}
	s.by.Put(a)
	return a
}

// holds reports whether files of a node are stored here or under way.
func (s *depositAccounts) holds(id grid.NodeID) bool {
	a := s.by.Get(id)
	return a != nil && (a.deposited > 0 || a.fetching > 0)
}

// settle removes an account that holds nothing.
func (s *depositAccounts) settle(a *depositAccount) {
	if a.deposited == 0 && a.fetching == 0 && len(a.evictable) == 0 {
		s.by.Drop(a.payer)
	}
}
