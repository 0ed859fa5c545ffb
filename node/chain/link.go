package chain

import (
	"fmt"

	"skep/grid"
)

// Link is a kind of statement in a chain.
type Link uint8

// Links, from the origin on.
const (
	Genesis    Link = iota + 1 // the origin: job, specification, first members
	Members                    // a majority of the members before and after: who the members are
	Votes                      // a majority of the members: who owns an epoch
	Assignment                 // the owner: an attempt is a worker's
	Worker                     // the worker: how the attempt ended
	Owner                      // the owner: how a task ended that no worker ended
)

var linkNames = [...]string{"", "origin", "members", "votes", "assignment", "worker", "owner"}

// String returns the name of the link, as in errors.
func (l Link) String() string {
	if int(l) < len(linkNames) {
		return linkNames[l]
	}
	return "unknown"
}

// Error says which link of a chain is wrong, and why.
type Error struct {
	Link Link
	Why  string
}

func (e *Error) Error() string { return fmt.Sprintf("the link of the %s: %s", e.Link, e.Why) }

func wrong(l Link, format string, args ...any) error { return &Error{l, fmt.Sprintf(format, args...)} }

// ByWorker reports whether only a worker can say that a task ended so: its program ran to an end. All other ends are
// the owner's: no attempt ended, or the owner has decided that none is to.
func ByWorker(c grid.Cause) bool {
	return c == grid.Exited || c == grid.Signaled || c == grid.TimedOut || c == grid.MemoryExceeded
}

// Signed is what a chain says of how a task ended.
type Signed struct {
	Owner  grid.NodeID // assigned the attempt, or ended the task
	Epoch  uint32      // of the owner
	Worker grid.NodeID // signed the end; zero = the owner did
}
