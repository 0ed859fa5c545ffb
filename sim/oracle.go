package sim

import (
	"time"

	"skep/discovery"
	"skep/grid"
	"skep/sim/keys"
	"skep/sim/oracle"
)

// facts is what the oracle may ask of a world.
type facts World

func (f *facts) Time() grid.Time                      { return f.now }
func (f *facts) Clock(i int32) grid.Time              { return (*World)(f).local(i) }
func (f *facts) ID(i int32) grid.NodeID               { return f.hosts[i].id }
func (f *facts) Index(id grid.NodeID) int32           { return (*World)(f).index(id) }
func (f *facts) JobID(n int32) grid.JobID             { return (*World)(f).jobID(n) }
func (f *facts) HasBlob(i int32, id grid.BlobID) bool { return (*World)(f).hasBlob(i, id) }
func (f *facts) Fail(i int32, what string)            { (*World)(f).failf(i, "%s", what) }

// openBooks makes the oracle's books for the workload.
func (w *World) openBooks() {
	work := make([]oracle.Submission, len(w.cfg.Work))
	for i, s := range w.cfg.Work {
		work[i] = oracle.Submission{Origin: s.Node, Spec: s.Spec}
	}
	w.books = oracle.New((*facts)(w), len(w.hosts), work)
	w.books.Verify(keys.Of(w.cfg.Seed, grid.NodeID{}))
	if w.cfg.Check == CheckNothing {
		w.books.Uncheck()
	}
	if w.cfg.OnlySigned {
		w.books.OnlySigned()
	}
}

// done reports whether all submissions and faults have happened and everything that must end has ended.
func (w *World) done() bool {
	if !w.settled {
		if w.nextSubmission < len(w.cfg.Work) || w.nextFault < len(w.cfg.Faults) ||
			w.leaving > 0 || w.asksLeft > 0 {
			return false
		}
		w.settled, w.deadline = true, w.now.Add(w.cfg.Bound)
		w.books.Settle()
	}
	if w.books.Done() {
		return true
	}
	if w.now > w.deadline || w.now > w.deadline.Add(undecidedAfter-w.cfg.Bound) && w.anyForgets() {
		w.failf(-1, "%v after the last fault and submission %s", w.cfg.Bound, w.books.Unfinished())
		w.fail.Late = true
		return true
	}
	return false
}

// audit checks the final state of every node, and what became of the tasks.
func (w *World) audit() {
	if w.cfg.Conserves {
		w.meetContacts(w.calm())
		w.books.CheckIdle(w.calm(), maxIdle)
	}
	for i := range w.hosts {
		w.writeAll(int32(i))
		if h := &w.hosts[i]; h.up && h.hostile == 0 {
			w.books.Audit(int32(i))
		}
	}
}

// restore gives a new run the node's durable records in random order.
func (w *World) restore(i int32) {
	records := w.readBack(i, w.records(i))
	w.rng.Shuffle(len(records), func(a, b int) { records[a], records[b] = records[b], records[a] })
	for k := range records {
		if !w.cfg.NoDigest {
			w.digest.record(&records[k])
		}
		w.hosts[i].member.Restore(&records[k])
		if w.stores != nil {
			w.stores.Restored(i, &records[k])
		}
	}
}

// readBack returns records as a starting node reads them.
func (w *World) readBack(i int32, records []grid.Record) []grid.Record {
	if w.codec == nil {
		return records
	}
	for k := range records {
		r, err := w.codec.Record(&records[k])
		if err != nil {
			w.failf(i, "%v", err)
			return nil
		}
		records[k] = *r
	}
	return records
}

// Outcome is the durable state of a task.
type Outcome struct {
	State   grid.TaskState // 0 = nothing yet
	Attempt grid.Attempt
	Worker  int // index; −1 = none
	Starts  int // started processes of all attempts, without refused ones
	Result  *grid.Result
	Ended   time.Duration // since the world began
}

// Outcome returns the durable state of a task at its origin, or of its register.
func (w *World) Outcome(submission, index int) Outcome {
	t := w.books.Task(submission, index)
	return Outcome{State: t.State, Attempt: t.Attempt, Worker: int(t.Worker), Starts: int(t.Starts),
		Result: t.Result.Result(), Ended: time.Duration(t.Ended)}
}

// Rejected reports whether a submission was refused by its node, so that its tasks never come to be.
func (w *World) Rejected(submission int) bool { return w.books.Job(submission).Rejected }

