package deposit

import (
	"cmp"
	"iter"
	"slices"
)

// Evictable files: those of jobs that were submitted elsewhere and have ended. Each payer has its own list, so that
// making room does not scan all jobs for each file.

// Ended says that a job has ended. From now on its files make room for others, after those of jobs that ended before.
func (s *Store) Ended(f *Files) {
	s.ended++
	f.ended = s.ended
	if f.size > 0 {
		s.account(f.payer).addEvictable(f)
	}
}

// Reopened says that a job that had ended goes on: its files make room for none.
func (s *Store) Reopened(f *Files) {
	if f.size > 0 {
		s.account(f.payer).removeEvictable(f)
	}
	f.ended = 0
}

// Reorder gives the jobs that have ended another order, oldest first: all of them, after a restart.
func (s *Store) Reorder(ended iter.Seq[*Files]) {
	for a := range s.accounts.All() {
		a.evictable = nil
	}
	s.ended = 0
	for f := range ended {
		s.Ended(f)
	}
}

// addEvictable adds files that take room, if their job has ended.
func (a *account) addEvictable(f *Files) {
	if f.ended > 0 {
		k, _ := a.find(f)
		a.evictable = slices.Insert(a.evictable, k, f)
	}
}

// removeEvictable removes files that take no room any more.
func (a *account) removeEvictable(f *Files) {
	if k, found := a.find(f); found {
		a.evictable = slices.Delete(a.evictable, k, k+1)
	}
}

// find returns the place of a job's files among the evictable ones.
func (a *account) find(f *Files) (place int, found bool) {
	return slices.BinarySearchFunc(a.evictable, f, func(x, f *Files) int { return cmp.Compare(x.ended, f.ended) })
}

// oldest returns the payer's evictable files to be released first; nil if none.
func (a *account) oldest() *Files {
	if len(a.evictable) == 0 {
		return nil
	}
	return a.evictable[0]
}

// oldest returns the evictable files, of all payers, to be released first; nil if none.
func (s *Store) oldest() (f *Files) {
	for a := range s.accounts.All() {
		if x := a.oldest(); x != nil && (f == nil || x.ended < f.ended) {
			f = x
		}
	}
	return f
}
