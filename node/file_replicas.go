package node

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"skep/grid"
	"skep/register"
)

// The owner's part of files that a job cannot do without: a record names them, and whoever goes on with the job when
// its origin is gone needs them.

// fileReplicas says which members of a register have some files: the job's inputs, or what one of its tasks left.
type fileReplicas struct {
	have     uint8       // members that have them, a bit each by place
	refused  uint8       // members that have said no, and not because of what passes soon; they are asked again later
	askedAt  []grid.Time // by place: when it was asked last; 0 = not yet
	until    grid.Time   // then a majority is no longer waited for
	settled  bool        // it is not waited for any more, or there is one
	tooLarge bool        // nobody is asked to copy that much
	why      string      // why there is no majority
}

const (
	minCopyRate    = 4 * grid.MiB // bytes in a second that a member brings at least, or is not waited for; less than a link of 50 Mbit/s
	copyRetryAfter = time.Minute  // until a member that refused is asked again
)

// diskBlock is what a file takes at least: many small ones must not cost nothing.
const diskBlock = 4 * grid.KiB

// diskBytes returns about how much of a disk files take in bytes.
func diskBytes(files []grid.File) (sum grid.Bytes) {
	const most = grid.Bytes(1) << 60
	for i := range files {
		sum = min(sum+min(max(files[i].Size, 0), most)+diskBlock, most)
	}
	return sum
}

// newFileReplicas begins with what this node has itself.
func (n *Node) newFileReplicas(now grid.Time, j *job, files []grid.File, here bool) *fileReplicas {
	size, r := diskBytes(files), j.replica.reg
	c := &fileReplicas{askedAt: make([]grid.Time, len(r.Members())), until: now.Add(n.cfg.Confirm + grid.Seconds(float64(size)/float64(minCopyRate)))}
	if here {
		c.have = 1 << r.Place(n.cfg.Self)
	}
	if c.tooLarge = size > n.cfg.Copies; c.tooLarge {
		c.settled = true
		c.why = fmt.Sprintf("they have %.1f MiB, and no more than %.1f are copied", mebi(size), mebi(n.cfg.Copies))
	}
	return c
}

// members lists who keeps a job; nil = this node alone.
func (j *job) members() []grid.NodeID {
	if j.replica == nil {
		return nil
	}
	return j.replica.reg.Members()
}

func mebi(n grid.Bytes) float64 { return float64(n) / float64(grid.MiB) }

// settle reports whether a majority has the files, or is not worth waiting for any more.
func (c *fileReplicas) settle(now grid.Time, r *register.Register) bool {
	all := uint8(1)<<len(r.Members()) - 1
	switch {
	case c.settled:
	case c.hasMajority(r):
		c.settled = true
	case bits.OnesCount8(all&^c.refused) < r.Majority():
		c.settled = true
	case now >= c.until:
		c.settled = true
		if c.why == "" {
			c.why = "the others were too slow"
		}
	}
	return c.settled
}

func (c *fileReplicas) hasMajority(r *register.Register) bool {
	return bits.OnesCount8(c.have) >= r.Majority()
}

// holders names the members that have the files.
func (c *fileReplicas) holders(r *register.Register) string {
	var names []string
	for place, id := range r.Members() {
		if c.have&(1<<place) != 0 {
			names = append(names, id.Short())
		}
	}
	if len(names) == 0 {
		return "no node that keeps the job"
	}
	return "node " + strings.Join(names, " and ")
}

// inputsAtRisk says where a job's inputs are, if that is with fewer than a majority of those that keep the job.
func (j *job) inputsAtRisk() string {
	g := j.replica
	if g == nil || g.inputs == nil || !g.inputs.settled || g.inputs.hasMajority(g.reg) || g.reg.State().Done {
		return ""
	}
	return "its inputs are only with " + g.inputs.holders(g.reg) + ", and without them its tasks cannot run: " + g.inputs.why
}

// annotate returns the result with a word on where its files are.
func (c *fileReplicas) annotate(j *job, r *grid.Result) *grid.Result {
	said := *r
	if said.Error != "" {
		said.Error += "; "
	}
	said.Error = clip(said.Error + "what it left is only with " + c.holders(j.replica.reg) + ": " + c.why)
	return &said
}

// answer notes what a member has said.
func (c *fileReplicas) answer(place int, from grid.NodeID, no grid.Refusal) {
	bit := uint8(1) << place
	if no.Why == grid.WhyNone {
		c.have |= bit
		c.refused &^= bit
		return
	}
	if c.refused &^= bit; no.Why != grid.WhyQueue {
		c.refused |= bit
	}
	c.why = "node " + from.Short() + ": " + no.Why.String()
	if no.Detail != "" {
		c.why += ": " + no.Detail
	}
}
