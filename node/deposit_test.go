package node

import (
	"slices"
	"testing"

	"skep/grid"
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
		m.Register = grid.RegisterMessage{Job: o.job(i), Epoch: 1, Seq: uint64(len(finals)) + 1, Spec: s, Members: []grid.NodeID{o.id, o.n.cfg.Self, slowID}, Entries: finals, Done: done}
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
	in, out := inputsID(o.job(1)), o.attempt(1, 1)
	if said, fetches := o.copy(in, nil); said != nil || !fetches || !slices.Equal(o.fx.Fetches[0].Files, files(1, 2, grid.MiB)) {
		t.Fatalf("asked for inputs it said %v, fetches %v", said, o.fx.Fetches)
	}
	if said, fetches := o.copy(in, nil); said != nil || fetches {
		t.Errorf("asked again while they are on their way it said %v, fetches again %v", said, fetches)
	}
	o.fetched(in, "")
	if c := o.one(grid.KindDepositAck); c.To != o.id || c.Msg.Refusal.Why != grid.WhyNone || !o.disk["register "+o.job(1).String()].Register.Held {
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
	if got, want := again.n.deposited, diskBytes(files(1, 2, grid.MiB))+diskBytes(r.Outputs); got != want || again.n.accounts.of(o.id).deposited != want {
		t.Errorf("%d bytes are deposited after a restart, want %d", got, want)
	}
	// The end of another attempt is written: the first one's output is useless.
	again.write(1, nil, false, grid.Entry{Index: 1, Attempt: grid.Attempt{Epoch: 1, N: 2}, Result: exitZero})
	if got, want := again.n.deposited, diskBytes(files(1, 2, grid.MiB)); got != want || again.disk["entry "+out.Task.String()].Entry.Held {
		t.Errorf("%d bytes are deposited, want %d", got, want)
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
	if e := o.disk["entry "+o.attempt(1, 0).Task.String()].Entry; e == nil || !e.Held || e.Epoch != 1 {
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
	if e := o.disk["entry "+id.Task.String()].Entry; len(o.fx.Fetches) != 0 || e == nil || e.Epoch != 1 || e.Held {
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
	if c, e := o.one(grid.KindDepositAck), o.disk["entry "+id.Task.String()].Entry; c.Msg.Refusal.Why != grid.WhyNone || !e.Held {
		t.Errorf("when they are here it says %+v, and on disk is %+v", c, e)
	}
}

// A peer that names more than its quota is refused, whatever it names, and gets no more than half of the total.
func TestOnePeerCannotFillTheDisk(t *testing.T) {
	const half = 64 * grid.MiB
	o := newOwner(t, func(c *Config) { c.Copies, c.Lend = 16*grid.MiB, 2*half })
	most := func() {
		t.Helper()
		if n := o.n.deposited; n > half || n != o.n.accounts.of(o.id).deposited || n < 0 {
			t.Fatalf("%d bytes are deposited for one peer, of at most %d", n, half)
		}
	}
	refused := 0
	for i := range byte(250) {
		inputs := files(i, 1, 3*grid.MiB)
		switch i % 5 {
		case 1:
			inputs = files(i, 1, 1<<50)
		case 2:
			inputs = files(i, 1000, 1<<62) // the sum overflows
		case 3:
			inputs = files(i, grid.MaxFiles, 1) // small files take room too
		}
		o.write(i, inputs, false)
		said, fetches := o.copy(inputsID(o.job(i)), nil)
		if (said == nil) != fetches || said != nil && said.Why != grid.WhyRoom {
			t.Fatalf("job %d: said %v, fetches %v", i, said, fetches)
		}
		if said != nil {
			refused++
		} else if i%5 == 1 || i%5 == 2 {
			t.Fatalf("job %d: deposits %d files of %d bytes", i, len(inputs), inputs[0].Size)
		}
		most()
	}
	if refused < 200 {
		t.Errorf("%d of 250 refused", refused)
	}
	// Failed fetches and finished jobs free their room.
	o.fetched(inputsID(o.job(0)), "it is not there")
	most()
	o.write(0, nil, true)
	o.write(251, files(251, 1, 3*grid.MiB), false)
	if _, fetches := o.copy(inputsID(o.job(251)), nil); !fetches {
		t.Errorf("what did not come still takes room: %d bytes", o.n.deposited)
	}
	o.fetched(inputsID(o.job(251)), "")
	o.write(251, nil, true)
	o.write(252, files(252, 1, 3*grid.MiB), false)
	if _, fetches := o.copy(inputsID(o.job(252)), nil); !fetches || o.n.job(o.job(251)) != nil {
		t.Errorf("a job that is over keeps its room: %d bytes", o.n.deposited)
	}
	most()
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
	for _, id := range []grid.AttemptID{inputsID(grid.JobID{Origin: fastID, Nonce: [10]byte{1}}), {Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{1}}}, Attempt: grid.Attempt{Epoch: 1, N: 1}}} {
		if said, fetches := o.copy(id, r); said != nil || fetches {
			t.Errorf("by a member that is not the owner: said %v, fetches %v", said, fetches)
		}
	}
	o.id = fastID
	o.step(grid.Event{Kind: grid.EvDisk, Low: true})
	if said, fetches := o.copy(inputsID(o.job(1)), nil); said == nil || said.Why != grid.WhyDisk || fetches {
		t.Errorf("with a full disk: said %v, fetches %v", said, fetches)
	}
}
