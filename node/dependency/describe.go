package dependency

import "skep/grid"

// Awaits is a dependency of a job, for people.
type Awaits struct {
	Job    grid.JobID
	Kind   grid.AfterKind
	Tasks  uint32 // with AfterEach: tasks of which the end is known here and committed
	Ended  bool   // that is known of the whole job
	Met    bool   // and it has ended as it should
	Why    string // it has not
	Asking bool   // this node asks about it: the rest is set
	News          // of it
}

// Describe returns what a job waits for, as far as this node knows; r is its register.
func (d *Dependencies) Describe(now grid.Time, id grid.JobID, s *grid.JobSpec, r Ends) (all []Awaits) {
	for k := range s.After.Jobs {
		other := &s.After.Jobs[k]
		x := Awaits{Job: other.Job, Kind: other.Kind}
		if e := end(r, s.DependencyEntry(k)); e != nil {
			x.Ended, x.Met, x.Why = true, other.Met(e), e.Error
		}
		if x.Met {
			x.Why = ""
		}
		if other.Kind == grid.AfterEach && !x.Ended {
			for i := range s.Count {
				if end(r, s.EachEntry(i)) != nil {
					x.Tasks++
				}
			}
			x.Ended = x.Tasks == s.Count
			x.Met = x.Ended
		}
		x.News, x.Asking = d.News(now, id, k)
		all = append(all, x)
	}
	return all
}
