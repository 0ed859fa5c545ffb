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

// copies says which members of a register have some files: the job's inputs, or what one of its tasks left.
type copies struct {
	have  uint8       // members that have them, a bit each by place
	no    uint8       // members that have said no, and not because of what passes soon; they are asked again later
	sent  []grid.Time // by place: when it was asked last; 0 = not yet
	until grid.Time   // then a majority is no longer waited for
	over  bool        // it is not waited for any more, or there is one
	large bool        // nobody is asked to copy that much
	why   string      // why there is no majority
}

const (
	copyPace  = 4 * grid.MiB // bytes in a second that a member brings at least, or is not waited for; less than a link of 50 Mbit/s
	copyAgain = time.Minute  // until a member that refused is asked again
)

// block is what a file takes at least: many small ones must not cost nothing.
const block = 4 * grid.KiB

// weigh returns about how much of a disk files take in bytes.
func weigh(files []grid.File) (sum grid.Bytes) {
	const most = grid.Bytes(1) << 60
	for i := range files {
		sum = min(sum+min(max(files[i].Size, 0), most)+block, most)
	}
	return sum
}

// newCopies begins with what this node has itself.
func (n *Node) newCopies(now grid.Time, j *job, files []grid.File, here bool) *copies {
	size, r := weigh(files), j.guard.reg
	c := &copies{sent: make([]grid.Time, len(r.Members())), until: now.Add(n.cfg.Confirm + grid.Seconds(float64(size)/float64(copyPace)))}
	if here {
		c.have = 1 << r.Place(n.cfg.Self)
	}
	if c.large = size > n.cfg.Copies; c.large {
		c.over = true
		c.why = fmt.Sprintf("they have %.1f MiB, and no more than %.1f are copied", mebi(size), mebi(n.cfg.Copies))
	}
	return c
}

// members lists who keeps a job; nil = this node alone.
func (j *job) members() []grid.NodeID {
	if j.guard == nil {
		return nil
	}
	return j.guard.reg.Members()
}

func mebi(n grid.Bytes) float64 { return float64(n) / float64(grid.MiB) }

// judge reports whether a majority has the files, or is not worth waiting for any more.
func (c *copies) judge(now grid.Time, r *register.Register) bool {
	all := uint8(1)<<len(r.Members()) - 1
	switch {
	case c.over:
	case c.enough(r):
		c.over = true
	case bits.OnesCount8(all&^c.no) < r.Majority():
		c.over = true
	case now >= c.until:
		c.over = true
		if c.why == "" {
			c.why = "the others were too slow"
		}
	}
	return c.over
}

func (c *copies) enough(r *register.Register) bool { return bits.OnesCount8(c.have) >= r.Majority() }

// holders names the members that have the files.
func (c *copies) holders(r *register.Register) string {
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

// apart says where a job's inputs are, if that is with fewer than a majority of those that keep the job.
func (j *job) apart() string {
	g := j.guard
	if g == nil || g.inputs == nil || !g.inputs.over || g.inputs.enough(g.reg) || g.reg.State().Done {
		return ""
	}
	return "its inputs are only with " + g.inputs.holders(g.reg) + ", and without them its tasks cannot run: " + g.inputs.why
}

// remark returns the result with a word on where its files are.
func (c *copies) remark(j *job, r *grid.Result) *grid.Result {
	said := *r
	if said.Error != "" {
		said.Error += "; "
	}
	said.Error = clip(said.Error + "what it left is only with " + c.holders(j.guard.reg) + ": " + c.why)
	return &said
}

// answer notes what a member has said.
func (c *copies) answer(place int, from grid.NodeID, no grid.Refusal) {
	bit := uint8(1) << place
	if no.Why == grid.WhyNone {
		c.have |= bit
		c.no &^= bit
		return
	}
	if c.no &^= bit; no.Why != grid.WhyQueue {
		c.no |= bit
	}
	c.why = "node " + from.Short() + ": " + no.Why.String()
	if no.Detail != "" {
		c.why += ": " + no.Detail
	}
}
