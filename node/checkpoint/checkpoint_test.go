package checkpoint

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"skep/grid"
)

const (
	selfByte, workerByte, memberByte, otherByte = 1, 2, 3, 4

	limit = 100 * grid.KiB
	quota = 400 * grid.KiB
)

// world is a store with one job, and what is said of it.
type world struct {
	t    *testing.T
	s    Store
	now  grid.Time
	job  Job
	runs map[grid.AttemptID]grid.NodeID
	made grid.Attempt // newest of all tasks
	over bool
	fx   grid.Effects
}

func (w *world) Checkpointed(grid.JobID) Job                   { return w.job }
func (w *world) Runs(from grid.NodeID, id grid.AttemptID) bool { return w.runs[id] == from }
func (w *world) Newest(grid.TaskID) grid.Attempt               { return w.made }
func (w *world) Over(grid.TaskID) bool                         { return w.over }

func node(b byte) grid.NodeID { return grid.NodeID{b} }

func newWorld(t *testing.T, ranks uint32, members ...byte) *world {
	w := &world{t: t, runs: map[grid.AttemptID]grid.NodeID{}, now: 1}
	w.s = New(Config{Self: node(selfByte), Quota: quota, Limit: limit, Confirm: 4 * time.Second, Retry: 2 * time.Second})
	w.job = Job{Spec: &grid.JobSpec{Count: max(ranks, 1), Retries: 1}, Owner: node(selfByte), Leads: true}
	w.job.Spec.Gang.Ranks = ranks
	for _, m := range members {
		w.job.Members = append(w.job.Members, node(m))
	}
	return w
}

// attempt is attempt n of a rank of the job, which a node runs.
func (w *world) attempt(rank, n uint32, at byte) grid.AttemptID {
	id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: node(selfByte)}, Index: rank},
		Attempt: grid.Attempt{Epoch: 1, N: n}}
	w.runs[id] = node(at)
	return id
}

func files(step uint64, size grid.Bytes, paths ...string) (out []grid.File) {
	for _, p := range paths {
		out = append(out, grid.File{Path: p, Blob: grid.BlobID{1, byte(step)}, Size: size})
	}
	return out
}

func (w *world) report(id grid.AttemptID, x grid.Checkpoint) {
	w.s.Report(w.now, w.runs[id], id, &x, w, &w.fx)
}

// fetched ends all fetches.
func (w *world) fetched(err string) (n int) {
	fetches := w.fx.Fetches
	w.fx.Fetches = nil
	for _, f := range fetches {
		w.s.Fetched(w.now, &grid.Event{Attempt: f.Attempt, Err: err,
			OfAttempt: grid.OfAttempt{Step: f.Step}}, w, &w.fx)
	}
	return len(fetches)
}

// told returns what a node was last told, and forgets all messages.
func (w *world) told(to byte) (last grid.Checkpoint) {
	for i := range w.fx.Sends {
		if s := &w.fx.Sends[i]; s.To == node(to) {
			last = *s.Msg.Checkpoint
		}
	}
	w.fx.Sends = nil
	return last
}

