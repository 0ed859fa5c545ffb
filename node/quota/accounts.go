package quota

import (
	"skep/grid"
	"skep/sparse"
)

// Parties are who answers for what is kept. The origin is zero where another node sent the job: then the sender answers
// alone.
type Parties struct{ Origin, Sender grid.NodeID }

// Accounts count what is kept for whom. The zero value is empty. An account exists as long as something is kept for it.
type Accounts struct {
	accounts sparse.Map[key, *account]
	jobs     sparse.Map[grid.JobID, jobHolding]
	offers   sparse.Map[grid.AttemptID, offerHolding]
	all      account // each thing once
	spare    []*holding
	unused   []*account
}

// Admit says why something must not be kept for who; "" = it may. What is over does not stand in the way: see oldest.
func (s *Accounts) Admit(who Parties, size Amount) string {
	for _, k := range who.keys() {
		if a := s.accounts.Get(k); a != nil && !k.node.IsZero() {
			open := a.open()
			if why := open.beyond(&size, &Each); why != "" {
				return "of node " + k.node.Short() + ", " + why
			}
		} else if why := new(Amount).beyond(&size, &Each); why != "" {
			return why
		}
	}
	all := s.all.open()
	if why := all.beyond(&size, &All); why != "" {
		return "of all nodes, " + why
	}
	return ""
}

// left is what may still be kept for who. It may be negative: what was on disk is kept whatever it is.
func (s *Accounts) left(who Parties) Amount {
	left := All
	all := s.all.open()
	left.add(&all, -1)
	for _, k := range who.keys() {
		own := Each
		if a := s.accounts.Get(k); a != nil {
			open := a.open()
			own.add(&open, -1)
		}
		left = Amount{min(left.Bytes, own.Bytes), min(left.Registers, own.Registers), min(left.Tasks, own.Tasks),
			min(left.Offers, own.Offers)}
	}
	return left
}

// AdmitMore says why a job must not take so many bytes more; "" = it may, or nobody answers for it.
func (s *Accounts) AdmitMore(id grid.JobID, more grid.Bytes) string {
	if h := s.jobs.Get(id); h.holding != nil {
		return s.Admit(h.parties(), Amount{Bytes: more})
	}
	return ""
}

// Of returns who answers for a job.
func (s *Accounts) Of(id grid.JobID) (who Parties, known bool) {
	if h := s.jobs.Get(id); h.holding != nil {
		return h.parties(), true
	}
	return Parties{}, false
}

// oldest returns the job that is to be forgotten first to make room for something that was admitted; false if there is
// room, or nothing that could go.
func (s *Accounts) oldest(who Parties, size Amount) (grid.JobID, bool) {
	for _, k := range who.keys() {
		a := s.accounts.Get(k)
		if a != nil && (a.over.Tasks > MaxOver || a.kept.beyond(&size, &Each) != "") && len(a.old) > a.gone {
			return a.first().id.Task.Job, true
		}
	}
	if s.all.kept.beyond(&size, &All) != "" && len(s.all.old) > s.all.gone {
		return s.all.first().id.Task.Job, true
	}
	return grid.JobID{}, false
}

// crowded reports whether something does not fit beside what is kept, jobs that are over included.
func (s *Accounts) crowded(who Parties, size Amount) bool {
	for _, k := range who.keys() {
		if a := s.accounts.Get(k); a != nil && a.kept.beyond(&size, &Each) != "" {
			return true
		}
	}
	return s.all.kept.beyond(&size, &All) != ""
}

// Keep notes a job that this node is a member of. It is not known here.
func (s *Accounts) Keep(id grid.JobID, who Parties, size Amount) {
	at := grid.AttemptID{Task: grid.TaskID{Job: id}}
	s.jobs.Put(jobHolding{s.hold(at, who, size)})
}

// Resize notes how many bytes a job takes now.
func (s *Accounts) Resize(id grid.JobID, bytes grid.Bytes) {
	if h := s.jobs.Get(id); h.holding != nil && h.size.Bytes != bytes {
		s.change(h.holding, Amount{Bytes: bytes - h.size.Bytes})
	}
}

// End notes that a job is over, and of how many tasks something was written. It is the newest that is.
func (s *Accounts) End(id grid.JobID, tasks int) {
	h := s.jobs.Get(id).holding
	if h == nil || h.over {
		return
	}
	s.change(h, Amount{Tasks: tasks - h.size.Tasks})
	h.over = true
	for _, a := range h.who {
		if a != nil {
			a.over.add(&h.size, 1)
			a.old = append(a.old, h)
		}
	}
}

// Reopen notes that a job that was over goes on, and counts for all of its tasks.
func (s *Accounts) Reopen(id grid.JobID, tasks int) {
	h := s.jobs.Get(id).holding
	if h == nil || !h.over {
		return
	}
	who, size := h.parties(), h.size
	s.Forget(id)
	size.Tasks = tasks
	s.Keep(id, who, size)
}

// Forget gives back what a job took.
func (s *Accounts) Forget(id grid.JobID) {
	if h := s.jobs.Get(id); h.holding != nil {
		s.jobs.Drop(id)
		s.release(h.holding)
	}
}

// Take notes an attempt that was accepted. It is not known here.
func (s *Accounts) Take(id grid.AttemptID, who Parties, bytes grid.Bytes) {
	s.offers.Put(offerHolding{s.hold(id, who, Amount{Bytes: bytes, Offers: 1})})
}

// Extend notes that an attempt takes more bytes: its result.
func (s *Accounts) Extend(id grid.AttemptID, more grid.Bytes) {
	if h := s.offers.Get(id); h.holding != nil {
		s.change(h.holding, Amount{Bytes: more})
	}
}

// Return gives back what an attempt took.
func (s *Accounts) Return(id grid.AttemptID) {
	if h := s.offers.Get(id); h.holding != nil {
		s.offers.Drop(id)
		s.release(h.holding)
	}
}

// Kept is what is kept for all.
func (s *Accounts) Kept() Amount { return s.all.kept }
