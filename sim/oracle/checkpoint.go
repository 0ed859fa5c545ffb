package oracle

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skep/grid"
)

// Checkpoints. What an attempt begins from was closed by its task: by all ranks, in one earlier attempt, which is said
// by the content of the files. All offers of an attempt name the same, and none older than what the disk of the owner
// has; but one without, as backup attempts begin. A worker is told that one is usable only by a node whose disk has it.

// Parts is the number of parts of a simulated task: checkpoints are numbered 1 to Parts−1.
const Parts = 16

const checkpointMagic = 0x636b7074

// CheckpointFile returns the file of a checkpoint of a task, by its index over all submissions.
func CheckpointFile(task int32, a grid.Attempt, step uint64) grid.File {
	f := grid.File{Path: "state", Size: 64 * grid.KiB}
	b := binary.BigEndian.AppendUint32(f.Blob[:0], checkpointMagic)
	b = binary.BigEndian.AppendUint32(b, uint32(task))
	b = binary.BigEndian.AppendUint32(b, a.Epoch)
	b = binary.BigEndian.AppendUint32(b, a.N)
	binary.BigEndian.AppendUint64(b, step)
	return f
}

// reached is a checkpoint of an attempt, the zero value none.
type reached struct {
	by   grid.Attempt
	step uint64
}

func (x reached) less(y reached) bool { return x.by.Less(y.by) || x.by == y.by && x.step < y.step }

func (x reached) String() string { return fmt.Sprintf("%d of attempt %v", x.step, x.by) }

// checkpoints is what tasks have closed and begin from. The maps are allocated on first use and never iterated.
type checkpoints struct {
	closed  map[closedStep]bool
	offered map[taskAttempt]reached // by the first task of a gang
	behind  map[taskAttempt]bool    // those that Checkpoints.Behind counts, a gang as one
	usable  map[int32]reached       // the newest that a worker was told is usable, likewise
	counts  Checkpoints
}

type closedStep struct {
	task int32
	reached
}

// Checkpoints counts what became of the checkpoints of a world.
type Checkpoints struct {
	Closed  int // of all tasks and ranks
	Usable  int // checkpoints of tasks and gangs that workers were told are usable
	Resumed int // attempts of tasks and gangs that were offered one
	// attempts of tasks and gangs that were offered an older one than a worker was told is usable, though a node that is
	// up keeps that: the owner is a new one that was not told, or was told by one node alone
	Behind int
	Moved  int // moves of gangs to better nodes
	// moves of single tasks that had started
	Migrated int
}

// Checkpoints returns the counts so far.
func (b *Books) Checkpoints() Checkpoints { return b.relations.checkpoints.counts }

// Closed reports that a run of a task has closed a checkpoint.
func (b *Books) Closed(task int32, a grid.Attempt, step uint64) {
	c := &b.relations.checkpoints
	if c.closed == nil {
		c.closed = make(map[closedStep]bool)
	}
	c.closed[closedStep{task, reached{a, step}}] = true
	c.counts.Closed++
}

// unit returns the first task of a task's gang, or the task.
func (b *Books) unit(k int32) (first int32) {
	if j := &b.jobs[b.tasks[k].job]; j.spec.IsGang() {
		return j.first
	}
	return k
}

// ranksOf returns the number of ranks of an attempt of a task.
func (b *Books) ranksOf(k int32, a grid.Attempt) int {
	if j := &b.jobs[b.tasks[k].job]; j.spec.IsGang() {
		return int(j.spec.Gang.RanksOf(a))
	}
	return 1
}

// beginning returns the checkpoint that inputs are of, and what is wrong with it.
func (b *Books) beginning(k int32, inputs []grid.File) (x reached, wrong string) {
	first := b.unit(k)
	var seen []int32
	for _, f := range inputs {
		path, is := strings.CutPrefix(f.Path, grid.CheckpointFolder+"/")
		if !is {
			continue
		}
		blob := f.Blob[:]
		task := int32(binary.BigEndian.Uint32(blob[4:]))
		this := reached{grid.Attempt{Epoch: binary.BigEndian.Uint32(blob[8:]), N: binary.BigEndian.Uint32(blob[12:])},
			binary.BigEndian.Uint64(blob[16:])}
		parts := strings.Split(path, "/")
		switch {
		case binary.BigEndian.Uint32(blob) != checkpointMagic || len(parts) != 3:
			return this, fmt.Sprintf("file %s, which no task has closed", f.Path)
		case len(seen) > 0 && this != x:
			return this, fmt.Sprintf("files of checkpoints %v and %v", x, this)
		case parts[0] != strconv.FormatUint(this.step, 10) || parts[1] != strconv.Itoa(int(task-first)):
			return this, fmt.Sprintf("file %s of rank %d of checkpoint %v", f.Path, task-first, this)
		case !b.relations.checkpoints.closed[closedStep{task, this}]:
			return this, fmt.Sprintf("checkpoint %v, which %s has not closed", this, b.taskName(task))
		case slices.Contains(seen, task):
			return this, fmt.Sprintf("two files of rank %d", task-first)
		}
		x, seen = this, append(seen, task)
	}
	if ranks := b.ranksOf(k, x.by); len(seen) > 0 && len(seen) != ranks {
		return x, fmt.Sprintf("checkpoint %v of %d ranks, of %d", x, len(seen), ranks)
	}
	return x, ""
}

