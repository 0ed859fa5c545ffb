package brokers

// happening is something that is due.
type happening struct {
	at   float64
	seq  uint64 // of equal times the earlier made is first
	what what
	job  *job
}

type what uint8

const (
	read   what = iota // resources near or far tell their states
	readAt             // those of other clusters
	decide             // all answers are there
	join               // the job is at its resource
	back               // the job is at its broker again
)

// agenda is a heap of what is due.
type agenda struct {
	list []happening
	seq  uint64
}

func (a *agenda) add(at float64, w what, j *job) {
	a.seq++
	h := happening{at, a.seq, w, j}
	a.list = append(a.list, h)
	k := len(a.list) - 1
	for k > 0 {
		up := (k - 1) / 2
		if !h.before(&a.list[up]) {
			break
		}
		a.list[k] = a.list[up]
		k = up
	}
	a.list[k] = h
}

func (h *happening) before(x *happening) bool { return h.at < x.at || h.at == x.at && h.seq < x.seq }

func (a *agenda) next() happening {
	first, n := a.list[0], len(a.list)-1
	h := a.list[n]
	a.list[n] = happening{}
	a.list = a.list[:n]
	k := 0
	for {
		c := 2*k + 1
		if c >= n {
			break
		}
		if c+1 < n && a.list[c+1].before(&a.list[c]) {
			c++
		}
		if !a.list[c].before(&h) {
			break
		}
		a.list[k] = a.list[c]
		k = c
	}
	if n > 0 {
		a.list[k] = h
	}
	return first
}
