package bulk

// Batch is the number of tasks, of all jobs together, that end in one step: about 1 MB of records.
const Batch = 2000

// Progress is how far the bulk end of a job is. The zero value is none.
type Progress struct {
	on     bool
	queued bool
	next   uint32 // tasks below it are done
}

// Start begins a bulk end, from the first task.
func (p *Progress) Start() { p.on, p.next = true, 0 }

// Stop ends it, however far it is.
func (p *Progress) Stop() { p.on = false }

// On reports whether it is under way.
func (p *Progress) On() bool { return p.on }

// Job is a job whose tasks may end in bulk.
type Job interface{ BulkEnd() *Progress }

// Tasks are the tasks of a job.
type Tasks interface {
	Skips(i uint32) bool // it has ended, or goes on
	Admits() bool        // there is room to record one more end
	End(i uint32)
}

// Ends are the jobs whose tasks end in bulk.
type Ends[J Job] struct {
	queue []J // those whose next batch is due at once
	left  int // tasks that may still end in this step
}

// Begin begins a step.
func (e *Ends[J]) Begin() { e.left = Batch }

// Spent reports whether no further task may end in this step.
func (e *Ends[J]) Spent() bool { return e.left == 0 }

// Run ends the next tasks of a job of so many. It reports whether all are done; else the rest waits for the next step
// (later), or for room.
func (e *Ends[J]) Run(p *Progress, count uint32, of Tasks) (done, later bool) {
	for ; p.next < count; p.next++ {
		switch {
		case of.Skips(p.next):
			continue
		case e.left == 0:
			return false, true
		case !of.Admits():
			return false, false
		}
		e.left--
		of.End(p.next)
	}
	p.on = false
	return true, false
}

// Queue has a job's next batch end in a step to come, and reports whether that is to be woken for: the job is the only
// one.
func (e *Ends[J]) Queue(j J) (wake bool) {
	if p := j.BulkEnd(); p.queued {
		return false
	} else {
		p.queued = true
	}
	e.queue = append(e.queue, j)
	return len(e.queue) == 1
}

// Take takes the jobs whose next batch is due, in turns.
func (e *Ends[J]) Take() (due []J) {
	due, e.queue = e.queue, nil
	for _, j := range due {
		j.BulkEnd().queued = false
	}
	return due
}
