package checkpoint

import (
	"fmt"
	"testing"

	"skep/grid"
)

// newTaker is a world whose owner, since epoch 2, is a member of a register that an earlier owner had.
func newTaker(t *testing.T) *world {
	w := newWorld(t, 0, otherByte, selfByte, memberByte, workerByte, 9)
	w.job.Since = 2
	return w
}

// says has a member say that it keeps a checkpoint of an attempt of an epoch; it returns the number of fetches.
func (w *world) says(from byte, epoch uint32, step uint64, fs []grid.File) int {
	id := w.attempt(0, 9, workerByte)
	delete(w.runs, id)
	id.Epoch = epoch
	w.s.Keep(w.now, node(from), id, &grid.Checkpoint{Step: step, Kept: true, Files: fs}, w, &w.fx)
	return w.fetched("")
}

// What one member alone says of an earlier owner's attempt may be made up; two say the same only of what was so.
func TestOneMemberIsNotBelieved(t *testing.T) {
	w := newTaker(t)
	made := files(7, 10, "0/f")
	w.want("one says so", w.says(otherByte, 1, grid.MaxCheckpointStep, made), 0)
	w.want("again", w.says(otherByte, 1, grid.MaxCheckpointStep, made), 0)
	w.want("another one tells of other files", w.says(memberByte, 1, grid.MaxCheckpointStep, files(8, 10, "0/f")), 0)
	w.want("of another size", w.says(memberByte, 1, grid.MaxCheckpointStep, files(7, 11, "0/f")), 0)
	w.want("of another path", w.says(memberByte, 1, grid.MaxCheckpointStep, files(7, 10, "0/g")), 0)
	w.want("of another step", w.says(memberByte, 1, 30, made), 0)
	w.want("of this owner's time", w.says(memberByte, 2, grid.MaxCheckpointStep, made), 0)
	w.want("why", w.s.View(w.job.Spec, grid.TaskID{Job: grid.JobID{Origin: node(selfByte)}}).Why,
		"members tell of one that nobody else has heard of")
	w.want("two say the same", w.says(workerByte, 1, 30, made), 1)
	w.want("kept", w.s.View(w.job.Spec, grid.TaskID{Job: grid.JobID{Origin: node(selfByte)}}).Step, 30)
	w.want("claimed", w.s.claimed, 0)
}

// What is told does not keep what the attempt that runs closes from being taken.
func TestMadeUpStepsHinderNothing(t *testing.T) {
	w := newTaker(t)
	a := w.attempt(0, 1, workerByte) // of the earlier owner, and adopted
	w.made = a.Attempt
	w.says(otherByte, 1, grid.MaxCheckpointStep, files(7, 10, "0/f"))
	w.keep(a, 5)
	w.want("kept", w.s.View(w.job.Spec, a.Task).Step, 5)
	w.want("an older one of two", w.says(otherByte, 0, grid.MaxCheckpointStep, files(7, 10, "0/f"))+
		w.says(memberByte, 0, grid.MaxCheckpointStep, files(7, 10, "0/f")), 0)
}

// A new owner believes a single member about what it was asked to keep itself, whether it kept it or not.
func TestWitnessBelievesOne(t *testing.T) {
	for _, size := range []grid.Bytes{10, limit + 1} { // the latter is refused
		w := newTaker(t)
		w.s.cfg.Limit = limit
		w.job.Leads, w.job.Owner = false, node(otherByte)
		id := w.attempt(0, 9, workerByte)
		w.s.Keep(w.now, node(otherByte), id, &grid.Checkpoint{Step: 20, Files: files(7, size, "0/f")}, w, &w.fx)
		w.fetched("gone")
		w.s.Tick(w.now, w, &w.fx)
		w.want("units of what is not kept", len(w.s.units), 0)
		w.s.cfg.Limit = 2 * limit
		w.job.Leads, w.job.Owner = true, node(selfByte)
		w.want("another one", w.says(memberByte, 1, 30, files(7, size, "0/f")), 0)
		w.want("the same", w.says(memberByte, 1, 20, files(7, size, "0/f")), 1)
	}
}

// Once the owner has made an attempt nothing counts that members tell, after a restart of the owner either.
func TestNothingIsToldOnceAnAttemptIsMade(t *testing.T) {
	w := newTaker(t)
	w.says(otherByte, 1, 30, files(7, 10, "0/f"))
	w.made = grid.Attempt{Epoch: 2, N: 1}
	w.want("fetches", w.says(memberByte, 1, 30, files(7, 10, "0/f")), 0)
	w.s.Tick(w.now, w, &w.fx)
	w.want("units", fmt.Sprint(len(w.s.units), w.s.claimed), "0 0")
}

