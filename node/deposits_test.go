package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node/deposit"
)

// owner plays a peer whose jobs have this node and a third as members.
type owner struct {
	*rig
	id grid.NodeID
}

func newOwner(t *testing.T, change func(*Config)) *owner {
	r := newRig(t, change)
	r.join(fastID, 1, "linux")
	return &owner{rig: r, id: fastID}
}

func (o *owner) job(i byte) grid.JobID { return grid.JobID{Origin: o.id, Nonce: [10]byte{i}} }

// files makes n files of one size.
func files(i byte, n int, size grid.Bytes) (fs []grid.File) {
	for k := range n {
		fs = append(fs, grid.File{Path: "f", Blob: grid.BlobID{1, i, byte(k), byte(k >> 8)}, Size: size})
	}
	return fs
}

// write makes this node a member of a job of two tasks with inputs, and writes the given entries.
func (o *owner) write(i byte, inputs []grid.File, done bool, finals ...grid.Entry) {
	o.t.Helper()
	s := spec(func(s *grid.JobSpec) { s.Count, s.Inputs = 2, inputs })
	o.deliver(o.id, grid.KindWrite, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: o.job(i), Epoch: 1, Seq: uint64(len(finals)) + 1, Spec: s,
			Members: []grid.NodeID{o.id, selfID, slowID}, Entries: finals, Done: done}
	})
	if a := o.one(grid.KindWriteAck); a.Msg.Register.Answer != grid.RegisterOK {
		o.t.Fatalf("job %d is written to: answer %d", i, a.Msg.Register.Answer)
	}
}

// copy asks for the deposit of an attempt's output, or of the inputs, and returns the answer and whether a fetch began.
func (o *owner) copy(id grid.AttemptID, r *grid.Result) (said *grid.Refusal, fetches bool) {
	o.t.Helper()
	o.deliverFor(o.id, grid.KindDeposit, id, r)
	if c := o.sent(grid.KindDepositAck); len(c) == 1 {
		said = &c[0].Msg.Refusal
	}
	return said, len(o.fx.Fetches) == 1 && o.fx.Fetches[0].Deposit
}

func (o *owner) fetched(id grid.AttemptID, err string) {
	o.t.Helper()
	o.step(grid.Event{Kind: grid.EvFetched, Attempt: id, Err: err, Deposit: true})
}

func (o *owner) attempt(i byte, task uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: o.job(i), Index: task}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
}

func TestMemberDepositsAndAnswers(t *testing.T) {
	o := newOwner(t, nil)
	o.write(1, files(1, 2, grid.MiB), false)
	in, out := deposit.InputsID(o.job(1)), o.attempt(1, 1)
	if said, fetches := o.copy(in, nil); said != nil || !fetches ||
		!slices.Equal(o.fx.Fetches[0].Files, files(1, 2, grid.MiB)) {
		t.Fatalf("asked for inputs it said %v, fetches %v", said, o.fx.Fetches)
	}
	if said, fetches := o.copy(in, nil); said != nil || fetches {
		t.Errorf("asked again while they are on their way it said %v, fetches again %v", said, fetches)
	}
	o.fetched(in, "")
	if c := o.one(grid.KindDepositAck); c.To != o.id || c.Msg.Refusal.Why != grid.WhyNone ||
		!o.disk["register "+o.job(1).String()].Register.Held {
		t.Errorf("when they are here it says %+v", c)
	}
	r := &grid.Result{Cause: grid.Exited, Outputs: files(2, 1, grid.MiB)}
	if said, fetches := o.copy(out, r); said != nil || !fetches {
		t.Fatalf("asked for what a task left it said %v", said)
	}
	o.fetched(out, "")
	o.one(grid.KindDepositAck)
	// The deposit survives a restart: its files are pinned by records on disk.
	again := &owner{rig: o.restart(), id: o.id}
	again.join(o.id, 1, "linux")
	again.write(1, nil, false)
	for _, id := range []grid.AttemptID{in, out} {
		if said, fetches := again.copy(id, r); said == nil || said.Why != grid.WhyNone || fetches {
			t.Errorf("after a restart it says %v of %v", said, id)
		}
	}
	// The end of another attempt is written: the first one's output is useless.
	again.write(1, nil, false, grid.Entry{Index: 1, Attempt: grid.Attempt{Epoch: 1, N: 2}, Result: exitZero})
	if again.disk["entry "+out.Task.String()].Entry.Held {
		t.Error("the files of the attempt before are held")
	}
}