// Size returns the size of a task: 1 takes 1/rate seconds where tasks of its class are executed at that rate.
func (w *World) Size(submission, index int) float64 {
	return w.taskSize(int32(submission), w.books.TaskAt(submission, index), grid.ClassOf(w.cfg.Work[submission].Spec))
}

// truth is what the oracle is told of a world in hindsight.
type truth struct {
	*World
	ads   []grid.Ad  // what each node has
	sizes []float64  // of each task; 0 = not drawn yet
	rng   *grid.Rand // of latencies: the world's own draws stay as they are
}

// watch has the books keep what Regret is computed from.
func (w *World) watch() {
	w.books.Watch(&truth{World: w, sizes: make([]float64, w.books.Tasks()), rng: grid.NewRand(w.cfg.Seed, 2)})
	for i := range w.hosts {
		if left := w.hosts[i].coreShare; left != 1 {
			w.books.Hindsight().Shared(0, int32(i), left)
		}
	}
}

// Regret returns the core-seconds since a time in which nodes were idle that should not have been, and those in which
// attempts ran: see [oracle.Hindsight.Judge]. It needs Config.Hindsight.
func (w *World) Regret(from time.Duration) (regret, busy float64) {
	v := w.books.Hindsight().Judge(grid.Time(from))
	return v.Regret, v.Busy
}

// meetContacts has nodes count as acquainted from a time on that are up and that one of them joined by: that they are
// not connected is no excuse then.
func (w *World) meetContacts(from grid.Time) {
	for name := range w.conns {
		c := &w.conns[name]
		if i, j := c.node[0], c.node[1]; c.persistent != [2]bool{} && w.hosts[i].up && w.hosts[j].up {
			w.books.Hindsight().Met(from, i, j)
		}
	}
}

// maxIdle is how long a node may be idle then while a task waits that would have ended sooner there. An estimate may
// keep the task until it has waited half as long again as was predicted; in 10,000 worlds it did for 6.2 s at most.
const maxIdle = 10 * time.Second

// calm is when the last fault has no consequences any more.
func (c *Config) calm() grid.Time {
	last := time.Duration(0)
	for _, f := range c.Faults {
		if f.Kind == Pause || f.Kind == Stall || f.Kind == Drain {
			f.At += time.Duration(grid.Seconds(f.Factor))
		}
		last = max(last, f.At)
	}
	return grid.Time(last + oracle.Aftermath)
}

// noteTakeover notes until when the tasks of a job that has a new owner wait for what workers report. Candidates that
// campaign at once delay each other, so the grace may end after the aftermath in which it began. A later takeover is
// none of a fault, and excuses nothing.
func (w *World) noteTakeover(i int32, m *grid.Message) {
	if m.Kind == grid.KindTakeover && w.now <= w.cfg.calm() {
		c, _ := w.NodeConfig(int(i))
		w.grace = w.now.Add(c.Lease)
	}
}

// calm is when the faults of the world have no consequences any more.
func (w *World) calm() grid.Time { return max(w.cfg.calm(), w.grace) }

// RunTime implements [oracle.Truth].
func (t *truth) RunTime(task, node int32) time.Duration {
	if t.ads == nil {
		t.ads = make([]grid.Ad, len(t.hosts))
		for i := range t.ads {
			c, _ := t.NodeConfig(i)
			t.ads[i] = grid.Ad{Node: c.Self, Name: c.Name, Capacity: c.Capacity, Labels: c.Labels, Engines: c.Engines,
				Speed: c.Speed, Availability: 1, AdWork: grid.AdWork{Accept: c.Accept}}
		}
	}
	job := t.books.JobOf(task)
	spec := t.cfg.Work[job].Spec
	class := grid.ClassOf(spec)
	rate := t.cfg.Machine.Rate(class, int(node))
	if t.hosts[node].hostile != 0 || rate <= 0 ||
		discovery.Suits(spec, &t.ads[node]) != grid.WhyNone {
		return 0
	}
	if t.sizes[task] == 0 {
		t.sizes[task] = t.taskSize(job, task, class)
	}
	return t.cfg.Machine.Overhead + grid.Seconds(t.sizes[task]/rate)
}

// Transfer implements [oracle.Truth].
func (t *truth) Transfer(from, to int32, size grid.Bytes) time.Duration {
	there := t.cfg.Network.Latency(int(from), int(to), t.rng)
	if size == 0 {
		return there
	}
	return 3*there + grid.Seconds(float64(size)/float64(t.cfg.Machine.Bandwidth))
}
