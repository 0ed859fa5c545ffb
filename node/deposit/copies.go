package deposit

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"skep/grid"
)

// copies tracks which members of a register have a set of files: the job's inputs, or the outputs of one task.
type copies struct {
	have     uint8       // members that have them: a bit per place
	refused  uint8       // members that refused for a lasting reason; asked again after refusalRetry
	asked    []grid.Time // by place: last request; 0 = none
	until    grid.Time   // a majority is waited for until then
	settled  bool        // there is a majority, or it is no longer waited for
	tooLarge bool        // beyond the limit: nobody is asked
	why      string      // why there is no majority
}

const (
	minRate      = 4 * grid.MiB // bytes/s: least rate of a member that is waited for; below a link of 50 Mbit/s
	refusalRetry = time.Minute  // after a member's refusal
)

// newCopies returns the state of a set of files, which this node has itself if here is set.
func (s *Store) newCopies(now grid.Time, f *Files, files []grid.File, here bool) *copies {
	size, members := diskBytes(files), f.reg.Members()
	c := &copies{asked: make([]grid.Time, len(members)),
		until: now.Add(s.cfg.Confirm + grid.Seconds(float64(size)/float64(minRate)))}
	if here {
		c.have = 1 << slices.Index(members, s.cfg.Self)
	}
	if c.tooLarge = size > s.cfg.Limit; c.tooLarge {
		c.settled = true
		c.why = fmt.Sprintf("they have %.1f MiB, and no more than %.1f are copied", mebi(size), mebi(s.cfg.Limit))
	}
	return c
}

// forget forgets what the member at a place has said.
func (c *copies) forget(place int) {
	bit := uint8(1) << place
	c.have, c.refused, c.asked[place] = c.have&^bit, c.refused&^bit, 0
}

// majority is how many members decide.
func (c *copies) majority() int { return len(c.asked)/2 + 1 }

func (c *copies) withMajority() bool { return bits.OnesCount8(c.have) >= c.majority() }

// due reports whether a member is to be asked now: it has not said that it has the files, and was asked long enough
// ago.
func (c *copies) due(now grid.Time, place int, retry time.Duration) bool {
	bit := uint8(1) << place
	if c.refused&bit != 0 {
		retry = refusalRetry
	}
	return !c.tooLarge && c.have&bit == 0 && (c.asked[place] == 0 || now >= c.asked[place].Add(retry))
}

// answered records a member's answer. One that is busy is asked again soon, so its refusal is not counted.
func (c *copies) answered(place int, from grid.NodeID, refusal grid.Refusal) {
	bit := uint8(1) << place
	if refusal.Why == grid.WhyNone {
		c.have |= bit
		c.refused &^= bit
		return
	}
	if c.refused &^= bit; refusal.Why != grid.WhyQueue {
		c.refused |= bit
	}
	c.why = "node " + from.Short() + ": " + refusal.Why.String()
	if refusal.Detail != "" {
		c.why += ": " + refusal.Detail
	}
}

// settle reports whether a majority has the files, or is no longer waited for.
func (c *copies) settle(now grid.Time) bool {
	all := uint8(1)<<len(c.asked) - 1
	switch {
	case c.settled:
	case c.withMajority():
		c.settled = true
	case bits.OnesCount8(all&^c.refused) < c.majority():
		c.settled = true
	case now >= c.until:
		c.settled = true
		if c.why == "" {
			c.why = "the others were too slow"
		}
	}
	return c.settled
}

// holders names the members that have the files.
func (c *copies) holders(members []grid.NodeID) string {
	var names []string
	for place, id := range members {
		if c.have&(1<<place) != 0 {
			names = append(names, id.Short())
		}
	}
	if len(names) == 0 {
		return "no node that keeps the job"
	}
	return "node " + strings.Join(names, " and ")
}

// annotate returns a copy of the result whose error says where its files are.
func (c *copies) annotate(members []grid.NodeID, r *grid.Result) *grid.Result {
	annotated := *r
	if annotated.Error != "" {
		annotated.Error += "; "
	}
	annotated.Error = grid.Clean(annotated.Error+"what it left is only with "+c.holders(members)+": "+c.why, grid.MaxText)
	return &annotated
}
