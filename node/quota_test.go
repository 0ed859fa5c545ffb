package node

import (
	"runtime"
	"testing"

	"skep/grid"
	"skep/node/quota"
)

// Bounds on what a member can make this node store. The sender is fastID, whose jobs these are; slowID is another node.

// allocated is what a function allocates, in bytes.
func allocated(f func()) grid.Bytes {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return grid.Bytes(after.TotalAlloc - before.TotalAlloc)
}

func numbered(origin grid.NodeID, i int) grid.JobID {
	return grid.JobID{Origin: origin, Nonce: [10]byte{7, byte(i), byte(i >> 8), byte(i >> 16)}}
}

// writeFrom makes a node write to a register that it owns, and returns the answer.
func (r *rig) writeFrom(from grid.NodeID, id grid.JobID, s *grid.JobSpec,
	fill func(*grid.RegisterMessage)) grid.RegisterAnswer {
	r.t.Helper()
	r.deliver(from, grid.KindWrite, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: id, Epoch: 1, Seq: 1, Spec: s, Members: []grid.NodeID{id.Origin, selfID, {77}}}
		if fill != nil {
			fill(&m.Register)
		}
	})
	return r.one(grid.KindWriteAck).Msg.Register.Answer
}

// records counts the records of a kind on disk.
func (r *rig) records(kind grid.RecordKind) (n int) {
	for _, rec := range r.disk {
		if rec.Kind == kind {
			n++
		}
	}
	return n
}

// Regression: a short message that names a job of 100,000 tasks costs what it says, not what it names, and such jobs
// are bounded for each sender: a refused job is neither saved nor kept. Each took 16 MB, on disk and again after each
// restart.
func TestNamedTasksCostNothing(t *testing.T) {
	r := newRig(t, nil)
	large := spec(func(s *grid.JobSpec) { s.Count = grid.MaxCount })
	answers := map[grid.RegisterAnswer]int{}
	if used := allocated(func() {
		for i := range 270 {
			answers[r.writeFrom(fastID, numbered(fastID, i), large, nil)]++
		}
	}); used > 8*grid.MiB {
		t.Errorf("270 messages made this node allocate %d bytes: want at most 8 MiB", used)
	}
	want := quota.Each.Tasks / grid.MaxCount
	if answers[grid.RegisterOK] != want || answers[grid.RegisterFull] != 270-want || r.records(grid.RecRegister) != want {
		t.Errorf("answers %v, %d records: want %d jobs and the rest refused for want of room", answers,
			r.records(grid.RecRegister), want)
	}
	if a := r.writeFrom(slowID, numbered(slowID, 1), large, nil); a != grid.RegisterOK {
		t.Errorf("somebody else's job: %v, want it kept", a)
	}
}

// Records beyond the quotas, from before quotas existed, neither stop a start nor fill the memory. Nothing more is
// accepted from their sender.
func TestRecordsBeyondQuotaDoNotStopStart(t *testing.T) {
	r := newRig(t, nil)
	large := spec(func(s *grid.JobSpec) { s.Count = grid.MaxCount })
	for i := range 200 {
		id := numbered(fastID, i)
		r.disk["register "+id.String()] = grid.Record{Kind: grid.RecRegister,
			Register: grid.RegisterRecord{ID: id, Spec: large,
				Members: []grid.NodeID{fastID, selfID, slowID}, Promised: 1, VotedFor: fastID, Epoch: 1, Owner: fastID}}
	}
	if used := allocated(func() { r = r.restart() }); used > 8*grid.MiB {
		t.Errorf("the start allocates %d bytes: want at most 8 MiB", used)
	}
	if got := len(r.n.replicas.Open()); got != 200 {
		t.Errorf("%d jobs are known after the start, want all 200", got)
	}
	if a := r.writeFrom(fastID, numbered(fastID, 999), spec(nil), nil); a != grid.RegisterFull {
		t.Errorf("one more: %v, want no room", a)
	}
}

// Forgetting a large job deletes only the records that were written.
func TestForgettingCostsWhatWasWritten(t *testing.T) {
	old := quota.Each
	t.Cleanup(func() { quota.Each = old })
	quota.Each.Registers = 1
	r := newRig(t, nil)
	id := numbered(fastID, 1)
	r.writeFrom(fastID, id, spec(func(s *grid.JobSpec) { s.Count = grid.MaxCount }), nil)
	r.writeFrom(fastID, id, nil, func(g *grid.RegisterMessage) {
		g.Seq, g.Done, g.Entries = 2, true, []grid.Entry{{Index: 5, Result: exitZero}, {Index: 99_999, Result: exitZero}}
	})
	if r.records(grid.RecEntry) != 2 || r.n.Gauges().Archived != 2 {
		t.Fatalf("%d entries on disk, %d tasks kept: want two", r.records(grid.RecEntry), r.n.Gauges().Archived)
	}
	r.writeFrom(fastID, numbered(fastID, 2), spec(nil), nil) // there is room for one job
	deleted := map[grid.RecordKind]int{}
	for _, rec := range r.fx.Saves {
		if rec.Delete {
			deleted[rec.Kind] += 1 + int(rec.Entry.Further)
		}
	}
	if deleted[grid.RecEntry] != 3 || deleted[grid.RecRegister] != 1 || r.n.Charged().Registers != 1 ||
		r.n.Charged().Tasks != 1 {
		t.Errorf("deleted %v, %+v still counts: want two entries, the cancellation and the job, and the next job", deleted,
			r.n.Charged())
	}
}
