package coordinator

import (
	"encoding/binary"
	"time"

	"skep/grid"
	"skep/node/history"
	"skep/sparse"
)

// packedJob is a finished job in packed form. Finished jobs are kept for long and seldom read; packed, one takes a
// tenth of the memory of a job that can still change.
type packedJob struct {
	nonce   uint64        // first 8 bytes of the job's nonce
	open    *job          // set while the job is unpacked or not packable; the fields below are then empty
	spec    *grid.JobSpec // kept unpacked
	packed  string
	results *[]*grid.Result // of its tasks, where a result has more than numbers; nil = no such task
}

// maxPackedTasks bounds the tasks of a packed job: any access unpacks the whole job, and a message about one task must
// not cost time in proportion to a large job.
const maxPackedTasks = 64

// packable reports whether a job is small and can no longer change, except by an event that unpacks it first. The
// failures of its tasks, what it waited for, and the deadline that it missed are in its register, which a packed one
// does not have.
func (c *Coordinator) packable(j *job) bool {
	return j.count() <= maxPackedTasks && j.endsAreFinal() && len(j.spec.After.Jobs) == 0 && j.replica.Sole() &&
		!j.spec.Rules.Deadline.Some() && j.replica.State().Done && j.barrier == nil &&
		j.counts[grid.Ended] == j.count() && c.isOrigin(j.id)
}

// packFinished packs the jobs that ended or were unpacked in this step.
func (c *Coordinator) packFinished() {
	for k, j := range c.packing {
		c.packing[k] = nil
		if at := c.archive.Find(j.id); at >= 0 && c.archive.At(at).open != nil && c.packable(j) { // a job may be listed twice
			*c.archive.At(at) = c.pack(j)
			c.archive.Packed++
			c.jobs.Drop(j.id)
		}
	}
	c.packing = c.packing[:0]
}

// archiveJob puts a finished job into the archive; it is packed at the end of this step.
func (c *Coordinator) archiveJob(j *job) {
	c.forgetGang(j)
	if !c.isOrigin(j.id) {
		ended := uint32(0)
		for range j.known() {
			ended++
		}
		j.replica.endedTasks = max(ended, 1)
		c.quota.End(j.id, int(j.replica.endedTasks))
	}
	c.archive.Add(c.cfg.Self, j.id, packedJob{nonce: noncePrefix(j.id), open: j})
	c.packing = append(c.packing, j)
	c.deposits.Ended(&j.replica.files)
}

// job returns a job, nil if it is unknown. A packed job is unpacked for this step.
func (c *Coordinator) job(id grid.JobID) *job {
	if j := c.jobs.Get(id); j != nil || !c.isOrigin(id) {
		return j
	}
	at := c.archive.Find(id)
	if at < 0 {
		return nil
	}
	j := c.unpack(c.archive.At(at), true)
	*c.archive.At(at) = packedJob{nonce: noncePrefix(id), open: j}
	c.archive.Packed--
	c.jobs.Put(j)
	c.packing = append(c.packing, j)
	return j
}

// peekJob returns a job for reading only and leaves it packed; nil if it is unknown.
func (c *Coordinator) peekJob(id grid.JobID) *job {
	if j := c.jobs.Get(id); j != nil || !c.isOrigin(id) {
		return j
	}
	if at := c.archive.Find(id); at >= 0 {
		return c.unpack(c.archive.At(at), true)
	}
	return nil
}

func noncePrefix(id grid.JobID) uint64 { return binary.BigEndian.Uint64(id.Nonce[:]) }

// Flags of a packed job or task: which fields are present.
const (
	packedCancelled = 1 << iota
	packedHeld
	packedWorker // the worker is another node; its identity follows
	packedHere   // the worker is this node
	packedResult
	packedMore // the result is in results, unpacked
)

// pack encodes a job. Times are varints relative to the submission, so most take a few bytes.
func (c *Coordinator) pack(j *job) packedJob {
	p := packedJob{nonce: noncePrefix(j.id), spec: j.spec}
	b := append(c.scratch.packed[:0], j.id.Nonce[:]...)
	flags := byte(0)
	if j.cancelled {
		flags |= packedCancelled
	}
	b = append(b, flags)
	for _, x := range [...]int64{j.submitted, c.wall.At(j.arrived).UnixNano() - j.submitted, j.done - j.submitted,
		int64(j.quietAt),
		int64(j.nextFresh), int64(j.backupFrom), int64(j.failed), int64(j.exit)} {
		b = binary.AppendVarint(b, x)
	}
	for i := range j.spec.Count {
		b = c.packTask(b, &p, j, i)
	}
	c.scratch.packed, p.packed = b, string(b)
	return p
}

