package sim

import "skep/node"

// shown is what a node has said of a job in this run.
type shown struct {
	cancelled bool
	ended     int
}

// checkShown judges that what a node says of a job never goes back: nothing is said before it is final.
func (w *World) checkShown(i int32, v *node.JobView) {
	h := &w.hosts[i]
	n := w.job(i, v.ID)
	if n < 0 {
		return
	}
	if h.shown == nil {
		h.shown = make(map[int32]shown)
	}
	was := h.shown[n]
	if was.cancelled && !v.Cancelled {
		w.failf(i, "says that submission %d is not cancelled, and has said that it is", n)
	}
	if v.Ended < was.ended {
		w.failf(i, "says that %d tasks of submission %d have ended, and has said %d", v.Ended, n, was.ended)
	}
	h.shown[n] = shown{v.Cancelled, v.Ended}
}
