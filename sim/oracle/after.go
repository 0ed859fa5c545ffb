package oracle

import (
	"slices"

	"skep/grid"
)

// What jobs wait for. A task has ended for those that wait for it once its end is final on the disks of its job: that
// is noted when it is, since those disks may be lost later.

// ordering is what is known of ends that others wait for. The maps are allocated on first use and never iterated.
type ordering struct {
	ended map[int32]int32                  // tasks whose ends were final, with their exit codes; 0 once one was good
	known map[grid.TaskID]bool             // entries of what a job waits for that were final
	kept  map[grid.TaskID]grid.EntryRecord // of jobs that their origin alone keeps: how what they wait for has ended

	accepted map[ballot]uint64 // who has accepted it, by their place among those that ever kept it; none once it is final
}

// ballot is an entry as one run of an owner wrote it.
type ballot struct {
	entry grid.TaskID
	epoch uint32
	round uint32
}

// Specify replaces the specification of a submission before it is submitted: what it waits for is known only then.
func (b *Books) Specify(submission int32, s *grid.JobSpec) { b.jobs[submission].spec = s }

// noteEnded notes that the end of a task is final, if it is.
func (b *Books) noteEnded(i, n int32, e *grid.EntryRecord) {
	j := &b.jobs[n]
	if e.Epoch == 0 || e.Open != nil || e.Result == nil || e.ID.Task.Index >= uint32(j.count) {
		return
	}
	if !b.isFinal(i, n, e) {
		return
	}
	b.noteRankEnded(n, e.ID.Attempt)
	if b.ordering.ended == nil {
		b.ordering.ended = make(map[int32]int32)
	}
	if exit, ended := b.ordering.ended[j.first+int32(e.ID.Task.Index)]; ended && exit == 0 {
		return // a caller has had it run again since: what waited for the good end had it
	}
	exit := e.Result.Exit
	if e.Result.Cause != grid.Exited && exit == 0 {
		exit = 1
	}
	b.ordering.ended[j.first+int32(e.ID.Task.Index)] = exit
}

// isFinal reports whether a majority of the members of a register have accepted an entry in one epoch, at whatever
// time: one that has accepted a later owner's since has the same end. Who the members are is as node i knows it.
func (b *Books) isFinal(i, n int32, e *grid.EntryRecord) bool {
	j, at := &b.jobs[n], ballot{e.ID.Task, e.Epoch, e.Round}
	if j.register == 0 {
		return true
	}
	held, ever := b.ordering.accepted[at], b.everKept(n)
	for place, id := range ever {
		if x := b.replicaOf(b.world.Index(id), n); x != nil && x.entries[e.ID.Task.Index].Epoch == e.Epoch &&
			x.entries[e.ID.Task.Index].Round == e.Round {
			held |= 1 << place
		}
	}
	if b.seatsOf(i, n).Decide(func(id grid.NodeID) bool {
		place := slices.Index(ever, id)
		return place >= 0 && held&(1<<place) != 0
	}) {
		delete(b.ordering.accepted, at)
		return true
	}
	if b.ordering.accepted == nil {
		b.ordering.accepted = make(map[ballot]uint64)
	}
	b.ordering.accepted[at] = held
	return false
}

// checkOrder checks that a task does not start before what it waits for has ended.
func (b *Books) checkOrder(i, k int32) {
	j := &b.jobs[b.tasks[k].job]
	for at := range j.spec.After.Jobs {
		d, entry := &j.spec.After.Jobs[at], j.spec.DependencyEntry(at)
		if d.Kind == grid.AfterEach {
			entry = j.spec.EachEntry(uint32(k - j.first))
		}
		if !b.ordering.known[grid.TaskID{Job: b.world.JobID(b.tasks[k].job), Index: entry}] {
			b.fail(i, "starts %s before entry %d, which says that what it waits for has ended, was final", b.taskName(k), entry)
		}
		other := &b.jobs[nonce(d.Job)]
		for x := range other.count {
			if d.Kind == grid.AfterEach && x != k-j.first {
				continue
			}
			if exit, ended := b.ordering.ended[other.first+x]; !ended || exit != 0 && d.Kind != grid.AfterAny {
				b.fail(i, "starts %s before %s, which it waits for, has ended as it should (ended %v, exit %d)", b.taskName(k),
					b.taskName(other.first+x), ended, exit)
			}
		}
	}
}

// checkDependency checks the record of how what a job waits for has ended: once, and not before it has.
func (b *Books) checkDependency(i, n int32, e *grid.EntryRecord) {
	j := &b.jobs[n]
	at, task, known := j.spec.DependencyOf(e.ID.Task.Index)
	if !known || e.Result == nil {
		b.fail(i, "records entry %d of submission %d, which has none", e.ID.Task.Index, n)
		return
	}
	d := &j.spec.After.Jobs[at]
	if !d.Met(e.Result) {
		return
	}
	if b.isFinal(i, n, e) {
		if b.ordering.known == nil {
			b.ordering.known = make(map[grid.TaskID]bool)
		}
		b.ordering.known[e.ID.Task] = true
	}
	other := &b.jobs[nonce(d.Job)]
	for x := range other.count {
		if d.Kind == grid.AfterEach && uint32(x) != task {
			continue
		}
		if exit, ended := b.ordering.ended[other.first+x]; !ended || exit != 0 && d.Kind != grid.AfterAny {
			b.fail(i, "records that %s has ended well, for submission %d (ended %v, exit %d)", b.taskName(other.first+x), n,
				ended, exit)
		}
	}
}

// storeDependency makes the record durable in a job that its origin alone keeps.
func (b *Books) storeDependency(i, n int32, at uint32, r *grid.Record) {
	id := grid.TaskID{Job: b.world.JobID(n), Index: at}
	if r.Delete {
		delete(b.ordering.kept, id)
		return
	}
	tally := b.jobs[n].spec.IsTally(at)
	if _, twice := b.ordering.kept[id]; twice && !tally {
		b.fail(i, "records twice what submission %d waits for, entry %d", n, at)
	}
	if b.ordering.kept == nil {
		b.ordering.kept = make(map[grid.TaskID]grid.EntryRecord)
	}
	if !tally {
		b.checkDependency(i, n, &r.Entry)
	}
	b.ordering.kept[id] = r.Entry
}

// dependencyRecords appends the records of what such a job waits for.
func (b *Books) dependencyRecords(n int32, dst []grid.Record) []grid.Record {
	spec := b.jobs[n].spec
	for at := spec.Count + 1; at < spec.Entries(); at++ {
		if e, known := b.ordering.kept[grid.TaskID{Job: b.world.JobID(n), Index: at}]; known {
			dst = append(dst, grid.Record{Kind: grid.RecEntry, Entry: e})
		}
	}
	return dst
}

// canBeAsked reports whether somebody who is up can say how what a job waits for has ended, or that is recorded: else
// the job need not end.
func (b *Books) canBeAsked(j *job) bool {
	return !slices.ContainsFunc(j.spec.After.Jobs, func(d grid.Dependency) bool {
		return !b.mustEnd(&b.jobs[nonce(d.Job)])
	})
}

// waitsInVain reports whether a job waits for one of which nobody who is up can say how it has ended.
func (b *Books) waitsInVain(i int32, id grid.JobID) bool {
	n := b.job(i, id)
	return n >= 0 && !b.canBeAsked(&b.jobs[n])
}
