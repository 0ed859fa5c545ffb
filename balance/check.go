package balance

import (
	"errors"
	"fmt"
)

// Most that a node may be told of its policies.
const (
	maxPolled  = 1 << 16
	maxResolve = 100
)

// Check reports everything that is wrong with what nodes are told by name, each problem with its field, its value and
// what would be right.
func (c *Config) Check() error {
	var all []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Errorf("balance: "+format, args...))
		}
	}
	want(c.PollMax >= 0 && c.PollMax <= maxPolled, "poll_max %d: want 0 (all) to %d nodes", c.PollMax, maxPolled)
	want(c.Resolve >= 0 && c.Resolve <= maxResolve, "resolve %g: want 0 (any change) to %d", c.Resolve, maxResolve)
	want(c.Explore >= 0 && c.Explore <= 1, "explore %g: want 0 to 1", c.Explore)
	want(c.NearTie >= 0 && c.NearTie <= 1, "near_tie %g: want 0 to 1", c.NearTie)
	want(c.Classes >= 0 && c.Classes <= MaxClasses, "classes %d: want 0 (all that are kept) to %d", c.Classes, MaxClasses)
	want(c.KPB >= 0 && c.KPB <= maxPolled, "kpb %d: want 0 (a third of those that fit) to %d nodes", c.KPB, maxPolled)
	return errors.Join(all...)
}