func (w *world) want(what string, got, want any) {
	w.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// keep has a task's checkpoint kept, here and where it must be.
func (w *world) keep(id grid.AttemptID, step uint64) {
	w.report(id, grid.Checkpoint{Closed: []uint64{step}})
	w.report(id, grid.Checkpoint{Closed: []uint64{step}, Step: step, Files: files(step, 10, "f")})
	w.fetched("")
}

// All ranks' files of the same step, and the newest of those, are what a restart gets: with the rank before each path.
func TestRestartGetsTheNewestThatAllHave(t *testing.T) {
	w := newWorld(t, 2)
	a, b := w.attempt(0, 1, workerByte), w.attempt(1, 1, otherByte)
	w.report(a, grid.Checkpoint{Closed: []uint64{10, 20, 30}})
	w.want("with one rank only", w.told(workerByte).Step, 0)
	w.report(b, grid.Checkpoint{Closed: []uint64{10, 20}})
	w.want("the newest of both", w.told(workerByte).Step, 20)
	w.report(a, grid.Checkpoint{Closed: []uint64{20, 30}, Step: 20, Files: files(20, 5, "x", "deep/y")})
	w.want("files of one rank", len(w.fx.Fetches), 0)
	w.report(b, grid.Checkpoint{Closed: []uint64{20, 40}, Step: 20, Files: files(20, 5, "x")})
	next := w.attempt(0, 2, workerByte)
	w.want("before they are here", len(w.s.Inputs(w.job.Spec, next)), 0)
	w.want("advanced", w.s.Advanced(w.job.Spec, b), false)
	w.want("fetches", w.fetched(""), 1)
	w.want("advanced", fmt.Sprint(w.s.Advanced(w.job.Spec, b), w.s.Advanced(w.job.Spec, next)), "true false")
	w.want("an attempt that was offered before", len(w.s.Inputs(w.job.Spec, next)), 0)
	var paths []string
	for _, f := range w.s.Inputs(w.job.Spec, w.attempt(1, 3, workerByte)) {
		paths = append(paths, f.Path)
	}
	w.want("paths", paths, "[.skep-checkpoint/20/0/x .skep-checkpoint/20/0/deep/y .skep-checkpoint/20/1/x]")
	w.want("usable", w.told(otherByte).Usable, 20)
	if rec := w.fx.Saves[0].Checkpoint; len(w.fx.Saves) != 1 || rec.Step != 20 || len(rec.Files) != 3 {
		t.Errorf("records %+v", w.fx.Saves)
	}
}

// What workers say is bounded, and of no attempt but the current one at its worker.
func TestWorkersAreNotTrusted(t *testing.T) {
	w := newWorld(t, 0)
	a := w.attempt(0, 1, workerByte)
	for what, x := range map[string]grid.Checkpoint{
		"too many":      {Closed: []uint64{1, 2, 3, 4, 5}},
		"not ascending": {Closed: []uint64{2, 1}},
		"nothing":       {},
	} {
		stale := w.s.Stale()
		w.report(a, x)
		w.want(what+": ignored", w.s.Stale(), stale+1)
	}
	stale := w.s.Stale()
	w.s.Report(w.now, node(otherByte), a, &grid.Checkpoint{Closed: []uint64{1}}, w, &w.fx)
	w.s.Report(w.now, node(workerByte), a, nil, w, &w.fx)
	w.want("another node", w.s.Stale(), stale+2)

	many := make([]string, grid.MaxCheckpointFiles+1)
	for i := range many {
		many[i] = fmt.Sprint("f", i)
	}
	for k, x := range [][]grid.File{files(1, 1, "../up"), files(1, 1, "/abs"), files(1, -1, "f"), {{Path: "f", Size: 1}},
		files(1, 1, many...), files(1, limit+1, "f"), nil, files(1, 1, "a\nb")} {
		step := uint64(10 + k)
		w.report(a, grid.Checkpoint{Closed: []uint64{step}})
		w.want("it is asked for", w.told(workerByte).Step, step)
		w.report(a, grid.Checkpoint{Closed: []uint64{step}, Step: step, Files: x})
		w.want("fetches", len(w.fx.Fetches), 0)
		if v := w.s.View(w.job.Spec, a.Task); v.Step != 0 || v.Why == "" {
			t.Errorf("case %d: %+v, want why there is none", k, v)
		}
		w.report(a, grid.Checkpoint{Closed: []uint64{step}, Step: step, Files: files(step, 1, "f")})
		w.want("fetches of one that was given up", len(w.fx.Fetches), 0)
	}
	w.keep(a, 50)
	w.want("a good one after all", w.s.View(w.job.Spec, a.Task).Step, 50)
}

// A rank that cannot take it, or has it no more, ends it, and the next one is taken.
func TestTakingFails(t *testing.T) {
	w := newWorld(t, 2)
	a, b := w.attempt(0, 1, workerByte), w.attempt(1, 1, otherByte)
	w.report(a, grid.Checkpoint{Closed: []uint64{10, 20}})
	w.report(b, grid.Checkpoint{Closed: []uint64{10, 20}})
	w.report(a, grid.Checkpoint{Closed: []uint64{10, 20}, Step: 20, Files: files(20, 1, "f")})
	w.report(b, grid.Checkpoint{Closed: []uint64{10, 20}, Step: 20,
		Refusal: grid.Refusal{Why: grid.WhyFailed, Detail: "no"}})
	w.want("the older one is not asked for", w.told(workerByte).Step, 0)
	w.report(a, grid.Checkpoint{Closed: []uint64{20, 30}})
	w.report(b, grid.Checkpoint{Closed: []uint64{20, 30}})
	w.want("the next", w.told(workerByte).Step, 30)
	w.report(b, grid.Checkpoint{Closed: []uint64{40}})
	w.report(a, grid.Checkpoint{Closed: []uint64{30, 40}})
	w.want("one that is gone at a rank", w.told(workerByte).Step, 40)
	w.report(a, grid.Checkpoint{Closed: []uint64{40}, Step: 40, Files: files(40, 1, "f")})
	w.report(b, grid.Checkpoint{Closed: []uint64{40}, Step: 40, Files: files(40, 1, "f")})
	for range maxTries {
		w.want("fetches", w.fetched("gone"), 1)
		w.report(a, grid.Checkpoint{Closed: []uint64{40}, Step: 40, Files: files(40, 1, "f")})
	}
	w.want("fetches after the last try", len(w.fx.Fetches), 0)
	w.want("kept", w.s.View(w.job.Spec, a.Task).Step, 0)
}

// What an attempt has closed is of no use once there is a later one: the files of a checkpoint are of one attempt.
func TestAttemptsDoNotMix(t *testing.T) {
	w := newWorld(t, 2)
	a, b := w.attempt(0, 1, workerByte), w.attempt(1, 1, otherByte)
	w.report(a, grid.Checkpoint{Closed: []uint64{10}})
	w.report(b, grid.Checkpoint{Closed: []uint64{10}})
	w.report(a, grid.Checkpoint{Closed: []uint64{10}, Step: 10, Files: files(10, 1, "f")})
	w.report(w.attempt(1, 2, workerByte), grid.Checkpoint{Closed: []uint64{10}, Step: 10, Files: files(10, 1, "f")})
	w.report(b, grid.Checkpoint{Closed: []uint64{10}, Step: 10, Files: files(10, 1, "f")})
	w.want("fetches", len(w.fx.Fetches), 0)
	w.want("kept", w.s.View(w.job.Spec, a.Task).Step, 0)
}

// A task that is not run again needs none: its worker may remove them.
func TestOnceNeedsNone(t *testing.T) {
	w := newWorld(t, 0)
	w.job.Spec.Retries = 0
	a := w.attempt(0, 1, workerByte)
	w.report(a, grid.Checkpoint{Closed: []uint64{10, 20}})
	w.want("told", w.told(workerByte), grid.Checkpoint{Usable: 20})
	w.want("units", len(w.s.order), 0)
}

// A checkpoint is usable when a majority keeps it, or no majority can be had in time.
func TestUsableWithAMajority(t *testing.T) {
	w := newWorld(t, 0, selfByte, memberByte, otherByte)
	a := w.attempt(0, 1, workerByte)
	w.keep(a, 10)
	w.want("a member is asked", w.told(memberByte).Step, 10)
	w.want("alone", w.s.View(w.job.Spec, a.Task).Alone, true)
	answer := func(from byte, why grid.Why) {
		w.s.Keep(w.now, node(from), a, &grid.Checkpoint{Step: 10, Kept: true, Refusal: grid.Refusal{Why: why}}, w, &w.fx)
	}
	answer(workerByte, grid.WhyNone) // no member
	answer(memberByte, grid.WhyRoom)
	w.want("one has refused", w.told(workerByte).Usable, 0)
	answer(otherByte, grid.WhyNone)
	w.want("a majority", w.told(workerByte).Usable, 10)
	w.want("alone", w.s.View(w.job.Spec, a.Task).Alone, false)

	w.keep(a, 20)
	w.want("not yet", w.told(workerByte).Usable, 10)
	w.now = w.now.Add(time.Minute)
	w.s.Tick(w.now, w, &w.fx)
	w.want("no longer waited for", w.told(workerByte).Usable, 20)
	w.want("alone", w.s.View(w.job.Spec, a.Task).Alone, true)
	w.over = true
	w.s.Tick(w.now, w, &w.fx)
	if last := w.fx.Saves[len(w.fx.Saves)-1]; !last.Delete || len(w.s.units) != 0 {
		t.Errorf("of a task that is over: %+v, %d kept", last, len(w.s.units))
	}
}

// member is a world in which another node owns the job, which was submitted there.
func newMember(t *testing.T) (*world, func(from byte, n uint32, step uint64, fs []grid.File) grid.Checkpoint) {
	w := newWorld(t, 0, otherByte, selfByte, memberByte)
	w.job.Leads, w.job.Owner, w.job.Spec.Count = false, node(otherByte), 100
	return w, func(from byte, n uint32, step uint64, fs []grid.File) grid.Checkpoint {
		id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: node(otherByte)}, Index: n},
			Attempt: grid.Attempt{N: 1}}
		w.s.Keep(w.now, node(from), id, &grid.Checkpoint{Step: step, Files: fs}, w, &w.fx)
		w.fetched("")
		return w.told(from)
	}
}

