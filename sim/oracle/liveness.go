package oracle

import (
	"fmt"
	"strings"
	"time"

	"skep/grid"
	"skep/node"
)

// Aftermath is how long the last fault has consequences: nodes that were cut off dial each other again after at most
// 30 s, those that gave no task are asked again after at most 30 s, a takeover begins before.
const Aftermath = 30 * time.Second

// Settle reports that all submissions and faults have happened, and counts what must end from now on. A node that is
// down now stays down: its jobs need not end.
func (b *Books) Settle() {
	b.settled, b.calm = true, b.world.Time().Add(Aftermath)
	b.countLeft()
}

// countLeft counts what must end and has not.
func (b *Books) countLeft() {
	b.tasksLeft, b.recordsLeft = 0, 0
	for i := range b.machines {
		for at := b.machines[i].disk.workChain; at != 0; at = b.workRecords[at-1].nodeChain[1] {
			if b.up(int32(i)) && b.mustEnd(&b.jobs[b.tasks[b.workRecords[at-1].task].job]) {
				b.recordsLeft++
			}
		}
	}
	for i := range b.jobs {
		if j := &b.jobs[i]; b.mustEnd(j) {
			b.tasksLeft += b.unended(j)
		}
	}
}

// Done reports whether everything that must end has ended; known once Settle was called.
func (b *Books) Done() bool {
	return b.settled && b.tasksLeft == 0 && b.recordsLeft == 0 && b.running == 0 && !b.awaitsAnswer()
}

// unended counts the tasks of a job whose end is not recorded.
func (b *Books) unended(j *job) (n int) {
	for k := range j.count {
		if b.tasks[j.first+k].State != grid.Ended {
			n++
		}
	}
	return n
}

// mustEnd reports whether a job has to end: its origin, or a majority of its members, is up. A member with a tombstone
// of an earlier opening takes no part in it.
func (b *Books) mustEnd(j *job) bool {
	m, up := &b.machines[j.origin], b.up(j.origin)
	if !b.canBeAsked(j) {
		return false
	}
	if j.register != 0 {
		return !j.rejected && b.majorityTakesPart(j) && (j.confirmed || up)
	}
	return !j.rejected && !m.lost && (up || !m.begun)
}

// CheckReplaced checks, of a node that is down for good, that no register of a job which goes on counts on it any more.
func (b *Books) CheckReplaced(i int32) {
	for n := range b.jobs {
		j := &b.jobs[n]
		if j.register != 0 && j.confirmed && b.unended(j) > 0 && b.newestSeats(int32(n)).Keeps(b.world.ID(i)) {
			b.fail(i, "is a member of submission %d still, of which %d tasks have not ended", n, b.unended(j))
		}
	}
}

// Replaced counts the members that were replaced, of all registers.
func (b *Books) Replaced() (changes int) {
	for n := range b.jobs {
		newest := uint32(0)
		for _, id := range b.everKept(int32(n)) {
			if x := b.replicaOf(b.world.Index(id), int32(n)); x != nil {
				newest = max(newest, x.rec.Set.Changes())
			}
		}
		changes += int(newest)
	}
	return changes
}

// Unfinished describes what has not ended, for a failure.
func (b *Books) Unfinished() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d tasks have not ended, %d run, %d work records are kept", b.tasksLeft, b.running, b.recordsLeft)
	if b.awaitsAnswer() {
		s.WriteString(", who had a task run again was not answered")
	}
	shown := 0
	for k := range b.tasks {
		t := &b.tasks[k]
		if t.State == grid.Ended || !b.mustEnd(&b.jobs[t.job]) || shown == 5 {
			continue
		}
		shown++
		fmt.Fprintf(&s, "\n  %s: on disk %v, attempt %v, worker n%d; last accepted %v by n%d; started %d times",
			b.taskName(int32(k)), t.State, t.Attempt, t.Worker, t.accepted, t.acceptedBy, t.Starts)
		s.WriteString(b.waitReason(t, uint32(int32(k)-b.jobs[t.job].first)))
		for r := t.runs; r != 0; r = b.runs[r-1].next {
			fmt.Fprintf(&s, "; %v runs on n%d", b.runs[r-1].attempt, b.runs[r-1].node)
		}
	}
	for i := range b.machines {
		if n := b.machines[i].disk.workCount; b.up(int32(i)) && n > 0 && shown < 10 {
			shown++
			fmt.Fprintf(&s, "\n  n%d keeps %d work records", i, n)
		}
	}
	return s.String()
}

// waitReason returns why a task waits, if its origin knows.
func (b *Books) waitReason(t *task, index uint32) string {
	j := &b.jobs[t.job]
	m, ok := b.machines[j.origin].member.(interface {
		Task(grid.TaskID) (node.TaskView, bool)
	})
	if !ok {
		return ""
	}
	v, _ := m.Task(grid.TaskID{Job: b.world.JobID(t.job), Index: index})
	s := "; there " + v.State.String()
	if v.Waits.Why != grid.WhyNone {
		s += ", waits: " + strings.TrimSpace(v.Waits.Why.String()+" "+v.Waits.Detail)
	}
	return s
}
