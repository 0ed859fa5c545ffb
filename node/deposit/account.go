package deposit

import (
	"fmt"

	"skep/grid"
)

// account is what one node is charged for the files that are stored here for its jobs.
type account struct {
	payer     grid.NodeID
	charged   grid.Bytes // for its jobs' files, those under way included
	fetching  int        // transfers under way
	evictable []*Files   // of its jobs that have ended, those with room to free; oldest end first
}

// Key returns the node that is charged.
func (a *account) Key() grid.NodeID { return a.payer }

// maxFetching bounds the transfers under way that are charged to one node.
const maxFetching = 1024

// diskBlock is the least size charged for a file: many small files must not be free.
const diskBlock = 4 * grid.KiB

// diskBytes returns the approximate disk space of files, in bytes.
func diskBytes(files []grid.File) (sum grid.Bytes) {
	const most = grid.Bytes(1) << 60
	for i := range files {
		sum = min(sum+min(max(files[i].Size, 0), most)+diskBlock, most)
	}
	return sum
}

// account returns a node's account; it opens it if there is none.
func (s *Store) account(payer grid.NodeID) *account {
	if a := s.accounts.Get(payer); a != nil {
		return a
	}
	a := &account{payer: payer}
	s.accounts.Put(a)
	return a
}

// settle closes an account that holds nothing.
func (s *Store) settle(a *account) {
	if a.charged == 0 && a.fetching == 0 && len(a.evictable) == 0 {
		s.accounts.Drop(a.payer)
	}
}

// charge changes the room that the files of a job submitted elsewhere take; size may be negative.
func (s *Store) charge(f *Files, size grid.Bytes) {
	if f.own || size == 0 {
		return
	}
	a := s.account(f.decidePayer())
	f.size += size
	a.charged += size
	s.charged += size
	switch f.size {
	case 0:
		a.removeEvictable(f)
	case size: // it had none before
		a.addEvictable(f)
	}
	s.settle(a)
}

// admit makes room for files of a job, by evicting the oldest evictable jobs; it returns the reason if it cannot.
func (s *Store) admit(f *Files, files []grid.File) grid.Refusal {
	size, payer, none := diskBytes(files), f.nextPayer(), account{}
	a := &none
	if x := s.accounts.Get(payer); x != nil {
		a = x // it may be closed meanwhile: then it is empty
	}
	half := s.cfg.Quota / 2
	switch {
	case f.own:
		return grid.Refusal{}
	case size > s.cfg.Limit:
		return grid.Refusal{Why: grid.WhyRoom, Detail: fmt.Sprintf("%.1f MiB, of at most %.1f that it copies", mebi(size),
			mebi(s.cfg.Limit))}
	case s.lowDisk:
		return grid.Refusal{Why: grid.WhyDisk}
	case a.fetching >= maxFetching:
		return grid.Refusal{Why: grid.WhyQueue}
	}
	for a.charged+size > half || s.charged+size > s.cfg.Quota {
		oldest := s.oldest()
		if a.charged+size > half {
			oldest = a.oldest()
		}
		if oldest == nil {
			return grid.Refusal{Why: grid.WhyRoom, Detail: fmt.Sprintf("%.1f of at most %.1f MiB are stored for node %s",
				mebi(a.charged), mebi(half), payer.Short())}
		}
		s.Release(oldest)
		s.changed(Evicted, oldest, 0)
	}
	return grid.Refusal{}
}

func mebi(n grid.Bytes) float64 { return float64(n) / float64(grid.MiB) }
