package deposit

import (
	"time"

	"skep/fifo"
	"skep/grid"
	"skep/sparse"
)

// Config is what a node says of itself once.
type Config struct {
	Self  grid.NodeID
	Quota grid.Bytes // for the files of all jobs submitted elsewhere; half of it for those of one payer
	Limit grid.Bytes // for a job's inputs, or the outputs of one task: larger ones are not deposited

	Confirm time.Duration // how long a majority is waited for, besides a second for each minRate bytes
	Retry   time.Duration // after which an unanswered request is repeated

	ResultBytes func(*grid.Result) grid.Bytes // estimates the memory of a result
}

// Store is what a node stores for jobs submitted elsewhere: who is charged for it, what is under way, and which jobs
// make room first.
type Store struct {
	cfg       Config
	lowDisk   bool // the disk is nearly full: nothing more is fetched
	accounts  sparse.Map[grid.NodeID, *account]
	charged   grid.Bytes // to all accounts
	transfers map[grid.AttemptID]transfer
	ended     uint64 // jobs that ended so far
	changes   fifo.Queue[Change]
}

// New returns a node's store: nothing is in it yet.
func New(cfg Config) Store { return Store{cfg: cfg} }

// LowDisk says that the disk is nearly full, or no longer so.
func (s *Store) LowDisk(low bool) { s.lowDisk = low }

// Payers appends the nodes that are charged for files stored here, or under way.
func (s *Store) Payers(dst []grid.NodeID) []grid.NodeID {
	for a := range s.accounts.All() {
		if a.charged > 0 || a.fetching > 0 {
			dst = append(dst, a.Key())
		}
	}
	return dst
}
