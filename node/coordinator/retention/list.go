package retention

import "cmp"

// links are a job's neighbours in a list.
type links struct{ before, after *Job }

// list is jobs in the order of their ends, oldest first.
type list struct {
	which       int // of a job's links
	first, last *Job
	len         int
}

// older reports whether a job ended before another one; of those that ended at once the one that came first did.
func (j *Job) older(than *Job) bool {
	return cmp.Or(cmp.Compare(j.ended, than.ended), cmp.Compare(j.seq, than.seq)) < 0
}

// insert adds a job at its place. That takes time in proportion to the jobs between it and the nearer end: after a
// restart jobs come in the order of their submissions, which is nearly that of their ends.
func (l *list) insert(j *Job) {
	at, from := l.last, l.first
	for at != nil && j.older(at) {
		if !from.older(j) { // its place is before from
			at = from.links[l.which].before
			break
		}
		at, from = at.links[l.which].before, from.links[l.which].after
	}
	l.insertAfter(at, j)
}

// add adds a job at the end, whatever the order.
func (l *list) add(j *Job) { l.insertAfter(l.last, j) }

func (l *list) insertAfter(at, j *Job) {
	k, next := l.which, l.first
	if at != nil {
		next = at.links[k].after
		at.links[k].after = j
	} else {
		l.first = j
	}
	if next != nil {
		next.links[k].before = j
	} else {
		l.last = j
	}
	j.links[k] = links{at, next}
	l.len++
}

func (l *list) remove(j *Job) {
	k, x := l.which, j.links[l.which]
	if x.before != nil {
		x.before.links[k].after = x.after
	} else {
		l.first = x.after
	}
	if x.after != nil {
		x.after.links[k].before = x.before
	} else {
		l.last = x.before
	}
	j.links[k] = links{}
	l.len--
}
