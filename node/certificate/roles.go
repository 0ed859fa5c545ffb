package certificate

import (
	"fmt"
	"slices"
	"strings"
)

// Roles are what a member may do, a bit each. The numbers are on the wire.
type Roles uint8

// Roles of members.
const (
	Run    Roles = 1 << iota // accepts the tasks of others
	Submit                   // has its jobs run by others
	Relay                    // relays for members that cannot be dialled
	Admin                    // drains other nodes
)

// AllRoles are all roles.
const AllRoles = Run | Submit | Relay | Admin

var roleNames = []string{"run", "submit", "relay", "admin"}

// Has reports whether all of want are among r.
func (r Roles) Has(want Roles) bool { return r&want == want }

// Names returns the roles' names.
func (r Roles) Names() (names []string) {
	for i, name := range roleNames {
		if r.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// String returns the roles' names with commas, as ParseRoles reads them.
func (r Roles) String() string { return strings.Join(r.Names(), ",") }

// ParseRoles returns the roles of some names.
func ParseRoles(names []string) (r Roles, err error) {
	for _, name := range names {
		i := slices.Index(roleNames, name)
		if i < 0 {
			return 0, fmt.Errorf("role %.40q: want of %s", name, strings.Join(roleNames, ", "))
		}
		r |= 1 << i
	}
	return r, nil
}
