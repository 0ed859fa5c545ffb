package listing

import (
	"cmp"
	"slices"

	"skep/grid"
)

// Answer is what one node tells, newest jobs first.
type Answer struct {
	By   grid.NodeID
	Rows []Row
	More bool // it left out older ones
}

// Entry is a job of the list.
type Entry struct {
	Row
	By     grid.NodeID // whose word it is
	Behind bool        // that node does not decide about the job: the job may be further by now
}

// told is an answer by job.
type told struct {
	*Answer
	at map[grid.JobID]int
}

// complete reports whether the node would have told of a job that was submitted then, if it knew one that the query
// selects.
func (t *told) complete(submitted int64) bool {
	return !t.More || len(t.Rows) > 0 && submitted > t.Rows[len(t.Rows)-1].Submitted
}

func (t *told) row(id grid.JobID) *Row {
	if t == nil {
		return nil
	}
	if at, ok := t.at[id]; ok {
		return &t.Rows[at]
	}
	return nil
}

// word is what a node tells of one job.
type word struct {
	*Row
	by grid.NodeID
}

// better reports whether w counts above x: who decides before who does not, then the later epoch, then who knows more
// ends.
func (w word) better(x word) bool {
	return x.Row == nil || cmp.Or(rank(w.Leads)-rank(x.Leads), cmp.Compare(w.Epoch, x.Epoch),
		cmp.Compare(w.Ended, x.Ended), x.by.Compare(w.by)) > 0
}

func rank(leads bool) int {
	if leads {
		return 1
	}
	return 0
}

// Merge returns the jobs that nodes tell of, newest first, at most as many as the query wants, and whether there are
// more. Each node answers once; self is the node that asks.
func Merge(q *Query, self grid.NodeID, answers []Answer) (list []Entry, more bool) {
	by := make(map[grid.NodeID]*told, len(answers))
	words := map[grid.JobID][]word{}
	var ids []grid.JobID
	for i := range answers {
		a := &answers[i]
		if by[a.By] != nil {
			continue
		}
		t := &told{a, make(map[grid.JobID]int, len(a.Rows))}
		by[a.By], more = t, more || a.More
		for k := range a.Rows {
			r := &a.Rows[k]
			if _, twice := t.at[r.ID]; twice || !q.selects(r) {
				continue
			}
			t.at[r.ID] = k
			if words[r.ID] == nil {
				ids = append(ids, r.ID)
			}
			words[r.ID] = append(words[r.ID], word{r, a.By})
		}
	}
	for _, id := range ids {
		if e, ok := decide(id, self, words[id], by); ok && q.States.Has(e.State()) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Submitted, a.Submitted), a.ID.Compare(b.ID))
	})
	if len(list) > q.Limit {
		list, more = list[:q.Limit], true
	}
	return list, more
}

// decide returns the word about a job that counts; false if the job is not to be listed.
func decide(id grid.JobID, self grid.NodeID, words []word, by map[grid.NodeID]*told) (Entry, bool) {
	origin := by[id.Origin]
	own := origin.row(id)
	if own == nil && origin != nil && origin.complete(words[0].Submitted) {
		return Entry{}, false // it has forgotten the job, or there never was one
	}
	known := own // whose list of members counts: the origin's, else this node's
	if known == nil {
		known = by[self].row(id)
	}
	if own != nil && (own.Leads || own.Over()) {
		return entry(word{own, id.Origin}, own), true
	}
	if known != nil && !known.Owner.IsZero() && known.Owner != id.Origin {
		owner := by[known.Owner]
		if r := owner.row(id); r != nil && (r.Leads || r.Over()) {
			return entry(word{r, known.Owner}, own), true
		} else if r == nil && owner != nil && owner.complete(words[0].Submitted) {
			return Entry{}, false // in a state that is not asked for
		}
	}
	var best word
	for _, w := range words {
		if known != nil && w.Row != known && len(known.Members) > 0 && !slices.Contains(known.Members, w.by) {
			continue
		}
		if w.better(best) {
			best = w
		}
	}
	return entry(best, own), true
}

// entry returns an entry of a word; what does not change is the origin's word, if it answered.
func entry(w word, own *Row) Entry {
	e := Entry{Row: *w.Row, By: w.by, Behind: !w.Leads && !w.Over()}
	if own != nil {
		e.Name, e.Access, e.Submitter, e.Submitted, e.Count = own.Name, own.Access, own.Submitter, own.Submitted, own.Count
		if own.Access == grid.AccessOwner {
			e.hide()
		} else {
			e.Class = own.Class
		}
		if e.Check() != nil { // counts of another job
			e.Row = *own
		}
	}
	return e
}

// hide removes what is not for every member.
func (r *Row) hide() {
	r.Class, r.Done, r.Exit, r.Stopped, r.Members, r.Owner, r.Since = "", 0, 0, "", nil, grid.NodeID{}, 0
}

// Public returns the row as every member may see it.
func (r *Row) Public() Row {
	x := *r
	if x.Access == grid.AccessOwner {
		x.hide()
	}
	return x
}
