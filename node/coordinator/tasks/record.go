package tasks

import (
	"skep/grid"
	"skep/node/failures"
)

// Written is what the job's register and the files that are kept here say about a task.
type Written struct {
	Entry     *grid.Entry // nil = there is none
	Committed bool
	Sole      bool // this node alone keeps the job
	Origin    bool // the job was submitted here

	// Output is the attempt of which files are kept here, with its result, if HasOutput.
	Output    grid.Attempt
	Result    *grid.Result
	HasOutput bool
}

// held reports whether the files of the entry's attempt are here.
func (w *Written) held() bool { return w.HasOutput && w.Output == w.Entry.Attempt || w.Sole }

// Record fills in the record of an entry of the job's register, by its index: below the number of tasks, of a task; at
// it, of the job's cancellation; above, of what another job has left. backup is the worker of the task's live backup
// attempt; zero = it has none. It reports whether there is nothing to record.
func (l *List[L]) Record(e *grid.EntryRecord, i, count uint32, w Written, backup grid.NodeID) (none bool) {
	v := w.Entry
	switch {
	case v == nil && i == count:
		return true
	case i >= count && v.Open():
		e.State, e.Open, e.Committed = grid.Pending, v, w.Committed
	case v != nil && !v.Open():
		failures.Record(e, v, w.Committed)
		// what another job has left is kept where it is, for the submitter of this one
		e.Held = w.held() || i > count && w.Origin
		if i < count {
			// the task may be run again: see Task.Next
			if t := l.Peek(i); t != nil && v.Attempt.Less(t.Backup) {
				e.Backup = &grid.BackupRecord{Attempt: t.Backup}
			}
		}
	case i < count:
		t := l.At(i)
		t.record(e, backup)
		// the files must not replace the record of a newer attempt
		if w.HasOutput && !w.Output.Less(t.Attempt) {
			e.ID.Attempt, e.Result, e.Held = w.Output, w.Result, true
		}
		if v != nil {
			t.recordOpen(e, &w)
		}
	}
	return false
}

// record fills in what is known here of a task that has no end in the register.
func (t *Task[L]) record(e *grid.EntryRecord, backup grid.NodeID) {
	e.State, e.ID.Attempt, e.Worker, e.Lost = t.state, t.Attempt, t.Worker, t.Lost
	e.Placed, e.Began, e.Done, e.Pulls, e.Moves = t.Placed, t.Began, t.Done, t.Pulls, t.Moves
	e.Option = t.Option
	if t.Backup != (grid.Attempt{}) && t.state != grid.Ended {
		e.Backup = &grid.BackupRecord{Attempt: t.Backup, Worker: backup}
	}
}

// recordOpen adds the register's open entry to a task's record, which says how the task goes on.
func (t *Task[L]) recordOpen(e *grid.EntryRecord, w *Written) {
	e.Open, e.Committed = w.Entry, w.Committed
	if e.State == grid.Ended { // it goes on once the entry is committed
		e.State, e.Began, e.Done = grid.Pending, 0, 0
		if t.Backup != (grid.Attempt{}) {
			e.Backup = &grid.BackupRecord{Attempt: t.Backup}
		}
	}
	if e.Result == nil {
		e.Held = w.held()
	}
}

// Restore takes what is on disk of a task. committed is whether its end is committed, if it has ended; else here says
// whether its worker is this node's own, which has to be told: others report it again.
func (l *List[L]) Restore(r *grid.EntryRecord, committed bool, here func(grid.NodeID) bool) *Task[L] {
	i, ended := r.ID.Task.Index, r.Epoch != 0
	t := l.At(i)
	l.in[t.state]--
	*t = Task[L]{state: r.State, Pulls: r.Pulls, Moves: r.Moves, Option: r.Option,
		Kept: Kept{Attempt: r.ID.Attempt, Worker: r.Worker,
			Lost: r.Lost, Placed: r.Placed, Began: r.Began, Done: r.Done}}
	l.in[t.state]++
	if r.Backup != nil {
		t.Backup = r.Backup.Attempt
	}
	if !ended {
		if t.Worker.IsZero() {
			t.Attempt = grid.Attempt{} // another owner made the attempt: this owner has yet to hear of it
		}
		if v := r.Open; v != nil && t.Attempt.Less(v.Attempt) {
			t.Attempt, t.Worker = v.Attempt, v.Worker
		}
		return t // a result only says that the output is kept here
	}
	t.Result, t.Round = r.Result.Compact(), r.Round
	if !committed {
		l.Propose(i, r.Round)
		t.Held = here(t.Worker)
	}
	return t
}