// A member keeps what the owner names, within its bounds: what it keeps for one node is at most half of the quota.
func TestOwnersAreNotTrusted(t *testing.T) {
	w, ask := newMember(t)
	for k, fs := range [][]grid.File{files(1, 1, "f"), files(1, 1, "1/f"), files(1, 1, "00/f"), files(1, 1, "0/../f"),
		files(1, -1, "0/f"), files(1, 1, "0"), make([]grid.File, grid.MaxCheckpointFiles+1)} {
		stale := w.s.Stale()
		ask(otherByte, 0, 10, fs)
		w.want(fmt.Sprint("case ", k, ": ignored"), w.s.Stale(), stale+1)
	}
	stale := w.s.Stale()
	ask(memberByte, 0, 10, files(1, 1, "0/f"))
	ask(workerByte, 0, 10, files(1, 1, "0/f"))
	ask(otherByte, 100, 10, files(1, 1, "0/f"))
	w.want("from others, or of no task", w.s.Stale(), stale+3)
	w.want("too large", ask(otherByte, 0, 10, files(1, limit+1, "0/f")).Refusal.Why, grid.WhyRoom)
	for n := range uint32(2) {
		got := ask(otherByte, n, 10, files(1, 90*grid.KiB, "0/f"))
		w.want("kept", fmt.Sprint(got.Kept, got.Step, got.Refusal.Why), fmt.Sprint(true, 10, grid.WhyNone))
	}
	w.want("over half of the quota", ask(otherByte, 2, 10, files(1, 90*grid.KiB, "0/f")).Refusal.Why, grid.WhyRoom)
	w.over = true
	w.s.Tick(w.now, w, &w.fx)
	w.want("charged at last", fmt.Sprint(w.s.total, len(w.s.charged)), "0 0")
	w.over = false
	w.want("afterwards", ask(otherByte, 2, 10, files(1, 90*grid.KiB, "0/f")).Refusal.Why, grid.WhyNone)
}

