package store

import "sync/atomic"

// savedNumber numbers the commits of records: with the log's generation, which each transaction raises that takes over
// what the log holds, and the commits in that generation. So it is on disk with the records and costs nothing. A commit
// has a higher number than all before it, also over starts.
type savedNumber struct {
	now   atomic.Uint64 // of the last commit, or of what Open found
	found uint64        // by Open
}

// perGeneration is more than the commits that a generation of the log can hold: each takes a sector.
const perGeneration = 4 * logSectors

// number returns the number of a commit by its place in a generation of the log.
func (s *logState) number(count uint64) uint64 { return s.generation*perGeneration + count }

// open notes what was found at the start: so many commits in the log.
func (n *savedNumber) open(s *logState, count uint64) {
	n.found = s.number(count)
	n.now.Store(n.found)
}

// Saved returns the number of the last commit; it is on disk.
func (s *Store) Saved() uint64 { return s.saved.now.Load() }

// FoundSaved returns the number of the last commit that was on disk when the store was opened.
func (s *Store) FoundSaved() uint64 { return s.saved.found }
