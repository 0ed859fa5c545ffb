package sim

import "skep/node"

// reportedJob is what a node's view of a job said in this run.
type reportedJob struct {
	ended     int32
	cancelled bool
}

// checkReportedJob checks that a node's view of a job never goes back, as only committed ends are visible. The same
// holds between nodes that may act as the owner; others may be behind.
func (w *World) checkReportedJob(i int32, v *node.JobView) {
	h := &w.hosts[i]
	n := w.job(i, v.ID)
	if n < 0 {
		return
	}
	if h.reported == nil {
		h.reported = make(map[int32]reportedJob)
	}
	was := h.reported[n]
	if was.cancelled && !v.Cancelled {
		w.failf(i, "says that submission %d is not cancelled, and has said that it is", n)
	}
	if v.Ended < int(was.ended) {
		w.failf(i, "says that %d tasks of submission %d have ended, and has said %d", v.Ended, n, was.ended)
	}
	h.reported[n] = reportedJob{int32(v.Ended), v.Cancelled}
	if len(v.Members) == 0 || !w.mayAct(i, v.ID) {
		return // its view may be behind, or is not on its disk yet
	}
	j := &w.jobs[n]
	if j.reported.cancelled && !v.Cancelled || v.Ended < int(j.reported.ended) {
		w.failf(i, "says of submission %d that %d tasks have ended, cancelled %v; another has said %d, %v", n, v.Ended, v.Cancelled, j.reported.ended, j.reported.cancelled)
	}
	j.reported = reportedJob{int32(v.Ended), v.Cancelled}
}
