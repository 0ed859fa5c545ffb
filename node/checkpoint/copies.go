package checkpoint

import (
	"math/bits"
	"slices"

	"skep/grid"
)

// copies tracks which members of the register keep the owner's newest checkpoint.
type copies struct {
	step    uint64
	have    uint8       // a bit for each place
	refused uint8       // said that they do not keep it
	asked   []grid.Time // by place; 0 = never
	until   grid.Time   // a majority is waited for until then
	settled bool        // there is one, or it is not waited for any longer
}

const (
	minRate       = 4 * grid.MiB // bytes/s: least rate of a member that is waited for
	settledFactor = 16           // a member that is not waited for is asked so many times more seldom
)

func newCopies(now grid.Time, cfg Config, u *unit, members []grid.NodeID) *copies {
	c := &copies{step: u.kept.step, asked: make([]grid.Time, len(members)),
		until: now.Add(cfg.Confirm + grid.Seconds(float64(u.kept.size())/float64(minRate)))}
	if at := slices.Index(members, cfg.Self); at >= 0 {
		c.have = 1 << at
	}
	return c
}

func (c *copies) majority() bool {
	return 2*bits.OnesCount8(c.have) > len(c.asked) || len(c.asked) == 0
}

// settle reports whether a majority need not be waited for.
func (c *copies) settle(now grid.Time) bool {
	most := len(c.asked) - bits.OnesCount8(c.refused)
	c.settled = c.majority() || now >= c.until || 2*most <= len(c.asked)
	return c.settled
}

// ask asks the members that have not answered, if they are due.
func (c *copies) ask(now grid.Time, cfg Config, u *unit, members []grid.NodeID, fx *grid.Effects) {
	for at, to := range members {
		retry := cfg.Retry
		if c.settled { // nothing waits for it
			retry *= settledFactor
		}
		if to == cfg.Self || at >= len(c.asked) || (c.have|c.refused)&(1<<at) != 0 ||
			c.asked[at] != 0 && now < c.asked[at].Add(retry) {
			continue
		}
		c.asked[at] = now
		u.tell(to, false, fx)
	}
}
