package grid

import "path"

// After says which other jobs a job waits for, and what its tasks read of what those have left.
type After struct {
	Jobs   []Dependency
	Inputs []JobInput
}

// Dependency is another job that a job waits for.
type Dependency struct {
	Job     JobID
	Kind    AfterKind
	Members []NodeID // of that job's register, as its submission was told; none = its origin alone
}

// AfterKind says how a job that is waited for must have ended. The numbers are on the wire: never reuse one.
type AfterKind uint8

// Kinds of dependencies.
const (
	AfterAny  AfterKind = iota // any end of all its tasks
	AfterOK                    // all its tasks have ended well
	AfterEach                  // task i waits for the good end of its task i
	afterKinds
)

var afterNames = [...]string{"after", "after_ok", "after_each"}

// String returns the name of the key of a job file.
func (k AfterKind) String() string {
	if int(k) < len(afterNames) {
		return afterNames[k]
	}
	return "unknown"
}

// JobInput is a file that a task of another job has left, as an input.
type JobInput struct {
	Of   uint32 // position of that job in After.Jobs
	Task uint32 // that left the file; with AfterEach 0, and it is the task of the same index
	Path string // of the file among the collected outputs of that task
	To   string // in the work folder
}

// Bounds of what a job waits for.
const (
	MaxAfter     = 16 // jobs
	MaxJobInputs = 64 // files of other jobs

	// MaxEntryIndex is the highest index of a register's entry: the tasks, the cancellation, what it waits for, which
	// tasks may have been offered, and what it has used. A gang, which has an entry of its moves, has far fewer tasks.
	MaxEntryIndex = MaxCount + MaxAfter + MaxCount + 2
)

// A job that waits for others has further entries in its register, after the cancellation, whose index is Count: one
// for each dependency, then, if there is one of AfterEach, one for each task. Such an entry is how what is waited for
// has ended; with its outputs are the files that are inputs, under the names that they have as such.

// Each returns the position of the dependency of AfterEach; -1 = there is none.
func (a *After) Each() int {
	for k := range a.Jobs {
		if a.Jobs[k].Kind == AfterEach {
			return k
		}
	}
	return -1
}

// Entries is the number of entries of the job's register.
func (s *JobSpec) Entries() uint32 {
	n := s.Count + 1 + uint32(len(s.After.Jobs))
	if s.After.Each() >= 0 {
		n += s.Count
	}
	if s.CountsMoves() {
		n++
	}
	if s.Rules.Budget.Some() {
		n++
	}
	if s.RecordsOffers {
		n++
	}
	return n
}

// CountsMoves reports whether the register has an entry of how often the gang has moved.
func (s *JobSpec) CountsMoves() bool { return s.Gang.Search != nil && s.Gang.Search.CountsMoves }

// MovesEntry returns the index of the entry of the moves of a gang which counts them. It is open: Attempt is the newest
// that is given up for a move, and Round how many moves were made before.
func (s *JobSpec) MovesEntry() uint32 {
	if s.Rules.Budget.Some() {
		return s.UsedEntry() - 1
	}
	return s.Entries() - 1
}

// IsTally reports whether an entry is about all attempts of the job: about its moves, which tasks may have been
// offered, or what it has used.
func (s *JobSpec) IsTally(entry uint32) bool {
	return s.CountsMoves() && entry == s.MovesEntry() || s.RecordsOffers && entry == s.OfferedEntry() ||
		s.Rules.Budget.Some() && entry == s.UsedEntry()
}

// UsedEntry returns the index of the entry of what a job with a budget has used: the last one. It is open, and each
// round has more than the one before.
func (s *JobSpec) UsedEntry() uint32 { return s.Entries() - 1 }

// OfferedEntry returns the index of the entry that says which tasks of a job that records its offers may have been
// offered. It is open, and has Offered.
func (s *JobSpec) OfferedEntry() uint32 {
	if s.Rules.Budget.Some() {
		return s.UsedEntry() - 1
	}
	return s.Entries() - 1
}

// MayRecordOffers reports whether the register of such a job can say which tasks may have been offered: of others a new
// owner runs anew whatever it does not hear of.
func (s *JobSpec) MayRecordOffers() bool { return s.Retries == 0 && !s.IsGang() }

