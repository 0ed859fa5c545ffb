package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// justStarted is a node that knew two others, neither of which is connected yet.
func justStarted(t *testing.T) *rig {
	t.Helper()
	return newRig(t, func(c *Config) { c.Members, c.Known, c.Policy = 3, 2, "local" })
}

// answerKeepalive makes a node answer a keepalive that is sent to it now.
func (r *rig) answerKeepalive(id grid.NodeID) {
	r.t.Helper()
	var fx grid.Effects
	r.n.replicas.Probe(r.now, id, 0, &fx)
	seq := fx.Sends[0].Msg.Register.Seq
	r.deliver(id, grid.KindKeepaliveAck, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Seq: seq, Answer: grid.RegisterOK}
	})
}

// Jobs submitted while no candidate was connected are queued in order of submission once one is.
func TestJobsBeforeFirstPeerKeepOrder(t *testing.T) {
	r := justStarted(t)
	for i := range byte(4) {
		r.submit(jobID(i), spec(nil))
	}
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	for end := r.now.Add(2 * submissionTick); len(r.sent(grid.KindKeepalive)) == 0 && r.now < end; {
		r.pass(submissionTick, grid.TimerRegister)
	}
	keepalives := slices.Clone(r.sent(grid.KindKeepalive))
	if len(keepalives) != 2 {
		t.Fatalf("sent %v, want two keepalives", kindsOf(r.fx.Sends))
	}
	for _, s := range keepalives {
		r.answerKeepalive(s.To)
	}
	var writes []grid.JobID
	for _, s := range r.sent(grid.KindWrite) {
		if id := s.Msg.Register.Job; !slices.Contains(writes, id) {
			writes = append(writes, id)
		}
	}
	if want := []grid.JobID{jobID(0), jobID(1), jobID(2), jobID(3)}; !slices.Equal(writes, want) {
		t.Errorf("the jobs were created in the order %v, want %v", writes, want)
	}
}

// While no candidate is connected a further submission costs the same, however many there are.
func TestJobsBeforeFirstPeerAreLinear(t *testing.T) {
	inProportion(t, 20_000, func(t *testing.T, jobs int) time.Duration {
		t.Helper()
		r, one := justStarted(t), spec(nil)
		begin := cpu()
		for i := range jobs {
			r.submit(grid.JobID{Origin: selfID, Nonce: [10]byte{1, byte(i >> 8), byte(i)}}, one)
		}
		return cpu() - begin
	})
}