// A member that has a newer one says so, and tells a new owner.
func TestMembersTell(t *testing.T) {
	w, ask := newMember(t)
	ask(otherByte, 0, 20, files(2, 1, "0/f"))
	got := ask(otherByte, 0, 10, files(1, 1, "0/f"))
	w.want("it has a newer one", fmt.Sprint(got.Kept, got.Step, len(got.Files)), "true 20 1")
	w.job.Owner = node(memberByte)
	ticks := ""
	for range 9 {
		w.s.Tick(w.now, w, &w.fx)
		ticks += fmt.Sprint(w.told(memberByte).Step, " ")
	}
	w.want("the new owner is told", ticks, "20 20 0 20 0 0 0 20 0 ")
	got = ask(memberByte, 0, 20, files(2, 1, "0/f"))
	w.want("once it knows", got.Kept, true)
	w.s.Tick(w.now, w, &w.fx)
	w.want("it is told no more", w.told(memberByte).Step, 0)
}

// After a restart all is as before, and in the same order whatever the order of the records.
func TestRestore(t *testing.T) {
	var first Store
	for _, order := range [][]uint32{{0, 1, 2}, {2, 0, 1}} {
		s := New(Config{Self: node(selfByte), Quota: quota, Limit: limit})
		for _, i := range order {
			s.Restore(&grid.CheckpointRecord{ID: grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: node(otherByte)},
				Index: i}}, Step: 5, Files: files(1, 10, "0/f")}, node(otherByte))
		}
		s.Start(1, new(grid.Effects))
		if first.order == nil {
			first = s
		}
		for k := range s.order {
			if s.order[k].id != first.order[k].id {
				t.Errorf("order %v: another one", order)
			}
		}
		if s.total == 0 || s.total != s.charged[node(otherByte)] {
			t.Errorf("charged %d of %d", s.charged[node(otherByte)], s.total)
		}
	}
}

