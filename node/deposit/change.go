package deposit

// ChangeKind is what has changed about a job's deposits.
type ChangeKind uint8

// Changes of a job's deposits.
const (
	Evicted      ChangeKind = iota // its files have made room for others: the job is to be forgotten
	InputsStored                   // its inputs are stored here: to be saved
	OutputStored                   // a task's outputs are stored here: to be saved
	ResultAdded                    // Files.ResultBytes has grown
)

// Change is a change of a job's deposits that whoever keeps the job has to follow.
type Change struct {
	Kind  ChangeKind
	Of    *Files
	Index uint32 // of the task: OutputStored only
}

func (s *Store) changed(k ChangeKind, f *Files, i uint32) {
	s.changes.Add(Change{Kind: k, Of: f, Index: i})
}

// NextChange returns the oldest change that it has not returned yet, and reports whether there is one.
func (s *Store) NextChange() (c Change, found bool) {
	return s.changes.Take()
}
