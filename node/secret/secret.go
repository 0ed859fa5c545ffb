package secret

import (
	"fmt"
	"slices"

	"skep/grid"
)

// Bounds of what a node holds.
const (
	MaxHeld    = 1024 // secrets, of all owners
	MaxOfOwner = 64   // of one
)

// ID names a secret. Two nodes may give the same name to secrets of their own.
type ID struct {
	Owner grid.NodeID // the node that sets it
	Name  string
}

// Origin is whose jobs may use a secret.
type Origin struct {
	Node grid.NodeID
	User string // of that node, as it says; "" = any
}

// Secret is what its owner says of a secret, but for the value.
type Secret struct {
	ID
	Holders []grid.NodeID // that hold it
	Workers []grid.NodeID // that may get it
	Anyone  bool          // any node may get it, in place of Workers
	Origins []Origin      // whose jobs may use it

	// Former are nodes that held it before and have not said since that they forgot it. Only its owner keeps them.
	Former []grid.NodeID
}

// Known is a secret that a node has set, or holds.
type Known struct {
	Secret
	Held bool // at that node
}

// Check reports the first thing that is wrong with a secret that came from outside.
func (s *Secret) Check() error {
	switch {
	case !grid.ValidSecretName(s.Name):
		return fmt.Errorf("secret %.80q: want a name of at most %d letters, digits and \"._-\" that begins with a letter or "+
			"a digit", s.Name, grid.MaxSecretName)
	case len(s.Holders) < 1 || len(s.Holders) > grid.MaxSecretNodes:
		return fmt.Errorf("secret %s: %d nodes hold it: want 1 to %d", s.Name, len(s.Holders), grid.MaxSecretNodes)
	case len(s.Former) > grid.MaxSecretNodes:
		return fmt.Errorf("secret %s: %d nodes that held it before have not been reached: want at most %d: set it again "+
			"once they are there", s.Name, len(s.Former), grid.MaxSecretNodes)
	case len(s.Workers) > grid.MaxSecretNodes || s.Anyone == (len(s.Workers) > 0):
		return fmt.Errorf("secret %s: %d workers: want 1 to %d, or all", s.Name, len(s.Workers), grid.MaxSecretNodes)
	case len(s.Origins) < 1 || len(s.Origins) > grid.MaxSecretNodes:
		return fmt.Errorf("secret %s: jobs of %d nodes may use it: want 1 to %d", s.Name, len(s.Origins),
			grid.MaxSecretNodes)
	}
	for _, o := range s.Origins {
		if len(o.User) > grid.MaxUser || !grid.Printable(o.User) {
			return fmt.Errorf("secret %s: user %.40q: want printable text of at most %d bytes", s.Name, o.User, grid.MaxUser)
		}
	}
	return nil
}

// CheckValue reports a value that cannot be kept.
func CheckValue(name string, value []byte) error {
	if len(value) < 1 || len(value) > int(grid.MaxSecret) {
		return fmt.Errorf("secret %s: a value of %d bytes: want 1 to %d", name, len(value), int(grid.MaxSecret))
	}
	return nil
}

// Admits reports whether the jobs of a submitter may use the secret.
func (s *Secret) Admits(by grid.Submitter) bool {
	return slices.ContainsFunc(s.Origins, func(o Origin) bool {
		return o.Node == by.Node && (o.User == "" || o.User == by.User)
	})
}

// Trusts reports whether a node may get it.
func (s *Secret) Trusts(worker grid.NodeID) bool {
	return s.Anyone || slices.Contains(s.Workers, worker)
}

// Use is what a job says of the secret; env is the variable that has it, too.
func (s *Secret) Use(env string) grid.SecretUse {
	return grid.SecretUse{Name: s.Name, Env: env, Owner: s.Owner, Holders: s.Holders, Workers: s.Workers, Anyone: s.Anyone}
}
