// Package lpas solves the allocation LP.
package lpas

// Workspace is scratch space lent to a solve.
type Workspace struct{}