func (c *Coordinator) packTask(b []byte, p *packedJob, j *job, i uint32) []byte {
	t := j.task(i)
	flags := byte(0)
	if t.heldByWorker {
		flags |= packedHeld
	}
	switch {
	case c.isHere(t.worker):
		flags |= packedHere
	case !t.worker.IsZero():
		flags |= packedWorker
	}
	if r := &t.result; r.Whole() != nil {
		flags |= packedMore
		if p.results == nil {
			all := make([]*grid.Result, j.count())
			p.results = &all
		}
		(*p.results)[i] = r.Whole()
	} else if !r.None() {
		flags |= packedResult
	}
	b = append(b, flags)
	if flags&packedWorker != 0 {
		b = append(b, t.worker[:]...)
	}
	if r := &t.result; flags&packedResult != 0 {
		for _, x := range [...]int64{int64(r.Cause), int64(r.Exit), int64(r.Waited), int64(r.Wall), int64(r.CPU),
			int64(r.MaxRSS)} {
			b = binary.AppendVarint(b, x)
		}
	}
	for _, x := range [...]int64{int64(t.attempt.Epoch), int64(t.attempt.N), int64(t.backupMade.Epoch),
		int64(t.backupMade.N), int64(t.lost), t.placed - j.submitted,
		t.began - j.submitted, t.done - j.done} {
		b = binary.AppendVarint(b, x)
	}
	history := t.history.Rebase(history.Cursor{}, c.scratch.told[:0], history.Cursor{At: j.arrived, Node: t.worker})
	c.scratch.told = history
	return append(binary.AppendUvarint(b, uint64(len(history))), history...)
}

// closedReplica returns the replica that all unpacked jobs share: each is closed, and this node alone has it.
func (c *Coordinator) closedReplica() *replica {
	if c.packedReplica == nil {
		r := c.replicas.Closed()
		c.packedReplica = &replica{Register: r, membersVerified: true, files: c.deposits.NewFiles(new(grid.JobSpec), r)}
	}
	return c.packedReplica
}

// unpack decodes a job: whole, or without its tasks for a summary.
func (c *Coordinator) unpack(p *packedJob, whole bool) *job {
	if p.open != nil {
		return p.open
	}
	b := []byte(p.packed)
	j := &job{id: grid.JobID{Origin: c.cfg.Self}, spec: p.spec, class: grid.ClassOf(p.spec), replica: c.closedReplica()}
	b = b[copy(j.id.Nonce[:], b):]
	j.cancelled, b = b[0]&packedCancelled != 0, b[1:]
	number := func() int64 {
		x, size := binary.Varint(b)
		b = b[size:]
		return x
	}
	j.submitted = number()
	j.arrived = grid.Time(j.submitted + number() - c.wall.At(0).UnixNano())
	j.done, j.quietAt, j.nextFresh, j.backupFrom = j.submitted+number(), grid.Time(number()), uint32(number()),
		uint32(number())
	j.failed, j.exit = int32(number()), int32(number())
	j.counts[grid.Ended] = int(p.spec.Count)
	if !whole {
		return j
	}
	j.tasks = sparse.Make[task](p.spec.Count)
	for i := range p.spec.Count {
		t := j.tasks.At(i)
		flags := b[0]
		b = b[1:]
		t.state, t.heldByWorker = grid.Ended, flags&packedHeld != 0
		switch {
		case flags&packedHere != 0:
			t.worker = c.cfg.Self
		case flags&packedWorker != 0:
			b = b[copy(t.worker[:], b):]
		}
		switch {
		case flags&packedMore != 0:
			t.result = (*p.results)[i].Compact()
		case flags&packedResult != 0:
			t.result.Cause, t.result.Exit = grid.Cause(number()), int32(number())
			t.result.Waited, t.result.Wall, t.result.CPU = time.Duration(number()), time.Duration(number()),
				time.Duration(number())
			t.result.MaxRSS = grid.Bytes(number())
		}
		t.attempt = grid.Attempt{Epoch: uint32(number()), N: uint32(number())}
		t.backupMade = grid.Attempt{Epoch: uint32(number()), N: uint32(number())}
		t.lost, t.placed = int32(number()), j.submitted+number()
		t.began, t.done = j.submitted+number(), j.done+number()
		size, k := binary.Uvarint(b)
		b = b[k:]
		if size > 0 {
			t.history = history.History(b[:size]).Rebase(history.Cursor{At: j.arrived, Node: t.worker}, nil, history.Cursor{})
		}
		b = b[size:]
	}
	return j
}
