// Package seats says who decides about a register of a simulated world, by what is on its disks.
//
// The members of a register are replaced one at a time. While a change is not settled, a majority of the members before
// it and one of those after it decide together; then those after it alone. This package says so without the nodes' own
// code, which it is to check.
package seats
