package replication

import (
	"testing"
	"time"

	"skep/grid"
)

var (
	lostJob     = grid.JobID{Origin: grid.NodeID{1}, Nonce: [10]byte{7}}
	lostMembers = []grid.NodeID{{1}, {2}, {3}}
	lostSpec    = &grid.JobSpec{Name: "lost", Engine: grid.EngineProcess, Count: 4, Command: []string{"true"}, Retries: 1,
		Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU, Memory: grid.MiB}}}
)

// forgetful returns the replicas of a member that has lost its register of lostJob.
func forgetful(self grid.NodeID) *Replicas {
	s := NewReplicas(Config{Self: self, Boot: 2, Lease: 6 * time.Second}, grid.Wall{Zero: time.Unix(1_700_000_000, 0)},
		grid.NewRand(1, 1))
	s.Lose(lostJob)
	return &s
}

// asked returns the members that are asked what they know.
func asked(fx *grid.Effects) (ids []grid.NodeID) {
	for _, m := range fx.Sends {
		if m.Msg.Kind == grid.KindCampaign && m.Msg.Register.Recall {
			ids = append(ids, m.To)
		}
	}
	return ids
}

func described(epoch uint32) *grid.RegisterMessage {
	return &grid.RegisterMessage{Job: lostJob, Epoch: epoch, Seq: 5, Spec: lostSpec, Members: lostMembers}
}

func ended(i, epoch uint32, exit int32) grid.Entry {
	return grid.Entry{Index: i, Epoch: epoch, Attempt: grid.Attempt{Epoch: epoch, N: 1}, Worker: grid.NodeID{9},
		Result: &grid.Result{Cause: grid.Exited, Exit: exit}}
}

func recallAnswer(promised, accepted uint32, owner grid.NodeID, entries ...grid.Entry) *grid.RegisterMessage {
	return &grid.RegisterMessage{Job: lostJob, Recall: true, Answer: grid.RegisterOK, Epoch: promised, Count: accepted,
		Owner: owner, Entries: entries, Next: lostSpec.Entries()}
}

// A member that has lost its register votes for nobody and accepts nothing until all others have told what they know;
// a majority is not enough. Then it has every entry, and has promised more than any of them.
func TestLostRegisterIsRecoveredFromAllOthers(t *testing.T) {
	s, fx := forgetful(grid.NodeID{3}), &grid.Effects{}
	if !s.RefuseLost(1, grid.NodeID{2}, grid.KindVote, &grid.RegisterMessage{Job: lostJob, Epoch: 4}, fx) ||
		len(fx.Sends) != 0 || s.AnyLost() {
		t.Fatalf("a campaign without a description is answered: %v", fx.Sends)
	}
	if !s.RefuseLost(1, grid.NodeID{1}, grid.KindWriteAck, described(3), fx) || len(fx.Sends) != 2 ||
		fx.Sends[1].Msg.Register.Answer != grid.RegisterUnknown || len(asked(fx)) != 1 || !s.AnyLost() {
		t.Fatalf("an owner's write: %v", fx.Sends)
	}
	fx.Reset()
	if s.Recall(func(grid.JobID, grid.NodeID) bool { return true }, fx); len(asked(fx)) != 2 {
		t.Fatalf("asked %v, want both others", asked(fx))
	}
	s.Recalled(1, grid.NodeID{1}, recallAnswer(3, 3, grid.NodeID{1}, ended(0, 3, 7), ended(1, 3, 0)), fx)
	if rec, _ := s.TakeRecovered(1, lostJob, fx); rec != nil || !s.Lost(lostJob) {
		t.Fatal("recovered from one of two: the other one may have been voted for")
	}
	s.Recalled(1, grid.NodeID{2}, recallAnswer(5, 2, grid.NodeID{2}, ended(0, 2, 1), ended(2, 2, 4)), fx)
	fx.Reset()
	rec, entries := s.TakeRecovered(1, lostJob, fx)
	if rec == nil || s.Lost(lostJob) {
		t.Fatal("not recovered though all have answered")
	}
	if rec.Promised != 6 || !rec.VotedFor.IsZero() || rec.Epoch != 3 || rec.Owner != (grid.NodeID{1}) || rec.Done {
		t.Errorf("register %+v: want epoch 3, and 6 promised to nobody", rec)
	}
	exits := map[uint32]int32{}
	for _, e := range entries {
		exits[e.ID.Task.Index] = e.Result.Exit
	}
	if len(exits) != 3 || exits[0] != 7 || exits[1] != 0 || exits[2] != 4 {
		t.Errorf("exit codes %v: of two ends of a task that of the higher epoch counts", exits)
	}
	if !fx.Saves[0].Delete || fx.Saves[0].Entry.Further != lostSpec.Entries()-1 || fx.Saves[1].Kind != grid.RecRegister {
		t.Errorf("saves %+v: want what was left deleted first", fx.Saves)
	}
}

// Who owned the register itself does not go on with its epoch: it does not know the attempts that it made.
func TestLostEntryOfTheOwner(t *testing.T) {
	s, fx := forgetful(grid.NodeID{1}), &grid.Effects{}
	s.KeepRegister(&grid.RegisterRecord{ID: lostJob, Spec: lostSpec, Members: lostMembers, Promised: 1,
		VotedFor: grid.NodeID{1}, Epoch: 1, Owner: grid.NodeID{1}})
	for _, id := range lostMembers[1:] {
		s.Recalled(1, id, recallAnswer(1, 1, grid.NodeID{1}), fx)
	}
	rec, _ := s.TakeRecovered(1, lostJob, fx)
	if rec == nil || rec.Promised != 2 || !rec.VotedFor.IsZero() {
		t.Fatalf("%+v", rec)
	}
	r := s.Add(rec.ID, rec.Spec, 0, rec.Members, grid.RegisterState{Promised: rec.Promised, Epoch: rec.Epoch,
		Owner: rec.Owner})
	if r.Resume(1) {
		t.Error("it owns the register again")
	}
}

// If nobody knows of the job any more nothing is made up; if it is over and evicted a tombstone is left.
func TestLostRegisterThatNobodyKnows(t *testing.T) {
	for answer, want := range map[grid.RegisterAnswer]int{grid.RegisterUnknown: 0, grid.RegisterGone: 1} {
		s, fx := forgetful(grid.NodeID{3}), &grid.Effects{}
		s.RefuseLost(1, grid.NodeID{1}, grid.KindWriteAck, described(1), fx)
		for _, id := range lostMembers[:2] {
			s.Recalled(1, id, &grid.RegisterMessage{Job: lostJob, Recall: true, Answer: answer, Epoch: 2}, fx)
		}
		rec, _ := s.TakeRecovered(1, lostJob, fx)
		if rec != nil || s.Buried(lostJob) != (want == 1) || s.Lost(lostJob) != (want == 0) {
			t.Errorf("answer %v: %+v, buried %v, lost %v", answer, rec, s.Buried(lostJob), s.Lost(lostJob))
		}
	}
}