func (s *JobSpec) checkOffers(p *problems) {
	if s.RecordsOffers && !s.MayRecordOffers() {
		p.addf("records_offers with retries %d or gang.ranks %d: want retries 0 and no gang with it: other tasks are run "+
			"again by whoever owns the job", s.Retries, s.Gang.Ranks)
	}
}

// DependencyEntry returns the index of the entry of a dependency; of AfterEach it is not used.
func (s *JobSpec) DependencyEntry(k int) uint32 { return s.Count + 1 + uint32(k) }

// EachEntry returns the index of the entry of what one task waits for.
func (s *JobSpec) EachEntry(task uint32) uint32 {
	return s.Count + 1 + uint32(len(s.After.Jobs)) + task
}

// DependencyOf returns which dependency an entry is of, and of which task if it is of AfterEach; false = of none.
func (s *JobSpec) DependencyOf(entry uint32) (k int, task uint32, found bool) {
	jobs := uint32(len(s.After.Jobs))
	if entry <= s.Count || entry >= s.Entries() || s.IsTally(entry) {
		return 0, 0, false
	}
	if at := entry - s.Count - 1; at < jobs {
		return int(at), 0, true
	} else {
		return s.After.Each(), at - jobs, true
	}
}

// Met reports whether an end is what a dependency waits for.
func (d *Dependency) Met(end *Result) bool {
	switch {
	case end == nil || end.Cause == Failed: // a file that is wanted is not there
		return false
	case d.Kind == AfterAny:
		return true
	}
	return end.Cause == Exited && end.Exit == 0
}

func (s *JobSpec) checkAfter(p *problems) {
	a := &s.After
	if len(a.Jobs) > MaxAfter || len(a.Inputs) > MaxJobInputs {
		p.addf("after: %d jobs, %d inputs of them: want at most %d and %d", len(a.Jobs), len(a.Inputs), MaxAfter,
			MaxJobInputs)
		return
	}
	each := 0
	for k := range a.Jobs {
		d := &a.Jobs[k]
		if d.Kind >= afterKinds || len(d.Members) > MaxMembers || d.Job == (JobID{}) {
			p.addf("%v: kind %d, %d members: want kind 0 to %d, at most %d members, and a job", d.Kind, d.Kind,
				len(d.Members), afterKinds-1, MaxMembers)
		}
		for _, other := range a.Jobs[:k] {
			if other.Job == d.Job {
				p.addf("%v: job %s is there twice: want each job once", d.Kind, d.Job.Short())
			}
		}
		if d.Kind == AfterEach {
			each++
		}
	}
	if each > 1 {
		p.addf("after_each: %d jobs: want one", each)
	}
	if len(a.Inputs) > 0 && !s.Needs.HasFeature(JobInputsLabel) {
		p.addf("inputs of jobs: want needs.labels.%s %s with them: other nodes would run the tasks without",
			JobInputsLabel, FeatureValue)
	}
	s.checkJobInputs(p)
}

func (s *JobSpec) checkJobInputs(p *problems) {
	taken := make(map[string]bool, len(s.Inputs))
	if len(s.After.Inputs) > 0 {
		for _, f := range s.Inputs {
			taken[path.Clean(f.Path)] = true
		}
	}
	for _, in := range s.After.Inputs {
		switch {
		case int(in.Of) >= len(s.After.Jobs):
			p.addf("inputs of jobs: position %d: want one of the %d jobs that it waits for", in.Of, len(s.After.Jobs))
		case s.After.Jobs[in.Of].Kind == AfterEach && in.Task != 0 || in.Task >= MaxCount:
			p.addf("inputs of jobs: task %d: want 0 to %d, and none with after_each, where each task has that of its index",
				in.Task, MaxCount-1)
		}
		for _, name := range [...]string{in.Path, in.To} {
			if !Inside(name) || !Printable(name) {
				p.addf("inputs of jobs: path %q: want a path inside the work folder, of printable text", name)
			}
		}
		if to := path.Clean(in.To); taken[to] {
			p.addf("inputs of jobs: path %q: another input has this name: say another with to", in.To)
		} else {
			taken[to] = true
		}
	}
}
