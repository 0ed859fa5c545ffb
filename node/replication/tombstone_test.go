package replication

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"skep/grid"
)

func buriedJob(origin byte, n int) grid.JobID {
	id := grid.JobID{Origin: grid.NodeID{origin}}
	binary.BigEndian.PutUint32(id.Nonce[:], uint32(n))
	return id
}

// The number of tombstones is bounded: the oldest of the origin with the most goes, from the disk too. The order
// survives a restart.
func TestTombstonesAreBounded(t *testing.T) {
	s, disk := newReplicas(), map[grid.JobID]grid.TombstoneRecord{}
	var fx grid.Effects
	bury := func(s *Replicas, id grid.JobID, ended int64) {
		fx.Begin()
		s.tombstones.bury(id, tombstone{epoch: 1}, ended, &fx)
		for _, r := range fx.Saves {
			if disk[r.Tombstone.ID] = r.Tombstone; r.Delete {
				delete(disk, r.Tombstone.ID)
			}
		}
		fx.Saves = fx.Saves[:0]
	}
	const few = 3
	for i := range few {
		bury(s, buriedJob(1, i), int64(i))
	}
	for i := range maxTombstones {
		bury(s, buriedJob(2, i), int64(few+i))
	}
	check := func(s *Replicas, when string, forgotten int) {
		t.Helper()
		for i := range few {
			if !s.Buried(buriedJob(1, i)) {
				t.Errorf("%s: that of job %d of the origin with few is gone", when, i)
			}
		}
		if s.Buried(buriedJob(2, forgotten-1)) || !s.Buried(buriedJob(2, forgotten)) || len(disk) != maxTombstones ||
			s.tombstones.count != maxTombstones {
			t.Errorf("%s: %d are here, %d on disk; the oldest is here: %v", when, s.tombstones.count, len(disk),
				s.Buried(buriedJob(2, forgotten-1)))
		}
	}
	check(s, "at the bound", few)
	again := newReplicas()
	for _, r := range disk {
		again.RestoreTombstone(&r)
	}
	again.Start(nil)
	check(again, "after a restart", few)
	for i := range 1000 {
		bury(again, buriedJob(2, maxTombstones+i), int64(few+maxTombstones+i))
	}
	check(again, "after a thousand more", few+1000)
}

// A tombstone takes less than 100 bytes.
func TestTombstoneMemory(t *testing.T) {
	size := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, n := range []int{20_000, 30_000, 40_000, maxTombstones} {
		var s Tombstones
		before := size()
		for i := range n {
			s.add(buriedJob(byte(i%7), i), tombstone{epoch: 1})
		}
		if each := float64(size()-before) / float64(n); each > 100 {
			t.Errorf("%.0f bytes for each of %d", each, n)
		} else {
			t.Logf("%.0f bytes for each of %d", each, n)
		}
		runtime.KeepAlive(&s)
	}
}

// A tombstone says of the outcome which epoch it is of, and whether the job was cancelled.
func TestTombstoneAnswersWhatItKnows(t *testing.T) {
	s := newReplicas()
	r := s.Add(buriedJob(2, 1), &grid.JobSpec{Count: 2}, 0, []grid.NodeID{second, self, third},
		grid.RegisterState{Promised: 9, Epoch: 3, Owner: second, Done: true})
	for i := range uint32(3) {
		r.Restore(&grid.Entry{Index: i, Epoch: 4}, true)
	}
	var fx grid.Effects
	r.Bury(7, &fx)
	g := grid.RegisterMessage{Job: r.Job(), Epoch: 5, Seq: 6}
	s.Refuse(third, grid.KindVote, &g, grid.RegisterGone, &fx)
	a := &fx.Sends[0].Msg.Register
	if a.Job != r.Job() || a.Answer != grid.RegisterGone || a.Epoch != 4 || a.Seq != 6 || len(a.Entries) != 1 ||
		a.Entries[0].Index != 2 || a.Entries[0].Epoch != 4 {
		t.Errorf("%+v", a)
	}
	sole := s.Add(buriedJob(1, 2), &grid.JobSpec{Count: 1}, 0, []grid.NodeID{self}, grid.RegisterState{})
	if sole.Bury(7, &fx); s.Buried(sole.Job()) {
		t.Error("a register that nobody else knows left a tombstone")
	}
}

// campaigner is a member of five that campaigns for epoch 4 of a job of two tasks, with what it has of it.
func campaigner(entries ...grid.Entry) *Register {
	five := []grid.NodeID{self, second, third, {4}, {5}}
	r := newRegister(self, five, 2, grid.RegisterState{Promised: 3, VotedFor: second, Epoch: 3, Owner: second})
	for i := range entries {
		r.Restore(&entries[i], false)
	}
	r.Campaign(0)
	return r
}