// At a worker the newest four wait beside the one that is being taken; it takes what it is asked for, and once.
func TestRunning(t *testing.T) {
	var r Running
	id, owner := grid.AttemptID{Attempt: grid.Attempt{N: 1}}, node(otherByte)
	var fx grid.Effects
	last := func() grid.Take { return fx.Takes[len(fx.Takes)-1] }
	r.Event(id, &grid.Checkpoint{Closed: []uint64{1, 2}}, 2*time.Second, owner, &fx)
	r.Answered(owner, id, &grid.Checkpoint{Step: 2}, &fx)
	r.Answered(owner, id, &grid.Checkpoint{Step: 2}, &fx)
	if len(fx.Takes) != 1 || last().Step != 2 {
		t.Fatalf("%+v: want that 2 is taken once", fx.Takes)
	}
	r.Event(id, &grid.Checkpoint{Closed: []uint64{3, 4, 5, 6, 7, 6, 2}}, 7*time.Second, owner, &fx)
	if !slices.Equal(last().Keep, []uint64{2, 4, 5, 6, 7}) {
		t.Errorf("keeps %v", last().Keep)
	}
	r.Event(id, &grid.Checkpoint{Step: 2, Files: files(2, 1, "f")}, 0, owner, &fx)
	if m := fx.Sends[len(fx.Sends)-1].Msg.Checkpoint; m.Step != 2 || len(m.Files) != 1 ||
		!slices.Equal(m.Closed, []uint64{4, 5, 6, 7}) {
		t.Errorf("reports %+v", m)
	}
	r.Answered(owner, id, &grid.Checkpoint{Usable: 5, Step: 99}, &fx)
	if !slices.Equal(last().Keep, []uint64{6, 7}) || last().Step != 0 || last().Known != 7 {
		t.Errorf("%+v: want that 6 and 7 are kept, and what is newer", last())
	}
	r.Answered(owner, id, &grid.Checkpoint{Step: 7}, &fx)
	if r.Answered(owner, id, &grid.Checkpoint{Step: 6}, &fx); last().Step != 7 {
		t.Errorf("%+v: want that an older one is not taken once a newer one was asked for", last())
	}
	r.Event(id, &grid.Checkpoint{Step: 7, Refusal: grid.Refusal{Why: grid.WhyFailed}}, 0, owner, &fx)
	if m := fx.Sends[len(fx.Sends)-1].Msg.Checkpoint; m.Step != 7 || m.Refusal.Why != grid.WhyFailed {
		t.Errorf("reports %+v", m)
	}
	r.Drop(id)
	sent := len(fx.Sends)
	if r.Report(id, owner, &fx); len(fx.Sends) != sent {
		t.Error("an attempt that runs no more is reported")
	}
	r.Answered(owner, id, &grid.Checkpoint{Step: 7}, &fx)
	if r.Stale() != 1 {
		t.Errorf("%d stale", r.Stale())
	}
}

// Kept is for how long an attempt had run when it closed the checkpoint that its owner has called usable, not when that
// was stored or answered.
func TestKept(t *testing.T) {
	var r Running
	var fx grid.Effects
	id, owner := grid.AttemptID{Attempt: grid.Attempt{N: 1}}, node(otherByte)
	r.Event(id, &grid.Checkpoint{Closed: []uint64{1}}, 3*time.Second, owner, &fx)
	r.Answered(owner, id, &grid.Checkpoint{Step: 1}, &fx)
	r.Event(id, &grid.Checkpoint{Closed: []uint64{2}}, 8*time.Second, owner, &fx)
	r.Event(id, &grid.Checkpoint{Step: 1, Files: files(1, 1, "f")}, 9*time.Second, owner, &fx)
	if kept, some := r.Kept(id); some {
		t.Errorf("kept %v before the owner has called one usable", kept)
	}
	r.Answered(owner, id, &grid.Checkpoint{Usable: 1}, &fx)
	if kept, some := r.Kept(id); !some || kept != 3*time.Second {
		t.Errorf("kept %v, %v: want 3s, when step 1 was closed", kept, some)
	}
}
