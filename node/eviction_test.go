package node

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node/quota"
)

// Quota charges against real memory, and eviction.

// heapBytes is the size of the live heap.
func heapBytes() grid.Bytes {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return grid.Bytes(m.HeapAlloc)
}

// Charges cover the memory used, whether a sender has many small jobs or writes single entries far from each other.
func TestChargesCoverMemory(t *testing.T) {
	const jobs, stride, writes = 4000, 16, 3000
	for name, fill := range map[string]func(r *rig){
		"jobs": func(r *rig) {
			for i := range jobs {
				r.writeFrom(fastID, numbered(fastID, i), spec(nil), nil)
			}
		},
		"entries": func(r *rig) {
			id := numbered(fastID, 1)
			r.writeFrom(fastID, id, spec(func(s *grid.JobSpec) { s.Count = grid.MaxCount }), nil)
			for i := range uint32(writes) {
				r.writeFrom(fastID, id, nil, func(g *grid.RegisterMessage) {
					g.Seq, g.Entries = uint64(i)+2,
						[]grid.Entry{{Index: i * stride, Result: &grid.Result{Cause: grid.Exited, Error: "so"}}}
				})
			}
		},
	} {
		r := newRig(t, nil)
		before := heapBytes()
		fill(r)
		r.disk = nil // the test's own memory
		if took, counts := heapBytes()-before, r.n.Charged().Bytes; took > counts {
			t.Errorf("%s: %d bytes of memory count as %d", name, took, counts)
		}
		runtime.KeepAlive(r)
	}
}

// answerAsMember makes a member answer the messages of the last step that are of some kinds.
func (r *rig) answerAsMember(who grid.NodeID, kinds ...grid.Kind) {
	r.t.Helper()
	type asked struct {
		kind grid.Kind
		g    grid.RegisterMessage
	}
	var all []asked
	for _, s := range r.fx.Sends {
		if k := s.Msg.Kind; s.To == who && slices.Contains(kinds, k) {
			all = append(all, asked{k, grid.RegisterMessage{Job: s.Msg.Register.Job, Epoch: s.Msg.Register.Epoch,
				Seq: s.Msg.Register.Seq, Answer: grid.RegisterOK}})
		}
	}
	for _, a := range all {
		r.deliver(who, a.kind+1, func(m *grid.Message) { m.Register = a.g })
	}
}

// A taken-over job of many tasks without retries ends in batches, and within the quota of its sender.
func TestTakenOverTasksEndInBatches(t *testing.T) {
	r := newRig(t, nil)
	r.now = 3600e9
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	s := spec(func(s *grid.JobSpec) { s.Count, s.Retries = 5*bulkEndBatch+7, 0 })
	r.deliver(fastID, grid.KindWrite, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 1, Seq: 1, Spec: s, Members: three}
	})
	r.takeOver()
	ended := 0
	for end := r.now.Add(2 * time.Minute); r.now < end && ended < int(s.Count); {
		r.pass(time.Second)
		r.answerAsMember(slowID, grid.KindWrite, grid.KindKeepalive)
		v, _ := r.n.Job(replicatedJob)
		ended = v.Ended + v.Placed
	}
	if ended != int(s.Count) || r.mostSaves > bulkEndBatch+10 {
		t.Errorf("%d of %d have ended, with up to %d records in a step: want all, at most %d and a few", ended, s.Count,
			r.mostSaves, bulkEndBatch)
	}
}

// Regression: the tasks of many jobs taken over at once end in batches too. Each job had a batch of its own in one
// step, and the records of all of them were in memory at once.
func TestTasksOfManyTakenOverJobsEndInBatches(t *testing.T) {
	r := newRig(t, nil)
	r.now = 3600e9
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	const jobs = 8
	for i := range jobs {
		r.writeFrom(fastID, numbered(fastID, i), spec(func(s *grid.JobSpec) { s.Count, s.Retries = bulkEndBatch, 0 }),
			func(g *grid.RegisterMessage) {
				g.Members = []grid.NodeID{fastID, selfID, slowID}
			})
	}
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	for end := r.now.Add(time.Minute); r.now < end; r.pass(time.Second) {
		r.answerAsMember(slowID, grid.KindCampaign)
	}
	ended := 0 // the grace of all of them is over, and a majority answers from now on
	for end := r.now.Add(2 * time.Minute); r.now < end && ended < jobs*bulkEndBatch; {
		r.pass(time.Second)
		r.answerAsMember(slowID, grid.KindWrite, grid.KindKeepalive)
		ended = 0
		for i := range jobs {
			v, _ := r.n.Job(numbered(fastID, i))
			ended += v.Ended + v.Placed
		}
	}
	if ended != jobs*bulkEndBatch || r.mostSaves > bulkEndBatch+4*jobs {
		t.Errorf("%d of %d have ended, with up to %d records in a step: want all, at most %d and a few", ended,
			jobs*bulkEndBatch, r.mostSaves, bulkEndBatch)
	}
}

