// Package sums tells whether an entry of a node's database is as it was written: each value is framed by a sum of its
// key and itself and one of its key, and one flipped bit is flipped back. See DESIGN.md of package store.
package sums
