package order

import (
	"errors"
	"fmt"

	"skep/grid"
)

// Sharing is the usual value of LeastSpeed where it is not 0: up to five tasks of one bid share a core.
const Sharing = 0.2

// SetSharing sets LeastSpeed as a setting says it: exclusive, proportional, or proportional:S.
func (c *Config) SetSharing(s string) (err error) {
	c.LeastSpeed, err = parseSharing(s)
	return err
}

func parseSharing(s string) (float64, error) {
	if f, ok := switched(s, "exclusive", "proportional", Sharing, grid.MinLeastSpeed, 1); ok {
		return f, nil
	}
	return 0, fmt.Errorf("%.40q: want exclusive, proportional, or proportional:S with a least speed S of %g to 1", s,
		grid.MinLeastSpeed)
}

func (c *Config) checkSharing() error {
	switch s := c.LeastSpeed; {
	case s == 0:
	case !(s >= grid.MinLeastSpeed && s <= 1):
		return fmt.Errorf("sharing: least speed %v: want %g to 1", s, grid.MinLeastSpeed)
	case c.MaxBid == 0:
		return errors.New("sharing proportional without max_bid: want the highest bid, of which each is a part")
	case c.Preempt > 0:
		return errors.New("sharing proportional with preempt suspend: want one of them, since what shares the cores need " +
			"not be stopped")
	case c.Reallocate.On():
		return errors.New("sharing proportional with reallocate: want one of them, since what shares the cores need not " +
			"be stopped")
	}
	return nil
}