// A member that learns of a result whose deposit it was never asked for fetches the files by itself.
func TestMemberFetchesMissedDeposit(t *testing.T) {
	o := newOwner(t, nil)
	r := &grid.Result{Cause: grid.Exited, Outputs: files(2, 1, grid.MiB)}
	o.write(1, nil, false)
	o.write(1, nil, false, grid.Entry{Index: 0, Attempt: grid.Attempt{Epoch: 1, N: 1}, Worker: slowID, Result: r})
	if len(o.fx.Fetches) != 1 || o.fx.Fetches[0].From != o.id {
		t.Fatalf("fetches %+v", o.fx.Fetches)
	}
	o.fetched(o.attempt(1, 0), "")
	if e := o.disk["entry "+o.attempt(1, 0).Task.String()].Entry; !e.Held || e.Epoch != 1 {
		t.Errorf("on disk is %+v", e)
	}
}

// A member without deposit room accepts the task's end all the same, since nothing may wait for a full disk; it does
// not report the files as deposited, and fetches them when it has room and is asked.
func TestMemberWithoutRoomAcceptsTheEnd(t *testing.T) {
	o := newOwner(t, nil)
	r := &grid.Result{Cause: grid.Exited, Outputs: files(2, 1, grid.MiB)}
	id := o.attempt(1, 0)
	o.write(1, nil, false)
	o.step(grid.Event{Kind: grid.EvDisk, Low: true})
	o.write(1, nil, false, grid.Entry{Index: 0, Attempt: id.Attempt, Worker: slowID, Result: r})
	if e := o.disk["entry "+id.Task.String()].Entry; len(o.fx.Fetches) != 0 || e.Epoch != 1 || e.Held {
		t.Errorf("with a full disk it fetches %+v, and on disk is %+v", o.fx.Fetches, e)
	}
	if said, fetches := o.copy(id, r); said == nil || said.Why != grid.WhyDisk || fetches {
		t.Errorf("asked for the files it said %v, fetches %v", said, fetches)
	}
	o.step(grid.Event{Kind: grid.EvDisk})
	if said, fetches := o.copy(id, r); said != nil || !fetches {
		t.Errorf("asked when it has room it said %v, fetches %v", said, fetches)
	}
	o.fetched(id, "")
	if c, e := o.one(grid.KindDepositAck), o.disk["entry "+id.Task.String()].Entry; c.Msg.Refusal.Why != grid.WhyNone ||
		!e.Held {
		t.Errorf("when they are here it says %+v, and on disk is %+v", c, e)
	}
}

// A job that is over makes room for the files of the next one, and is forgotten.
func TestEvictedJobIsForgotten(t *testing.T) {
	o := newOwner(t, func(c *Config) { c.DepositQuota = 7 * grid.MiB })
	for i := range byte(2) {
		o.write(i, files(i, 1, 3*grid.MiB), false)
		if said, fetches := o.copy(deposit.InputsID(o.job(i)), nil); said != nil || !fetches {
			t.Fatalf("job %d: said %v, fetches %v", i, said, fetches)
		}
		o.fetched(deposit.InputsID(o.job(i)), "")
		o.write(i, nil, true)
	}
	if _, onDisk := o.disk["register "+o.job(0).String()]; o.knows(o.job(0)) || onDisk || !o.knows(o.job(1)) {
		t.Error("the job that made room is here, or the other one is not")
	}
}

