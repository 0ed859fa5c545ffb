package exec

import "slices"

// gapList is work sorted by order. Where much is queued it has a gap, so that removals close to each other move little:
// under an order of bids they go through the middle of the queue.
type gapList struct {
	list    []*Work // but for the gap
	at, gap int     // list[at:at+gap] is empty; with a gap, neither end of the list is in it
}

func (q *gapList) Len() int { return len(q.list) - q.gap }

// all closes the gap, and returns the work; read only.
func (q *gapList) all() []*Work {
	if q.gap == 0 {
		return q.list
	}
	if end := q.at + q.gap; q.at < len(q.list)-end {
		copy(q.list[q.gap:end], q.list[:q.at])
		clear(q.list[:q.gap])
		q.list = q.list[q.gap:]
	} else {
		copy(q.list[q.at:], q.list[end:])
		clear(q.list[len(q.list)-q.gap:])
		q.list = q.list[:len(q.list)-q.gap]
	}
	q.gap = 0
	return q.list
}

// head returns the first of the work, up to most; read only.
func (q *gapList) head(most int) []*Work {
	if q.gap > 0 && q.at >= most {
		return q.list[:most]
	}
	return q.all()[:min(q.Len(), most)]
}

// push appends work.
func (q *gapList) push(w *Work) { q.list = append(q.list, w) }

// insert inserts work at an index.
func (q *gapList) insert(at int, w *Work) { q.list = slices.Insert(q.all(), at, w) }

// remove removes work, by the cheapest of moving what is before it, what is behind it, or the gap.
func (q *gapList) remove(w *Work) {
	i := q.find(w)
	end, last := q.at+q.gap, len(q.list)-1
	switch {
	case q.gap == 0 && len(q.list) < longList:
		q.list = slices.Delete(q.list, i, i+1)
	case i == 0 || q.gap > 0 && i < q.at && i <= q.at-i:
		copy(q.list[1:i+1], q.list[:i])
		q.list[0] = nil
		q.list = q.list[1:]
		q.at--
	case i == last || q.gap > 0 && i >= end && last-i <= i-end:
		copy(q.list[i:], q.list[i+1:])
		q.list[last] = nil
		q.list = q.list[:last]
	case q.gap == 0:
		q.list[i] = nil
		q.at, q.gap = i, 1
	case i < q.at:
		copy(q.list[i+1+q.gap:end], q.list[i+1:q.at])
		clear(q.list[i:min(q.at, i+1+q.gap)])
		q.at, q.gap = i, q.gap+1
	default:
		copy(q.list[q.at:], q.list[end:i])
		at := q.at + i - end
		clear(q.list[max(at, end) : i+1])
		q.at, q.gap = at, q.gap+1
	}
	if q.gap > 0 && (q.at == 0 || q.at+q.gap == len(q.list) || q.gap > len(q.list)/2) {
		q.all()
	}
}

// find returns the place of work in the list.
func (q *gapList) find(w *Work) int {
	from, to := 0, len(q.list)
	if q.gap > 0 {
		if from = q.at + q.gap; q.list[from].order > w.order {
			from, to = 0, q.at
		}
	}
	at, ok := slices.BinarySearchFunc(q.list[from:to], w.order, byOrder)
	if !ok || q.list[from+at] != w {
		panic("exec: work is in the list of its state")
	}
	return from + at
}