// What an owner remembers of members' words, and a member of owners', is bounded.
func TestWordsAreBounded(t *testing.T) {
	w := newTaker(t)
	w.job.Spec.Count = maxClaimed + 100
	for i := range w.job.Spec.Count {
		id := w.attempt(i, 9, workerByte)
		w.s.Keep(w.now, node(otherByte), id, &grid.Checkpoint{Step: 30, Kept: true, Files: files(7, 10, "0/f")}, w, &w.fx)
	}
	w.want("units", len(w.s.units), maxClaimed)
	var s witness
	task := func(i int) grid.TaskID { return grid.TaskID{Index: uint32(i)} }
	for i := range maxNamed {
		s.saw(node(otherByte), task(i), name{step: 1})
		s.saw(node(memberByte), task(maxNamed), name{step: uint64(i)})
	}
	w.want("of one", len(s.list), maxNamedByOne+1)
	w.want("the newest", s.has(task(maxNamed-1), name{step: 1}), true)
	w.want("the oldest", s.has(task(0), name{step: 1}), false)
	w.want("the newest of a task", s.has(task(maxNamed), name{step: maxNamed - 1}), true)
	for i := range maxNamed {
		s.saw(grid.NodeID{9, byte(i), byte(i >> 8)}, task(2*maxNamed+i), name{step: 1})
	}
	w.want("of all", len(s.list), maxNamed)
}

// Steps are compared within an attempt: one that was given what is kept has gone on from it, or rejected it. Of one
// that was not, such as a backup attempt, only what is further counts.
func TestStepsOfLaterAttempts(t *testing.T) {
	for _, given := range []bool{true, false} {
		w := newWorld(t, 0)
		w.keep(w.attempt(0, 1, workerByte), 30)
		b := w.attempt(0, 2, otherByte)
		if given {
			w.want("files", len(w.s.Inputs(w.job.Spec, b)), 1)
		}
		w.keep(b, 5)
		want := map[bool]uint64{true: 5, false: 30}[given]
		w.want(fmt.Sprint("given ", given), w.s.View(w.job.Spec, b.Task).Step, want)
		w.want("usable", w.told(otherByte).Usable, map[bool]uint64{true: 5}[given])
		w.keep(b, 40)
		w.want("further", w.s.View(w.job.Spec, b.Task).Step, 40)
	}
}

// The workers of the attempt that a new owner has adopted are believed about what they have written, all together.
func TestWorkersVouch(t *testing.T) {
	w := newTaker(t)
	w.job.Spec.Count, w.job.Spec.Gang.Ranks = 2, 2
	a, b := w.attempt(0, 1, workerByte), w.attempt(1, 1, otherByte)
	w.made = a.Attempt
	say := func(id grid.AttemptID, step uint64, fs []grid.File) int {
		w.report(id, grid.Checkpoint{Step: step, Usable: step, Files: fs})
		return w.fetched("")
	}
	w.want("a rank alone", say(a, 30, files(3, 10, "f")), 0)
	w.want("of another step", say(b, 20, files(2, 10, "f")), 0)
	w.want("no file", say(b, 30, files(3, 10, "../f")), 0)
	w.want("all ranks", say(b, 30, files(3, 10, "f")), 1)
	w.want("kept", w.s.View(w.job.Spec, a.Task).Step, 30)
	w.want("again", say(b, 30, files(3, 10, "f")), 0)
	w.want("an older one", say(a, 20, files(2, 10, "f"))+say(b, 20, files(2, 10, "f")), 0)

	w.made = grid.Attempt{Epoch: 2, N: 1}
	w.want("once an attempt is made", say(a, 40, files(4, 10, "f"))+say(b, 40, files(4, 10, "f")), 0)
}

// A worker tells a new owner what an earlier one has called usable, until that one knows.
func TestRunningVouches(t *testing.T) {
	var r Running
	var fx grid.Effects
	id, next := grid.AttemptID{Attempt: grid.Attempt{N: 1}}, node(memberByte)
	said := func(owner grid.NodeID) *grid.Checkpoint {
		fx.Reset()
		if r.Report(id, owner, &fx); len(fx.Sends) == 0 {
			return &grid.Checkpoint{}
		}
		return fx.Sends[0].Msg.Checkpoint
	}
	r.Event(id, &grid.Checkpoint{Closed: []uint64{5}}, 0, node(otherByte), &fx)
	r.Answered(node(otherByte), id, &grid.Checkpoint{Step: 5}, &fx)
	r.Event(id, &grid.Checkpoint{Step: 5, Files: files(5, 10, "f")}, 0, node(otherByte), &fx)
	if x := said(next); x.Usable != 0 {
		t.Errorf("says %+v of what nobody has called usable", x)
	}
	r.Answered(node(otherByte), id, &grid.Checkpoint{Usable: 5}, &fx)
	if x := said(node(otherByte)); x.Step != 0 {
		t.Errorf("tells its owner %+v", x)
	}
	if x := said(next); x.Step != 5 || x.Usable != 5 || len(x.Files) != 1 || len(x.Closed) != 0 {
		t.Errorf("tells a new owner %+v", x)
	}
	r.Answered(next, id, &grid.Checkpoint{}, &fx)
	if x := said(next); x.Step != 5 {
		t.Error("says it once only")
	}
	r.Answered(next, id, &grid.Checkpoint{Usable: 5}, &fx)
	if x := said(next); x.Step != 0 {
		t.Errorf("tells an owner that knows %+v", x)
	}
}

// What a backup attempt closes, which was given no checkpoint, counts only beyond what is kept.
func TestBackupsBeginAtTheStart(t *testing.T) {
	w := newWorld(t, 0)
	b := w.attempt(0, 2, otherByte)
	w.keep(w.attempt(0, 1, workerByte), 30)
	w.keep(b, 5)
	w.want("kept", w.s.View(w.job.Spec, b.Task).Step, 30)
	w.want("files of the next", len(w.s.Inputs(w.job.Spec, w.attempt(0, 3, workerByte))), 1)
}