// Begins returns the step of the checkpoint that an attempt begins from, which was checked; 0 = none.
func (b *Books) Begins(task int32, s *grid.Start) uint64 {
	x, _ := b.beginning(task, s.Inputs)
	return x.step
}

// checkBegins checks what an attempt begins from.
func (b *Books) checkBegins(i, k int32, s *grid.Start) {
	x, wrong := b.beginning(k, s.Inputs)
	if wrong == "" && x.step > 0 && !x.by.Less(s.Attempt.Attempt) {
		wrong = fmt.Sprintf("checkpoint %v, which is no earlier one", x)
	}
	if wrong != "" {
		b.fail(i, "starts attempt %v of %s from %s", s.Attempt.Attempt, b.taskName(k), wrong)
	}
}

// noteOffer checks what an offer that leaves a node begins from: what is not on its disk before a crash was not
// offered.
func (b *Books) noteOffer(i, k int32, o *grid.Offer) {
	c := &b.relations.checkpoints
	if len(c.closed) == 0 {
		return
	}
	x, _ := b.beginning(k, o.Inputs)
	id := taskAttempt{b.unit(k), o.ID.Attempt}
	if was, again := c.offered[id]; again {
		if was != x {
			b.fail(i, "offers attempt %v of %s with checkpoint %v, and before with %v", id.attempt, b.taskName(k), x, was)
		}
		return
	}
	if c.offered == nil {
		c.offered = make(map[taskAttempt]reached)
	}
	c.offered[id] = x
	if x.step > 0 {
		c.counts.Resumed++
	}
}

// noteBeginnings checks what the offers of a step begin from.
func (b *Books) noteBeginnings(i int32, fx *grid.Effects) {
	c := &b.relations.checkpoints
	if len(c.closed) == 0 {
		return
	}
	for n := range fx.Sends {
		m := &fx.Sends[n].Msg
		if m.Kind != grid.KindOffer {
			continue
		}
		k := b.task(i, m.Offer.ID.Task)
		if k < 0 {
			continue
		}
		unit := b.unit(k)
		x, wrong := b.beginning(k, m.Offer.Inputs)
		if wrong != "" {
			b.fail(i, "offers attempt %v of %s with %s", m.Offer.ID.Attempt, b.taskName(k), wrong)
		}
		id := taskAttempt{unit, m.Offer.ID.Attempt}
		if _, again := c.offered[id]; again {
			continue
		}
		if x.step == 0 && b.jobs[b.tasks[k].job].spec.Idempotent { // it may be a backup attempt, which begins at the start
			continue
		}
		if u := c.usable[unit]; x.less(u) && u.by.Less(id.attempt) && b.keeps(unit, u) && !c.behind[id] {
			if c.behind == nil {
				c.behind = make(map[taskAttempt]bool)
			}
			c.behind[id] = true
			c.counts.Behind++
		}
		if has := b.machines[i].disk.checkpoint(unit); x.less(has) && has.by.Less(id.attempt) {
			b.fail(i, "offers attempt %v of %s with checkpoint %v, and its disk has %v", id.attempt, b.taskName(k), x, has)
		}
	}
}

// keeps reports whether a node that is up has a checkpoint of a task or gang, or a newer one, on its disk.
func (b *Books) keeps(unit int32, x reached) bool {
	return slices.ContainsFunc(b.machines, func(m machine) bool {
		return m.member != nil && !m.disk.checkpoint(unit).less(x)
	})
}

// checkUsable checks what a worker is told.
func (b *Books) checkUsable(i int32, m *grid.Message) {
	x := m.Checkpoint
	if x.Usable == 0 {
		return
	}
	k := b.task(i, m.Attempts[0].Task)
	if k < 0 {
		return
	}
	spec := b.jobs[b.tasks[k].job].spec
	if spec.Retries == 0 && spec.Rules.OnFailure.Retry == 0 {
		return
	}
	unit := b.unit(k)
	u := reached{m.Attempts[0].Attempt, x.Usable}
	if has := b.machines[i].disk.hadCheckpoint(unit); has.less(u) { // it may be over meanwhile
		b.fail(i, "says that checkpoint %v of %s is usable, and its disk has %v", u, b.taskName(k), has)
	}
	c := &b.relations.checkpoints
	if c.usable == nil {
		c.usable = make(map[int32]reached)
	}
	if c.usable[unit].less(u) {
		c.usable[unit] = u
		c.counts.Usable++
	}
}
