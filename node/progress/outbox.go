package progress

import "skep/grid"

// repeatBeats is after how many beats the same report is sent again: the message with it may have been lost, or the job
// has another owner since. Lower sends more; higher leaves an owner longer with what was said before.
const repeatBeats = 8

// Outbox holds the newest report of each attempt here that has made one.
type Outbox struct {
	notes map[grid.AttemptID]*note
}

type note struct {
	progress grid.Progress
	beats    int // since it was sent; repeatBeats if it was not
}

// Put keeps what an attempt has said, instead of what it said before.
func (o *Outbox) Put(id grid.AttemptID, p *grid.Progress) {
	n := o.notes[id]
	if n == nil {
		if o.notes == nil {
			o.notes = make(map[grid.AttemptID]*note)
		}
		n = new(note)
		o.notes[id] = n
	}
	n.progress, n.beats = *p, repeatBeats
}

// Drop forgets an attempt.
func (o *Outbox) Drop(id grid.AttemptID) { delete(o.notes, id) }

// AddBeat adds an attempt to a beat, with its report if that is due and there is room for it: else the next beat has
// it. is says where it stands: Queued, Suspended, Suspensions and Movable.
func (o *Outbox) AddBeat(m *grid.Message, id grid.AttemptID, is grid.Report) {
	m.Attempts = append(m.Attempts, id)
	n := o.notes[id]
	if n != nil && n.beats < repeatBeats {
		n.beats++
	}
	due := n != nil && n.beats >= repeatBeats
	if !is.Queued && is.Suspensions == nil && is.Movable == nil && !due || len(m.Reports) == grid.MaxReports {
		return
	}
	r := is
	if r.At = len(m.Attempts) - 1; due {
		r.Said, r.Progress, n.beats = true, n.progress, 0
	}
	m.Reports = append(m.Reports, r)
}
