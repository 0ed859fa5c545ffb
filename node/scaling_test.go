package node

import (
	"math"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"skep/grid"
)

// Dropping or ending the tasks of a waiting job is linear in their number: 100,000, the maximum, cost about ten times
// as much as 10,000; quadratic would be a hundred times. The best of a few tries counts, because a busy machine slows
// single ones.
func TestDroppingWaitingTasksIsLinear(t *testing.T) {
	inProportion(t, grid.MaxCount, cancelWaiting)
}

// So is replicating many jobs submitted at once: choosing members, writing to them, and handling their answers.
func TestReplicatingJobsIsLinear(t *testing.T) {
	inProportion(t, 10_000, submitMany)
}

// cpu is this process's CPU time; waiting for a processor does not count.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// inProportion measures do for n and for n/10. The collector stays off while do runs: its share of the CPU time grows
// with the heap of the whole process and with what else the machine does.
func inProportion(t *testing.T, n int, do func(t *testing.T, n int) time.Duration) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	few, many := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 5 {
		few = min(few, do(t, n/10))
		runtime.GC()
		many = min(many, do(t, n))
		runtime.GC()
		if many <= 30*few {
			return
		}
	}
	t.Errorf("%d took %v, a tenth of them %v", n, many, few)
}

// submitMany submits many jobs before any member answers; all stay on this node, which runs one at a time.
func submitMany(t *testing.T, jobs int) time.Duration {
	t.Helper()
	_, took := submitAll(t, jobs)
	return took
}

// submitAll is submitMany; the node goes on.
func submitAll(t *testing.T, jobs int) (*rig, time.Duration) {
	t.Helper()
	r := newRig(t, func(c *Config) { c.Members, c.Policy = 3, "local" })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	begin, one := cpu(), spec(nil)
	var keepalives, writes []grid.Send
	for i := range jobs {
		r.submit(grid.JobID{Origin: selfID, Nonce: [10]byte{1, byte(i >> 8), byte(i)}}, one)
		keepalives = append(keepalives, r.sent(grid.KindKeepalive)...)
	}
	for _, s := range keepalives {
		r.deliver(s.To, grid.KindKeepaliveAck, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Seq: s.Msg.Register.Seq, Answer: grid.RegisterOK}
		})
		for _, s := range r.sent(grid.KindWrite) {
			if s.To == fastID {
				writes = append(writes, grid.Send{Msg: grid.Message{Register: grid.RegisterMessage{Job: s.Msg.Register.Job,
					Epoch: 1, Seq: s.Msg.Register.Seq, Answer: grid.RegisterOK}}})
			}
		}
	}
	replies := 0
	for i := range writes {
		r.deliver(fastID, grid.KindWriteAck, func(m *grid.Message) { m.Register = writes[i].Msg.Register })
		replies += len(r.fx.Replies)
	}
	took := cpu() - begin
	if here := len(r.n.worker.Exec().Queue()) + len(r.n.worker.Exec().Running()); replies != jobs || here != jobs ||
		len(r.n.worker.Exec().Running()) != 1 {
		t.Fatalf("%d jobs: %d answered, %d tasks here, %d run", jobs, replies, here, len(r.n.worker.Exec().Running()))
	}
	return r, took
}

// cancelWaiting makes a job of many tasks wait for a node, connects that node, and cancels the job.
func cancelWaiting(t *testing.T, tasks int) time.Duration {
	t.Helper()
	r := newRig(t, nil)
	r.join(slowID, 1, "linux")
	windows := spec(func(s *grid.JobSpec) {
		s.Count, s.Wait, s.Needs.Labels = uint32(tasks), true, []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}}
	})
	r.submit(jobID(1), windows)
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	r.trust(fastID)
	begin := cpu()
	r.join(fastID, 1, "windows")
	if n := r.n.Gauges().Waiting + r.n.Gauges().Retrying; n < tasks-r.cfg.Window || r.n.Gauges().Waiting > r.cfg.Window {
		t.Fatalf("%d wait, %d are to be placed", r.n.Gauges().Waiting, r.n.Gauges().Retrying)
	}
	r.step(grid.Event{Kind: grid.EvCancel, Job: jobID(1)})
	took := cpu() - begin
	if r.n.Gauges().Waiting+r.n.Gauges().Retrying+r.n.Gauges().Live != 0 {
		t.Error("some are left")
	}
	return took
}

// Of a job that waits for a node on probation one task polls, not a hundred thousand.
func TestTasksAwaitingProofWaitTogether(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "windows")
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Count, s.Needs.Labels = grid.MaxCount, []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}}
	}))
	const most = 8 // attempts that a node of one core gets before it has delivered
	if offers := len(r.sent(grid.KindOffer)); offers != most || r.n.Gauges().Waiting != 1 || r.n.Gauges().Live != most+1 {
		t.Fatalf("%d offers, %d wait, %d live", offers, r.n.Gauges().Waiting, r.n.Gauges().Live)
	}
	for n := range 3 {
		id := grid.AttemptID{Task: grid.TaskID{Job: jobID(1), Index: uint32(n)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
		r.deliverFor(fastID, grid.KindResult, id, exitZero)
	}
	if got, want := int(r.n.Stats(r.now).Moved)-3, r.cfg.Window; got < want {
		t.Errorf("%d attempts out after 3 results, want the window, %d", got, want)
	}
}