// Jobs stored long before are evicted in batches when they exceed the quota, and new jobs wait for that no longer than
// a few tries.
func TestEvictionInBatches(t *testing.T) {
	old := quota.Each
	t.Cleanup(func() { quota.Each = old })
	r := newRig(t, nil)
	const before = 1000
	for i := range before {
		id := numbered(fastID, i)
		r.disk["register "+id.String()] = grid.Record{Kind: grid.RecRegister,
			Register: grid.RegisterRecord{ID: id, Spec: spec(nil),
				Members: []grid.NodeID{fastID, selfID, slowID}, Promised: 1, VotedFor: fastID, Epoch: 1, Owner: fastID, Done: true}}
	}
	quota.Each.Registers = 100
	r = r.restart()
	tries, answer := 0, grid.RegisterFull
	for ; answer == grid.RegisterFull && tries < before; tries++ {
		r.mostSaves = 0
		if answer = r.writeFrom(fastID, numbered(fastID, before), spec(nil), nil); r.mostSaves > 3*maxEvictionsPerStep+10 {
			t.Fatalf("%d records in a step", r.mostSaves)
		}
	}
	if answer != grid.RegisterOK || tries > before/maxEvictionsPerStep+1 ||
		r.records(grid.RecRegister) != quota.Each.Registers {
		t.Errorf("%v at try %d, with %d jobs: want the new one and the newest of the others", answer, tries,
			r.records(grid.RecRegister))
	}
}

// Regression: jobs of many tasks are evicted few at a time, and the new job waits for that. 256 of them, of 1,000 tasks
// each, were evicted in one step.
func TestLargeJobsAreEvictedInBatches(t *testing.T) {
	for _, tasks := range []uint32{1000, 3000} {
		t.Run(fmt.Sprint(tasks), func(t *testing.T) { evictsInBatches(t, tasks) })
	}
}

// evictsInBatches has 40 jobs of so many tasks stored, of which there is room for ten.
func evictsInBatches(t *testing.T, tasks uint32) {
	t.Helper()
	old := quota.Each
	t.Cleanup(func() { quota.Each = old })
	r := newRig(t, nil)
	const before = 40
	for k := range before {
		id := numbered(fastID, k)
		r.disk["register "+id.String()] = grid.Record{Kind: grid.RecRegister,
			Register: grid.RegisterRecord{ID: id, Spec: spec(func(s *grid.JobSpec) { s.Count = tasks }),
				Members: []grid.NodeID{fastID, selfID, slowID}, Promised: 1, VotedFor: fastID, Epoch: 1, Owner: fastID, Done: true}}
		for i := range tasks {
			e := &grid.EntryRecord{Epoch: 1, Committed: true, TaskRecord: grid.TaskRecord{State: grid.Ended, Result: exitZero,
				ID: grid.AttemptID{Task: grid.TaskID{Job: id, Index: i}, Attempt: grid.Attempt{Epoch: 1, N: 1}}}}
			r.disk["entry "+e.ID.Task.String()] = grid.Record{Kind: grid.RecEntry, Entry: *e}
		}
	}
	quota.Each.Registers = 10
	r = r.restart()
	tries, answer := 0, grid.RegisterFull
	for ; answer == grid.RegisterFull && tries < before; tries++ {
		answer = r.writeFrom(fastID, numbered(fastID, before), spec(nil), nil)
	}
	kept := [...]int{r.records(grid.RecRegister), r.records(grid.RecEntry)}
	if answer != grid.RegisterOK || r.mostSaves > maxEvictedRecords+int(tasks)+10 || kept != [...]int{10, 9 * int(tasks)} {
		t.Errorf("%v at try %d, up to %d records in a step; kept are %d jobs and entries", answer, tries, r.mostSaves, kept)
	}
}

// Single entries far from each other are charged the memory that they will take, before it is taken.
func TestScatteredEntriesAreBounded(t *testing.T) {
	old := quota.Each
	t.Cleanup(func() { quota.Each = old })
	quota.Each.Bytes = grid.MiB
	r := newRig(t, nil)
	id := numbered(fastID, 1)
	r.writeFrom(fastID, id, spec(func(s *grid.JobSpec) { s.Count = grid.MaxCount }), nil)
	answer := grid.RegisterOK
	for i, seq := uint32(0), uint64(2); answer == grid.RegisterOK; seq++ {
		answer = r.writeFrom(fastID, id, nil, func(g *grid.RegisterMessage) {
			for g.Seq = seq; len(g.Entries) < 100; i += 16 {
				g.Entries = append(g.Entries, grid.Entry{Index: i, Result: exitZero})
			}
		})
		if k := r.n.Charged().Bytes; k > quota.Each.Bytes {
			t.Fatalf("%d bytes count after write %d: want at most %d", k, seq, quota.Each.Bytes)
		}
	}
	if answer != grid.RegisterFull {
		t.Errorf("%v, want no room", answer)
	}
}
