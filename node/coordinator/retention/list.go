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

// insert adds a job at its place. That is quick for the newest, and takes time in proportion to the older ones for
// others.
func (l *list) insert(j *Job) {
	at := l.last
	if at != nil && j.older(at) {
		next := l.first
		for next.older(j) {
			next = next.links[l.which].after
		}
		at = next.links[l.which].before
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