// What a member that hears of the close from tombstones does with what it and the others have: see outcome.go.
func TestOutcomeFromTombstones(t *testing.T) {
	entry := func(i, epoch uint32) grid.Entry {
		return grid.Entry{Index: i, Epoch: epoch, Attempt: grid.Attempt{Epoch: epoch}}
	}
	gone := grid.RegisterMessage{Epoch: 3, Answer: grid.RegisterGone}
	vote := func(entries ...grid.Entry) grid.RegisterMessage {
		return grid.RegisterMessage{Epoch: 4, Answer: grid.RegisterOK, Next: 3, Entries: entries}
	}
	for name, c := range map[string]struct {
		own     []grid.Entry
		answers []grid.RegisterMessage
		want    []Outcome
		entries []uint32 // epochs of the outcome; 0 = none
	}{
		"it has all": {[]grid.Entry{entry(0, 3), entry(1, 3)}, []grid.RegisterMessage{gone},
			[]Outcome{CampaignDone}, []uint32{3, 3, 0}},
		"another has the rest": {[]grid.Entry{entry(0, 3), entry(1, 2)},
			[]grid.RegisterMessage{gone, vote(entry(1, 3))}, []Outcome{CampaignOpen, CampaignDone}, []uint32{3, 3, 0}},
		"votes come first": {[]grid.Entry{entry(0, 3)}, []grid.RegisterMessage{vote(entry(1, 3)), gone},
			[]Outcome{CampaignOpen, CampaignDone}, []uint32{3, 3, 0}},
		"a majority decides": {[]grid.Entry{entry(0, 1), entry(1, 2)},
			[]grid.RegisterMessage{gone, vote(entry(0, 2)), vote(entry(1, 1))},
			[]Outcome{CampaignOpen, CampaignOpen, CampaignDone}, []uint32{2, 2, 0}},
		"two old ones decide nothing": {[]grid.Entry{entry(0, 1), entry(1, 2)},
			[]grid.RegisterMessage{gone, vote(entry(0, 2)), gone}, []Outcome{CampaignOpen, CampaignOpen, CampaignOpen}, nil},
		"all but one have tombstones": {[]grid.Entry{entry(0, 3)}, []grid.RegisterMessage{gone, gone, gone},
			[]Outcome{CampaignOpen, CampaignOpen, CampaignOpen}, nil},
		"all have tombstones": {[]grid.Entry{entry(0, 3)}, []grid.RegisterMessage{gone, gone, gone, gone},
			[]Outcome{CampaignOpen, CampaignOpen, CampaignOpen, CampaignGone}, nil},
		"one has the outcome": {nil,
			[]grid.RegisterMessage{gone, {Epoch: 4, Answer: grid.RegisterDone, Next: 3,
				Entries: []grid.Entry{entry(0, 3), entry(1, 3)}}}, []Outcome{CampaignOpen, CampaignDone}, []uint32{3, 3, 0}},
		"a cancellation was committed": {[]grid.Entry{entry(0, 3), entry(1, 3)},
			[]grid.RegisterMessage{{Epoch: 3, Answer: grid.RegisterGone, Entries: []grid.Entry{entry(2, 3)}}},
			[]Outcome{CampaignDone}, []uint32{3, 3, 3}},
		"a cancellation was never known": {[]grid.Entry{entry(0, 3), entry(1, 3), entry(2, 2)}, []grid.RegisterMessage{gone},
			[]Outcome{CampaignDone}, []uint32{3, 3, 0}},
	} {
		r, got := campaigner(c.own...), []Outcome{}
		for k := range c.answers {
			got = append(got, r.VoteReceived(r.Members()[k+1], &c.answers[k], 1))
		}
		if !slices.Equal(got, c.want) || r.IsOwner() || r.State().Done != (c.entries != nil) {
			t.Errorf("%s: outcomes %v, want %v; done %v", name, got, c.want, r.State().Done)
			continue
		}
		for i, epoch := range c.entries {
			if v, committed := r.Value(uint32(i)); epoch == 0 && v != nil || epoch > 0 &&
				(v == nil || v.Epoch != epoch || !committed) {
				t.Errorf("%s: entry %d is %+v, committed %v: want that of epoch %d", name, i, v, committed, epoch)
			}
		}
	}
}

// An entry of epoch 0, which no owner has written, is not taken over: on disk it would be no end.
func TestEntryOfNoEpoch(t *testing.T) {
	for _, answer := range []grid.RegisterAnswer{grid.RegisterOK, grid.RegisterDone, grid.RegisterGone} {
		r := campaigner()
		for _, from := range r.Members()[1:] {
			r.VoteReceived(from, &grid.RegisterMessage{Epoch: 4, Answer: answer, Next: 3, Entries: []grid.Entry{{Index: 1}}}, 1)
		}
		if v, _ := r.Value(1); v != nil {
			t.Errorf("answer %d: %+v", answer, v)
		}
	}
}

// A member whose fellows have evicted the job, or are silent, waits for these for long, and then forgets it.
func TestOutcomeIsGivenUp(t *testing.T) {
	s := newReplicas()
	r := s.Add(buriedJob(2, 1), &grid.JobSpec{Count: 1}, 0, []grid.NodeID{second, self, third},
		grid.RegisterState{Promised: 1, VotedFor: second, Epoch: 1, Owner: second})
	var fx grid.Effects
	r.Campaign(start, r.Members(), &fx)
	r.VoteAnswered(start, second, &grid.RegisterMessage{Job: r.Job(), Epoch: 1, Answer: grid.RegisterGone}, &fx)
	if c, _ := s.NextChange(); c.Kind != grid.RegisterOver {
		t.Fatalf("change %v", c.Kind)
	}
	for now := start; now < start.Add(outcomeWait); now = now.Add(lease) {
		fx.Sends = fx.Sends[:0]
		r.Campaign(now, r.Members(), &fx)
		if c, found := s.NextChange(); found || len(fx.Sends) != 1 || fx.Sends[0].To != third {
			t.Fatalf("change %v, %d requests", c.Kind, len(fx.Sends))
		}
	}
	r.Campaign(start.Add(outcomeWait), r.Members(), &fx)
	if c, found := s.NextChange(); !found || c.Kind != grid.RegisterForgotten || c.Job != r.Job() ||
		r.CampaignEpoch() > 0 {
		t.Errorf("change %v, %v: want the job given up", c.Kind, found)
	}
}
