package node

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"skep/grid"
	"skep/node/deposit"
)

// Replication of files, the owner's side. A job's record names files by hash; whoever takes the job over needs their
// content.

// fileReplicas tracks which members of a register have a set of files: the job's inputs, or the outputs of one task.
type fileReplicas struct {
	have     uint8       // members that have them: a bit per place
	refused  uint8       // members that refused for a lasting reason; asked again after copyRetryAfter
	askedAt  []grid.Time // by place: last request; 0 = none
	until    grid.Time   // a majority is waited for until then
	settled  bool        // there is a majority, or it is no longer waited for
	tooLarge bool        // beyond Config.Copies: nobody is asked
	why      string      // why there is no majority
}

const (
	minCopyRate    = 4 * grid.MiB // bytes/s: least rate of a member that is waited for; below a link of 50 Mbit/s
	copyRetryAfter = time.Minute  // after a member's refusal
)

// newFileReplicas returns the state of a set of files, which this node has itself if here is set.
func (n *Node) newFileReplicas(now grid.Time, j *job, files []grid.File, here bool) *fileReplicas {
	size, r := deposit.DiskBytes(files), j.replica
	f := &fileReplicas{askedAt: make([]grid.Time, len(r.Members())), until: now.Add(n.cfg.Confirm + grid.Seconds(float64(size)/float64(minCopyRate)))}
	if here {
		f.have = 1 << r.Place(n.cfg.Self)
	}
	if f.tooLarge = size > n.cfg.Copies; f.tooLarge {
		f.settled = true
		f.why = fmt.Sprintf("they have %.1f MiB, and no more than %.1f are copied", mebi(size), mebi(n.cfg.Copies))
	}
	return f
}

// members returns the members of the job's register; nil = this node alone has it.
func (j *job) members() []grid.NodeID {
	if j.replica == nil {
		return nil
	}
	return j.replica.Members()
}

func mebi(n grid.Bytes) float64 { return float64(n) / float64(grid.MiB) }

// settle reports whether a majority has the files, or is no longer waited for.
func (f *fileReplicas) settle(now grid.Time, r *replica) bool {
	all := uint8(1)<<len(r.Members()) - 1
	switch {
	case f.settled:
	case f.hasMajority(r):
		f.settled = true
	case bits.OnesCount8(all&^f.refused) < r.Majority():
		f.settled = true
	case now >= f.until:
		f.settled = true
		if f.why == "" {
			f.why = "the others were too slow"
		}
	}
	return f.settled
}

func (f *fileReplicas) hasMajority(r *replica) bool {
	return bits.OnesCount8(f.have) >= r.Majority()
}

// holders names the members that have the files.
func (f *fileReplicas) holders(r *replica) string {
	var names []string
	for place, id := range r.Members() {
		if f.have&(1<<place) != 0 {
			names = append(names, id.Short())
		}
	}
	if len(names) == 0 {
		return "no node that keeps the job"
	}
	return "node " + strings.Join(names, " and ")
}

// inputsAtRisk describes who has a job's inputs, if fewer than a majority of its members; else "".
func (j *job) inputsAtRisk() string {
	rep := j.replica
	if rep == nil || rep.inputs == nil || !rep.inputs.settled || rep.inputs.hasMajority(rep) || rep.State().Done {
		return ""
	}
	return "its inputs are only with " + rep.inputs.holders(rep) + ", and without them its tasks cannot run: " + rep.inputs.why
}

// annotate returns a copy of the result whose error says where its files are.
func (f *fileReplicas) annotate(j *job, r *grid.Result) *grid.Result {
	annotated := *r
	if annotated.Error != "" {
		annotated.Error += "; "
	}
	annotated.Error = clip(annotated.Error + "what it left is only with " + f.holders(j.replica) + ": " + f.why)
	return &annotated
}

// answer records a member's answer.
func (f *fileReplicas) answer(place int, from grid.NodeID, refusal grid.Refusal) {
	bit := uint8(1) << place
	if refusal.Why == grid.WhyNone {
		f.have |= bit
		f.refused &^= bit
		return
	}
	if f.refused &^= bit; refusal.Why != grid.WhyQueue {
		f.refused |= bit
	}
	f.why = "node " + from.Short() + ": " + refusal.Why.String()
	if refusal.Detail != "" {
		f.why += ": " + refusal.Detail
	}
}
