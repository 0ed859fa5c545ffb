package members

import (
	"skep/grid"
	"skep/node/api/v1"
	"skep/node/p2p"
)

// API is what the API of a node needs of its members.
type API struct{ *p2p.Driver }

// Certificate returns what a node has shown; nil if it has shown none.
func (a API) Certificate(n grid.NodeID) *v1.Certificate {
	c, err := a.Shown(n)
	if c == nil {
		return nil
	}
	state := "valid"
	if err != nil {
		state = err.Error()
	}
	return &v1.Certificate{Name: c.Name, Roles: c.Roles.Names(), Issuer: c.Issuer.Node.String(), Until: c.Until.Wall(),
		State: state}
}
