package node

import (
	"testing"
	"time"

	"skep/grid"
)

// A node that keeps work waiting far longer than estimated hands it back as soon as another node is idle; it is placed
// again and counts as never started.
func TestOverdueOwnWorkMoves(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(nil))
	r.submit(jobID(2), spec(nil))
	if r.want(jobID(2), grid.Placed); r.task(jobID(2)).Worker != selfID {
		t.Fatalf("task %+v", r.task(jobID(2)))
	}
	r.join(fastID, 1, "linux")
	r.pass(3*r.cfg.Overdue, grid.TimerOverdue)
	o := r.one(grid.KindOffer)
	if v := r.task(jobID(2)); o.To != fastID || v.ID.N != 2 || v.Lost != 0 {
		t.Fatalf("offer to %v, task %+v", o.To.Short(), v)
	}
	r.want(jobID(1), grid.Placed)
}

func TestOverdueWorkIsHandedBackUnlessAtMostOnce(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	r.offer(fastID, foreignAttempt(2), spec(func(s *grid.JobSpec) { s.Retries = 0 }))
	r.offer(fastID, foreignAttempt(3), spec(nil))
	r.pass(3*r.cfg.Overdue, grid.TimerOverdue)
	m := r.one(grid.KindRefuse)
	if m.To != fastID || m.Msg.Attempts[0] != foreignAttempt(3) || m.Msg.Refusal.Why != grid.WhyOverdue {
		t.Fatalf("refused %+v", m)
	}
	if r.n.worker.Exec().Get(foreignAttempt(2)) == nil || r.n.worker.Exec().Get(foreignAttempt(3)) != nil {
		t.Error("want the second kept and the third let go of")
	}
}

func TestNothingIsHandedBackWithoutRoomElsewhere(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Count = 2 }))
	r.pass(time.Minute, grid.TimerOverdue)
	if v, _ := r.n.Task(grid.TaskID{Job: jobID(1), Index: 1}); v.ID.N != 1 {
		t.Errorf("task %+v", v)
	}
}

func TestHandedBackAttemptIsNoLoss(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(func(s *grid.JobSpec) { s.Retries = 0 }), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: grid.WhyOverdue}
	})
	if v := r.task(jobID(1)); v.Lost != 0 || v.State == grid.Ended || len(r.fx.Starts) != 1 {
		t.Fatalf("task %+v", v)
	}
}
