package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node/coordinator/retention"
	"skep/node/deposit"
)

// keeping is a rig of a node that runs everything itself and bounds what it keeps.
func keeping(t *testing.T, b retention.Bounds) *rig {
	return newRig(t, func(c *Config) {
		c.Capacity.CPU = 64 * grid.CPU
		c.Labels = append(grid.FeatureLabels(), c.Labels...)
		c.Retention.Bounds = b
	})
}

// made is a good end that left a file.
func made(i byte, size grid.Bytes) *grid.Result {
	return &grid.Result{Cause: grid.Exited, Wall: time.Second, Outputs: files(i, 1, size)}
}

// over submits a job, which ends.
func (r *rig) over(i byte, res *grid.Result) {
	r.t.Helper()
	r.submit(jobID(i), with())
	r.end(jobID(i), 0, res)
}

// kept checks which of the first jobs are known.
func (r *rig) kept(want ...bool) {
	r.t.Helper()
	for i, want := range want {
		id := jobID(byte(i + 1))
		if r.knows(id) != want {
			r.t.Errorf("at %v job %d is known: %v, want %v", r.now, i+1, !want, want)
		}
		for key := range r.disk {
			if strings.Contains(key, id.String()) && !want {
				r.t.Errorf("the record of %s is left", key)
			}
		}
	}
}

// idle lets time pass.
func (r *rig) idle(d time.Duration) {
	for end := r.now.Add(d); r.now < end; {
		r.pass(time.Duration(end - r.now))
	}
}

// By number the oldest ends go, with all their records, once nobody can repeat their submission any more; who asks is
// told why. A restart changes nothing for the others.
func TestEndedJobsGoByNumber(t *testing.T) {
	r := keeping(t, retention.Bounds{Jobs: 2})
	for i := byte(1); i <= 4; i++ {
		r.over(i, exitZero)
	}
	r.idle(50 * time.Second)
	r.kept(true, true, true, true)
	r.idle(15 * time.Second)
	r.kept(false, false, true, true)
	if why := r.n.Gone(jobID(1)); !strings.Contains(why, "keep jobs=2") {
		t.Errorf("it has gone: %q", why)
	}
	if why := r.n.Gone(jobID(3)) + r.n.Gone(jobID(9)); why != "" {
		t.Errorf("one that is here, or never was, has gone: %q", why)
	}
	if s := r.n.Retained(); s.Jobs != 2 || s.Gone[retention.ByNumber] != 2 {
		t.Errorf("counted are %+v", s)
	}
	r = r.restart()
	r.idle(5 * time.Minute)
	r.kept(false, false, true, true)
}

// An age goes on over a restart, after which nothing goes for a minute.
func TestEndedJobsGoByAge(t *testing.T) {
	r := keeping(t, retention.Bounds{Age: time.Hour})
	r.over(1, exitZero)
	r.idle(30 * time.Minute)
	r.over(2, exitZero)
	r = r.restart()
	r.idle(29 * time.Minute)
	r.kept(true, true)
	r.idle(2 * time.Minute)
	r.kept(false, true)
	r.idle(28 * time.Minute)
	r = r.restart()
	r.now = r.now.Add(59 * time.Second)
	r.kept(false, true)
	r.idle(2 * time.Minute)
	r.kept(false, false)
	r.idle(24 * time.Hour)
	if len(r.fx.Saves) > 0 {
		t.Errorf("a day later %d records are saved", len(r.fx.Saves))
	}
}

// A restart at which the wall clock is years ahead lets nothing go that is younger than its bound by a day, nor does
// the restart after it.
func TestClockAheadLetsNothingGo(t *testing.T) {
	const ahead = 3650 * retention.Day
	r := keeping(t, retention.Bounds{Age: 30 * retention.Day})
	r.over(1, exitZero)
	r.idle(time.Hour)
	from := wall.At(r.now)
	r.cfg.Retention.Gaps = &[]retention.Gap{{From: from.UnixNano(), To: from.Add(ahead).UnixNano()}}
	for range 2 {
		r = r.restartAt(grid.Wall{Zero: wall.Zero.Add(ahead)})
		r.idle(14 * retention.Day)
		r.kept(true)
	}
	r.idle(2 * retention.Day)
	r.kept(false)
}

// By bytes those go that hold files. What a job that goes on takes as input is not counted.
func TestEndedJobsGoByBytes(t *testing.T) {
	r := keeping(t, retention.Bounds{Bytes: 3 * grid.MiB})
	r.over(1, exitZero)
	r.over(2, made(2, 2*grid.MiB))
	r.submit(jobID(9), with(func(s *grid.JobSpec) { s.Inputs = files(2, 1, 2*grid.MiB) }))
	r.over(3, made(3, 2*grid.MiB))
	r.idle(time.Hour)
	r.kept(true, true, true)
	r.step(grid.Event{Kind: grid.EvFetched, Attempt: grid.AttemptID{Task: grid.TaskID{Job: jobID(9)},
		Attempt: r.n.worker.Exec().Of(jobID(9), nil)[0].ID.Attempt}})
	r.end(jobID(9), 0, exitZero)
	r.idle(time.Hour) // it has the file of job 2 still, and the bound is kept only without that of job 3
	r.kept(true, false, false)
	if s := r.n.Retained(); s.Bytes != 2*grid.MiB {
		t.Errorf("%d bytes are held", s.Bytes)
	}
	r.over(4, exitZero)
	r.over(5, made(5, 2*grid.MiB))
	r.idle(time.Hour)
	if r.kept(true, false, false, true, true); r.knows(jobID(9)) {
		t.Error("the oldest that holds a file is kept")
	}
}

