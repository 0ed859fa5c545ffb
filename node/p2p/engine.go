package p2p

import (
	"cmp"
	"errors"
	"fmt"

	"skep/grid"
	"skep/node/p2p/machine"
)

// checkEngine reports settings that do not go with an engine that runs tasks elsewhere.
func (c *Config) checkEngine() error {
	name := c.Boxes.Engine.Name()
	if name == "" {
		return nil
	}
	var errs []error
	if len(c.Resources) > 0 {
		errs = append(errs, fmt.Errorf("resource with engine %s: its tasks have none: want none", name))
	}
	if len(c.Share) > 0 {
		errs = append(errs, fmt.Errorf("share with engine %s: it decides how tasks share a machine: want none", name))
	}
	if c.Node.Order.Preempt > 0 || c.Node.Order.Reallocate.On() || c.Node.Order.LeastSpeed > 0 {
		errs = append(errs, fmt.Errorf("tasks are neither suspended nor slowed down with engine %s: want no preempt, "+
			"no reallocate and no least_speed", name))
	}
	return errors.Join(errs...)
}

// capacityFound returns what tasks may take: what the operator has set, and where that is nothing, what there is.
func (c *Config) capacityFound() (grid.Resources, error) {
	r := c.capacity()
	found, err := c.Boxes.Engine.Capacity()
	if err != nil {
		return r, err
	}
	r.CPU, r.Memory = cmp.Or(r.CPU, found.CPU), cmp.Or(r.Memory, found.Memory)
	return machine.Capacity(r)
}
