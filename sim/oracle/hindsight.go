package oracle

import (
	"time"

	"skep/grid"
)

// Truth is what no node of the world knows: its true sizes, speeds and transfers. Nodes and tasks are named by index.
type Truth interface {
	// RunTime is how long a task runs on a node at full speed; 0 = the node does not fit, or cannot run it.
	RunTime(task, node int32) time.Duration

	// Transfer is how long a task takes from one node to another with so many bytes of files.
	Transfer(from, to int32, size grid.Bytes) time.Duration
}

// Hindsight is what became of the tasks and nodes of a world over time. It tells afterwards how much a placement is to
// be regretted: see [Hindsight.Judge].
type Hindsight struct {
	books *Books
	truth Truth
	past  []moment
	files map[nodeFile]grid.Time // since when a node has a file
	met   acquaintance
}

// moment is a change of what a node could run, or of what a task awaits.
type moment struct {
	at         grid.Time
	kind       momentKind
	node, task int32
	value      float64
}

type momentKind uint8

const (
	nodeOpened   momentKind = iota // it takes work
	nodeClosed                     // it is down, or draining
	nodePaused                     // it handles nothing for so many seconds
	nodeCut                        // from others
	cutsHealed                     // of all nodes
	nodeSlowed                     // its tasks take so many times longer
	nodeShared                     // its other users leave so much of its cores
	nodeReserved                   // it keeps so many cores for gangs
	nodesMet                       // it and the one in place of the task are connected for the first time
	taskArrived                    // at its origin
	taskSetOut                     // for the node where it begins
	taskBegan
	taskEnded // one of its attempts
	// as a task's owner has it on record of a node, after it has given work to it or heard of its end
	classKept  // it gets none of the task's class for so many seconds, 0 = it may
	nodeKept   // it gets none of any class for so many seconds
	nodeSingle // 1 = it gets one attempt at a time
	backoffOver
)

type nodeFile struct {
	node int32
	blob grid.BlobID
}

// Watch has the books keep what Hindsight needs, from now on.
func (b *Books) Watch(t Truth) {
	b.hindsight = &Hindsight{books: b, truth: t, files: map[nodeFile]grid.Time{}, met: newAcquaintance(len(b.machines))}
}

// Hindsight is what became of the world so far; nil if the books do not watch it.
func (b *Books) Hindsight() *Hindsight { return b.hindsight }

// note appends a moment; nothing if nobody watches.
func (h *Hindsight) note(at grid.Time, k momentKind, node, task int32, value float64) {
	if h != nil {
		h.past = append(h.past, moment{at, k, node, task, value})
	}
}

// Submitted reports that a submission has come.
func (h *Hindsight) Submitted(at grid.Time, submission int32) {
	if h == nil {
		return
	}
	j := &h.books.jobs[submission]
	for k := range j.count {
		h.note(at, taskArrived, j.origin, j.first+k, 0)
	}
	for i := range j.spec.Inputs {
		h.Got(at, j.origin, j.spec.Inputs[i].Blob)
	}
}

// Got reports that a node has a file.
func (h *Hindsight) Got(at grid.Time, node int32, blob grid.BlobID) {
	if h == nil {
		return
	}
	if _, had := h.files[nodeFile{node, blob}]; !had {
		h.files[nodeFile{node, blob}] = at
	}
}

// Closed reports that a node takes no work.
func (h *Hindsight) Closed(at grid.Time, node int32) { h.note(at, nodeClosed, node, 0, 0) }

// Opened reports that a node takes work.
func (h *Hindsight) Opened(at grid.Time, node int32) { h.note(at, nodeOpened, node, 0, 0) }

// Paused reports that a node handles nothing for a time.
func (h *Hindsight) Paused(at grid.Time, node int32, d time.Duration) {
	h.note(at, nodePaused, node, 0, d.Seconds())
}

// CutOff reports that a node is cut off from others.
func (h *Hindsight) CutOff(at grid.Time, node int32) { h.note(at, nodeCut, node, 0, 0) }

// Healed reports that no node is cut off any more.
func (h *Hindsight) Healed(at grid.Time) { h.note(at, cutsHealed, 0, 0, 0) }

// Slowed reports that tasks take so many times longer on a node.
func (h *Hindsight) Slowed(at grid.Time, node int32, factor float64) {
	h.note(at, nodeSlowed, node, 0, factor)
}

// Shared reports the share of its cores that a node's other users leave.
func (h *Hindsight) Shared(at grid.Time, node int32, left float64) {
	h.note(at, nodeShared, node, 0, left)
}

// missing is the bytes of a job's inputs that a node did not have at a time.
func (h *Hindsight) missing(now grid.Time, node int32, spec *grid.JobSpec) (size grid.Bytes) {
	for k := range spec.Inputs {
		if at, has := h.files[nodeFile{node, spec.Inputs[k].Blob}]; !has || at > now {
			size += spec.Inputs[k].Size
		}
	}
	return size
}
