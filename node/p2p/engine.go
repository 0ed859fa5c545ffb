package p2p

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"skep/grid"
	"skep/node/p2p/identity"
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

// Network returns the name of the node's network.
func (d *Driver) Network() string { return identity.NetworkName(d.secret) }

// engineShare is the share of the capacity that an engine has left to tasks of this node, where it says so, and whether
// it takes any.
type engineShare struct {
	changed func(left, up float64) // set before the loop runs, as is shut
	shut    func(bool)

	mu    sync.Mutex
	taken float64 // by others: 1 − the share
	up    float64 // as the machine was measured last; 0 = not yet
	away  bool    // it takes no tasks
	told  bool    // away, as the node was told last
}

// setAway takes whether the engine takes no tasks, and passes it on once the loop runs.
func (s *engineShare) setAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
	s.tell()
}

func (s *engineShare) tell() {
	if s.up > 0 && s.away != s.told {
		s.told = s.away
		s.shut(s.away)
	}
}

// report takes what the engine says, and passes on what is news.
func (s *engineShare) report(share float64) {
	s.mu.Lock()
	before, up := s.taken, s.up
	now := 1 - share
	s.taken = now
	s.mu.Unlock()
	if up > 0 && now != before && (max(now, before)-min(now, before) > 0.05 || share == 0 || share == 1) {
		s.changed(share, up)
	}
}

// with takes how long the machine is up, and returns the share.
func (s *engineShare) with(up float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = up
	s.tell()
	return 1 - s.taken
}

// gangNetworks returns the labels that say what network ranks of gangs can have here, and logs why they cannot have
// another.
func (d *Driver) gangNetworks() (labels []grid.Label) {
	packets, fixed := d.runner.GangNetwork(), d.runner.GangPorts()
	if packets == nil {
		labels = append(labels, grid.Label{Key: grid.GangNetworkLabel, Value: grid.FeatureValue})
	}
	if fixed == nil {
		labels = append(labels, grid.Label{Key: grid.GangPortsLabel, Value: grid.FeatureValue})
	}
	switch {
	case packets != nil && fixed != nil:
		d.log.Info("only gangs with network: host can run here", "reason", packets.Error())
	case packets != nil:
		d.log.Info("only gangs that name their ports, or with network: host, can run here", "reason", packets.Error())
	case fixed != nil:
		d.log.Info("no gangs that name their ports can run here", "reason", fixed.Error())
	}
	return labels
}