// A job that another one follows which goes on stays; it goes when that is over.
func TestFollowedJobStays(t *testing.T) {
	r := keeping(t, retention.Bounds{Age: time.Hour})
	r.over(1, made(1, 1))
	r.submit(jobID(2), with(after(grid.AfterOK, jobID(1))))
	r.idle(3 * time.Hour)
	r.kept(true, true)
	r.end(jobID(2), 0, exitZero)
	r.idle(10 * time.Minute)
	r.kept(false, true)
}

// A job that other nodes ask about stays for as long as they do.
func TestAwaitedJobStays(t *testing.T) {
	r := keeping(t, retention.Bounds{Age: time.Minute})
	r.over(1, exitZero)
	r.over(2, exitZero)
	r.join(fastID, 1, "linux")
	for range 10 {
		r.deliver(fastID, grid.KindAwait, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: jobID(1), Seq: 77}
		})
		r.idle(2 * time.Minute)
		r.kept(true, false)
	}
	r.idle(6 * time.Minute)
	r.kept(false, false)
}

// A job of which tasks run again is not over, and its end counts anew.
func TestRetriedJobIsKept(t *testing.T) {
	r := keeping(t, retention.Bounds{Jobs: 1})
	r.over(1, exitOne)
	if why := r.ask(grid.EvRetry, jobID(1), 0); why != "" {
		t.Fatal(why)
	}
	r.over(2, exitZero)
	r.over(3, exitZero)
	r.idle(5 * time.Minute)
	r.kept(true, false, true)
	r.end(jobID(1), 0, exitZero)
	r.idle(5 * time.Minute)
	r.kept(true, false, false)
}

// Nothing goes before starts of its attempts have become impossible, however long a lease is.
func TestGraceFollowsTheLease(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Lease, c.Retention.Jobs = 20*time.Minute, 1 })
	r.over(1, exitZero)
	r.over(2, exitZero)
	r.idle(20 * time.Minute)
	r.kept(true, true)
	r.idle(5 * time.Minute)
	r.kept(false, true)
}

// A member lets a job of another node go by its own bounds: its tombstone stays, and the room of its files comes back.
func TestMemberGivesRoomBack(t *testing.T) {
	const size = 8 * grid.MiB
	o := newOwner(t, func(c *Config) {
		c.Retention.Age, c.DepositQuota, c.DepositLimit = time.Hour, 3*size, size+grid.MiB
	})
	res, id := made(2, size), o.attempt(1, 0)
	end := grid.Entry{Index: 0, Attempt: id.Attempt, Worker: slowID, Result: res}
	o.write(1, files(1, 1, 1), false)
	in := deposit.InputsID(o.job(1))
	o.copy(in, nil)
	o.fetched(in, "")
	o.copy(id, res)
	o.fetched(id, "")
	o.write(1, nil, true, end, grid.Entry{Index: 1, Attempt: id.Attempt, Result: exitZero})
	if s := o.n.Retained(); !o.knows(o.job(1)) || s.Bytes != size+1 || o.n.Charged().Registers != 1 {
		t.Fatalf("%+v are kept, %+v charged", s, o.n.Charged())
	}
	o.idle(2 * time.Hour)
	if o.knows(o.job(1)) || o.n.Retained().Bytes != 0 || o.n.Charged().Registers != 0 {
		t.Errorf("it is known: %v; %+v, charged %+v", o.knows(o.job(1)), o.n.Retained(), o.n.Charged())
	}
	for key, rec := range o.disk {
		if strings.Contains(key, o.job(1).String()) && rec.Kind != grid.RecTombstone {
			t.Errorf("the record of %s is left", key)
		}
	}
	if !strings.Contains(o.n.Gone(o.job(1)), "keep age=1h") {
		t.Errorf("it has gone: %q", o.n.Gone(o.job(1)))
	}
	// the half of the quota that one owner has is free again, without anything to evict
	o.join(fastID, 1, "linux")
	o.write(2, nil, false)
	if said, fetches := o.copy(o.attempt(2, 0), made(3, size)); said != nil || !fetches {
		t.Errorf("asked to keep as much again it said %v", said)
	}
	again := &owner{rig: o.restart(), id: o.id}
	if why := again.n.Gone(o.job(1)); !strings.Contains(why, "does not keep it any more") {
		t.Errorf("after a restart it has gone: %q", why)
	}
}
