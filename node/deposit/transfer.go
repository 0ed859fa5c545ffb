package deposit

import (
	"slices"

	"skep/grid"
)

// transfer is files under way to this node for a job submitted elsewhere. They are charged until the fetch ends, even
// if the job is forgotten meanwhile or another attempt's files are wanted: a fetch is never stopped.
type transfer struct {
	payer grid.NodeID // the node that is charged
	files []grid.File
}

// fetch fetches files to be stored here; it returns why that is impossible now. A fetch already under way is not
// repeated.
func (s *Store) fetch(f *Files, id grid.AttemptID, from grid.NodeID, files []grid.File, fx *grid.Effects) grid.Refusal {
	if running, found := s.transfers[id]; found {
		if !slices.Equal(running.files, files) { // the sender names other files than before
			return grid.Refusal{Why: grid.WhyQueue}
		}
		return grid.Refusal{}
	}
	if refusal := s.admit(f, files); refusal.Why != grid.WhyNone {
		return refusal
	}
	if !f.own {
		s.beginTransfer(id, transfer{payer: f.decidePayer(), files: files})
	}
	fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: id, From: from, Others: f.reg.Members(), Files: files,
		Deposit: true})
	return grid.Refusal{}
}

// beginTransfer charges the files to come.
func (s *Store) beginTransfer(id grid.AttemptID, t transfer) {
	if s.transfers == nil {
		s.transfers = make(map[grid.AttemptID]transfer)
	}
	s.transfers[id] = t
	size, a := diskBytes(t.files), s.account(t.payer)
	a.fetching++
	a.charged += size
	s.charged += size
}

// endTransfer ends that charge; files that are stored are charged to their job.
func (s *Store) endTransfer(id grid.AttemptID) {
	t, found := s.transfers[id]
	if !found {
		return
	}
	delete(s.transfers, id)
	size, a := diskBytes(t.files), s.account(t.payer)
	a.fetching--
	a.charged -= size
	s.charged -= size
	s.settle(a)
}
