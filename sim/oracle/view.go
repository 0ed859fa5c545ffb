package oracle

import (
	"skep/node"
)

// Views checks what a node says of itself: its jobs and its load.
func (b *Books) Views(i int32) {
	x := &b.machines[i]
	b.views = x.member.Jobs(b.views[:0])
	for k := range b.views {
		v := &b.views[k]
		if v.Pending < 0 || v.Placed < 0 || v.Ended < 0 || v.Pending+v.Placed+v.Ended != int(v.Spec.Count) ||
			v.Failed > v.Ended {
			b.fail(i, "says of job %s: %d pending + %d placed + %d ended (%d failed) of %d tasks",
				v.ID.Short(), v.Pending, v.Placed, v.Ended, v.Failed, v.Spec.Count)
		}
		b.checkReportedJob(i, v)
	}
	b.checkReserved(i)
	s := x.member.Stats(b.world.Clock(i))
	if s.Free.CPU < 0 || s.Free.Memory < 0 || s.Free.Counts.Negative() || !x.capacity.Fits(s.Free) ||
		s.Queued < 0 || s.Running < 0 || s.Pending < 0 || s.Backlog < 0 {
		b.fail(i, "says that it has %v free of %v, %d queued, %d running, %d pending, a backlog of %v",
			s.Free, x.capacity, s.Queued, s.Running, s.Pending, s.Backlog)
	}
}

// reportedJob is what a node's view of a job said in this run.
type reportedJob struct {
	ended     int32
	cancelled bool
}

// checkReportedJob checks that a node's view of a job never goes back, as only committed ends are visible. The same
// holds between nodes that may act as the owner; others may be behind.
func (b *Books) checkReportedJob(i int32, v *node.JobView) {
	x := &b.machines[i]
	n := b.job(i, v.ID)
	if n < 0 {
		return
	}
	if x.reported == nil {
		x.reported = make(map[int32]reportedJob)
	}
	if b.jobs[n].retries > 0 { // ends that were visible count no more
		return
	}
	was := x.reported[n]
	if was.cancelled && !v.Cancelled {
		b.fail(i, "says that submission %d is not cancelled, and has said that it is", n)
	}
	if v.Ended < int(was.ended) {
		b.fail(i, "says that %d tasks of submission %d have ended, and has said %d", v.Ended, n, was.ended)
	}
	x.reported[n] = reportedJob{int32(v.Ended), v.Cancelled}
	if len(v.Members) == 0 || !b.mayAct(i, v.ID) {
		return // its view may be behind, or is not on its disk yet
	}
	j := &b.jobs[n]
	if j.reported.cancelled && !v.Cancelled || v.Ended < int(j.reported.ended) {
		b.fail(i, "says of submission %d that %d tasks have ended, cancelled %v; another has said %d, %v", n, v.Ended,
			v.Cancelled, j.reported.ended, j.reported.cancelled)
	}
	j.reported = reportedJob{int32(v.Ended), v.Cancelled}
}