func TestDepositRequestIsRefused(t *testing.T) {
	o := newOwner(t, nil)
	o.join(slowID, 1, "linux")
	r := &grid.Result{Cause: grid.Exited, Outputs: files(2, 1, grid.MiB)}
	if said, fetches := o.copy(o.attempt(1, 0), r); said != nil || fetches {
		t.Errorf("of a job that is not known: said %v, fetches %v", said, fetches)
	}
	o.write(1, files(1, 1, grid.MiB), false)
	o.id = slowID
	for _, id := range []grid.AttemptID{deposit.InputsID(grid.JobID{Origin: fastID, Nonce: [10]byte{1}}),
		{Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{1}}}, Attempt: grid.Attempt{Epoch: 1, N: 1}}} {
		if said, fetches := o.copy(id, r); said != nil || fetches {
			t.Errorf("by a member that is not the owner: said %v, fetches %v", said, fetches)
		}
	}
	o.id = fastID
	o.step(grid.Event{Kind: grid.EvDisk, Low: true})
	if said, fetches := o.copy(deposit.InputsID(o.job(1)), nil); said == nil || said.Why != grid.WhyDisk || fetches {
		t.Errorf("with a full disk: said %v, fetches %v", said, fetches)
	}
}

// withOutput makes this node the owner of a replicated job whose task has just ended here and left a file.
func withOutput(t *testing.T) (*rig, grid.AttemptID) {
	r := newRig(t, func(c *Config) { c.Members = 3 })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	r.submit(jobID(1), spec(nil))
	for _, k := range []grid.Kind{grid.KindKeepaliveAck, grid.KindWriteAck} {
		for _, s := range slices.Clone(r.fx.Sends) {
			g := s.Msg.Register
			r.deliver(s.To, k, func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: g.Epoch, Seq: g.Seq, Answer: grid.RegisterOK}
			})
		}
	}
	r.answer(selfID)
	r.pass(2*time.Second, grid.TimerPoll)
	if len(r.fx.Starts) != 1 {
		t.Fatalf("nothing starts; %v", r.task(jobID(1)))
	}
	id := r.fx.Starts[0].Attempt
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: &grid.Result{Cause: grid.Exited,
		Outputs: files(1, 1, grid.MiB)}})
	return r, id
}

// A task with output ends when one of the other two members has the files, or when neither will.
func TestOwnerWaitsForDeposit(t *testing.T) {
	for name, answers := range map[string][]grid.Why{"one has them": {grid.WhyNone},
		"the second has them": {grid.WhyRoom, grid.WhyNone}, "neither": {grid.WhyRoom, grid.WhyDisk}} {
		r, id := withOutput(t)
		asked := slices.Clone(r.sent(grid.KindDeposit))
		if len(asked) != 2 || len(r.sent(grid.KindWrite)) != 0 {
			t.Fatalf("%s: %v are sent", name, kindsOf(r.fx.Sends))
		}
		for k, why := range answers {
			if k > 0 && len(r.sent(grid.KindWrite)) != 0 {
				t.Errorf("%s: the end is written after %d answers", name, k)
			}
			r.deliver(asked[k].To, grid.KindDepositAck, func(m *grid.Message) {
				m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: why}
			})
		}
		if w := r.sent(grid.KindWrite); len(w) != 2 || len(w[0].Msg.Register.Entries) != 1 ||
			(w[0].Msg.Register.Entries[0].Result.Error != "") != (name == "neither") {
			t.Errorf("%s: %v are sent", name, kindsOf(r.fx.Sends))
		}
	}
}

// Regression: members that are busy fetching are asked again soon, and the end waits for them. It said at once that no
// other node had the files.
func TestOwnerAsksABusyMemberAgain(t *testing.T) {
	r, id := withOutput(t)
	say := func(to grid.NodeID, why grid.Why) {
		r.deliver(to, grid.KindDepositAck, func(m *grid.Message) {
			m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: why}
		})
	}
	for _, to := range []grid.NodeID{fastID, slowID} {
		if say(to, grid.WhyQueue); len(r.sent(grid.KindWrite)) != 0 {
			t.Fatal("the end is written though both may bring the files soon")
		}
	}
	for end := r.now.Add(r.cfg.Lease * 2 / 3); len(r.sent(grid.KindDeposit)) != 2; {
		if r.pass(r.cfg.Lease/3, grid.TimerRegister); r.now > end {
			t.Fatalf("%v are sent a third of a lease later, and after the tick behind that: want both asked again",
				kindsOf(r.fx.Sends))
		}
	}
	say(slowID, grid.WhyNone)
	if w := r.sent(grid.KindWrite); len(w) == 0 || w[0].Msg.Register.Entries[0].Result.Error != "" {
		t.Errorf("%v are sent", kindsOf(r.fx.Sends))
	}
}
