package node

import (
	"runtime"
	"strings"
	"testing"
	"time"

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
func (r *rig) writeFrom(from grid.NodeID, id grid.JobID, s *grid.JobSpec, fill func(*grid.RegisterMessage)) grid.RegisterAnswer {
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
		t.Errorf("answers %v, %d records: want %d jobs and the rest refused for want of room", answers, r.records(grid.RecRegister), want)
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
		r.disk["register "+id.String()] = grid.Record{Kind: grid.RecRegister, Register: grid.RegisterRecord{ID: id, Spec: large,
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
	r := newRig(t, nil)
	id := numbered(fastID, 1)
	r.writeFrom(fastID, id, spec(func(s *grid.JobSpec) { s.Count = grid.MaxCount }), nil)
	r.writeFrom(fastID, id, nil, func(g *grid.RegisterMessage) {
		g.Seq, g.Done, g.Entries = 2, true, []grid.Entry{{Index: 5, Result: exitZero}, {Index: 99_999, Result: exitZero}}
	})
	if r.records(grid.RecEntry) != 2 || r.n.archive.tasks != 2 {
		t.Fatalf("%d entries on disk, %d tasks kept: want two", r.records(grid.RecEntry), r.n.archive.tasks)
	}
	var fx grid.Effects
	r.n.forgetJob(r.n.job(id), &fx)
	if len(fx.Saves) != 4 || r.n.ledger.Kept() != (quota.Amount{}) {
		t.Errorf("%d records are deleted, %+v still counts: want two entries, the cancellation and the job, and nothing", len(fx.Saves), r.n.ledger.Kept())
	}
}

// largeSpec is a specification of almost a megabyte.
func largeSpec() *grid.JobSpec {
	return spec(func(s *grid.JobSpec) {
		for i := range 1000 {
			s.Inputs = append(s.Inputs, grid.File{Path: strings.Repeat("d/", 450) + string(rune('a'+i%26)) + strings.Repeat("x", 1+i/26), Blob: grid.BlobID{1}})
		}
	})
}

// Large specifications are bounded in bytes for each sender, and a finished job makes room for the next.
func TestLargeRegistersAreBounded(t *testing.T) {
	r := newRig(t, nil)
	s := largeSpec()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	most := int(quota.Each.Bytes / quota.SpecBytes(s))
	kept := 0
	for i := range 300 {
		if r.writeFrom(fastID, numbered(fastID, i), s, nil) == grid.RegisterOK {
			kept++
		}
	}
	if kept > most || kept < most/2 || r.records(grid.RecRegister) != kept {
		t.Fatalf("%d are kept, %d on disk: want about %d", kept, r.records(grid.RecRegister), most)
	}
	for i := range 300 { // the first jobs kept come to their end; then others get their room, one for one
		r.writeFrom(fastID, numbered(fastID, i%2), nil, func(g *grid.RegisterMessage) { g.Seq, g.Done, g.Entries = 2, true, []grid.Entry{{Result: exitZero}} })
		if i == 1 {
			break
		}
	}
	for i := range 3 {
		want := grid.RegisterOK
		if i == 2 {
			want = grid.RegisterFull
		}
		if a := r.writeFrom(fastID, numbered(fastID, 1000+i), s, nil); a != want {
			t.Errorf("job %d after two are over: %v, want %v", i+1, a, want)
		}
	}
	if _, known := r.n.Job(numbered(fastID, 0)); known || r.records(grid.RecRegister) != kept {
		t.Errorf("the oldest that is over is still here: %v; %d on disk, want %d", known, r.records(grid.RecRegister), kept)
	}
}

// Large offers are bounded too: beyond the bound this node's queue is full for their sender, which places them
// elsewhere, and for no other.
func TestLargeOffersAreBounded(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Overdue = 0 })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	s := largeSpec()
	offers := func(from grid.NodeID, i int) grid.Send {
		r.deliver(from, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: grid.AttemptID{Task: grid.TaskID{Job: numbered(from, i)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}, Spec: s, Class: "a", Lease: r.n.cfg.Lease}
		})
		for _, out := range r.fx.Sends {
			if k := out.Msg.Kind; k == grid.KindAccept || k == grid.KindRefuse {
				return out
			}
		}
		t.Fatal("no answer")
		return grid.Send{}
	}
	taken, why := 0, grid.Refusal{}
	for i := range 300 {
		if out := offers(fastID, i); out.Msg.Kind == grid.KindAccept {
			taken++
		} else {
			why = out.Msg.Refusal
		}
	}
	if most := int(quota.Each.Bytes / quota.SpecBytes(s)); taken > most || taken < most/2 || r.records(grid.RecWork) != taken {
		t.Errorf("%d are taken, %d on disk: want about %d", taken, r.records(grid.RecWork), most)
	}
	if why.Why != grid.WhyQueue || !strings.Contains(why.Detail, fastID.Short()) {
		t.Errorf("the others are refused with %v %q: want a full queue, for that node", why.Why, why.Detail)
	}
	if offers(slowID, 1).Msg.Kind != grid.KindAccept {
		t.Error("somebody else's is refused too")
	}
	r.deliverFor(fastID, grid.KindDrop, grid.AttemptID{Task: grid.TaskID{Job: numbered(fastID, 0)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}, nil)
	if offers(fastID, 500).Msg.Kind != grid.KindAccept {
		t.Error("an attempt that was dropped still counts")
	}
}

// Entries are bounded before any part of a write is saved.
func TestEntriesAreBounded(t *testing.T) {
	r := newRig(t, nil)
	id := numbered(fastID, 1)
	r.writeFrom(fastID, id, spec(func(s *grid.JobSpec) { s.Count = grid.MaxCount }), nil)
	full := &grid.Result{Cause: grid.Exited, Stdout: grid.Output{Inline: make([]byte, grid.MaxInline)}, Stderr: grid.Output{Inline: make([]byte, grid.MaxInline)}}
	written, answer := 0, grid.RegisterOK
	for seq := uint64(2); answer == grid.RegisterOK && written < grid.MaxCount; seq++ {
		answer = r.writeFrom(fastID, id, nil, func(g *grid.RegisterMessage) {
			g.Seq = seq
			for range 30 {
				g.Entries = append(g.Entries, grid.Entry{Index: uint32(written), Result: full})
				written++
			}
		})
	}
	if answer != grid.RegisterFull || len(r.fx.Saves) != 0 {
		t.Errorf("answer %v with %d records: want no room, and nothing saved", answer, len(r.fx.Saves))
	}
	if got := grid.Bytes(r.records(grid.RecEntry)) * 2 * grid.MaxInline; got > quota.Each.Bytes || got < quota.Each.Bytes/2 {
		t.Errorf("%d bytes are kept: want up to %d", got, quota.Each.Bytes)
	}
	if k := r.n.ledger.Kept(); k.Bytes > quota.Each.Bytes {
		t.Errorf("%d bytes count: want at most %d", k.Bytes, quota.Each.Bytes)
	}
}

// An honest job of the maximum number of tasks, each of which printed a line, has room at a member.
func TestLargestHonestJobHasRoom(t *testing.T) {
	r := newRig(t, nil)
	id := numbered(fastID, 1)
	r.writeFrom(fastID, id, spec(func(s *grid.JobSpec) { s.Count = grid.MaxCount }), nil)
	line := &grid.Result{Cause: grid.Exited, Wall: time.Second, Stdout: grid.Output{Inline: make([]byte, 100), Size: 100}}
	for i, seq := uint32(0), uint64(2); i < grid.MaxCount; seq++ {
		if a := r.writeFrom(fastID, id, nil, func(g *grid.RegisterMessage) {
			for ; len(g.Entries) < grid.MaxEntries && i < grid.MaxCount; i++ {
				g.Entries = append(g.Entries, grid.Entry{Index: i, Result: line})
			}
			g.Seq, g.Done = seq, i == grid.MaxCount
		}); a != grid.RegisterOK {
			t.Fatalf("at task %d: %v", i, a)
		}
	}
	if v, ok := r.n.Job(id); !ok || v.Ended != grid.MaxCount {
		t.Errorf("%v, %d tasks have ended", ok, v.Ended)
	}
}
