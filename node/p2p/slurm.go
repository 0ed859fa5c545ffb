package p2p

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"skep/exec/slurm"
	"skep/grid"
	"skep/node/p2p/machine"
)

// EngineLabel says what runs the tasks of a node, where that is not the node itself; the operator can override it.
const EngineLabel = "engine"

// lookTime is how long the start of a node waits for a controller of Slurm that does not answer, as after a start of
// the machine, and lookPause the time between two tries.
const (
	lookTime  = time.Minute
	lookPause = 2 * time.Second
)

// lookAtSlurm finds out what the partition has, if tasks run in Slurm.
func (c *Config) lookAtSlurm(ctx context.Context, log *slog.Logger) (err error) {
	s := c.Boxes.Slurm
	if s == nil || s.Cluster != nil {
		return nil
	}
	if err := c.checkSlurm(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	for try := 1; ; try++ {
		if s.Cluster, err = slurm.Look(ctx, &s.Options); err == nil || !slurm.Transient(err) {
			return err
		}
		if try == 1 && log != nil {
			log.Warn("Slurm does not answer, which is tried again", "for", lookTime, "error", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(lookPause):
		}
	}
}

// checkSlurm reports settings that do not go with tasks in Slurm.
func (c *Config) checkSlurm() error {
	var errs []error
	if len(c.Resources) > 0 {
		errs = append(errs, errors.New("resource with engine slurm: tasks there have no counted resources: want none"))
	}
	if len(c.Share) > 0 {
		errs = append(errs, errors.New("share with engine slurm: Slurm decides how tasks share a machine: want none"))
	}
	if c.Node.Order.Preempt > 0 || c.Node.Order.Reallocate.On() || c.Node.Order.LeastSpeed > 0 {
		errs = append(errs, errors.New("tasks in Slurm are neither suspended nor slowed down: want no preempt, no "+
			"reallocate and no least_speed with engine slurm"))
	}
	return errors.Join(errs...)
}

// capacityFound returns what tasks may take: what the operator has set, and where that is nothing, what there is.
func (c *Config) capacityFound() (grid.Resources, error) {
	r := c.capacity()
	if s := c.Boxes.Slurm; s != nil {
		if s.Cluster == nil {
			return r, errors.New("engine slurm: the partition was not looked at")
		}
		r.CPU = cmp.Or(r.CPU, min(grid.MilliCPU(s.Cluster.CPUs())*grid.CPU, grid.MaxMillis))
		r.Memory = cmp.Or(r.Memory, min(grid.Bytes(s.Cluster.Memory()), grid.MaxMemory))
	}
	return machine.Capacity(r)
}

// slurmLabels are the labels of a node whose tasks run in Slurm: what runs them, and that they go on while the node is
// away.
func slurmLabels() []grid.Label {
	return []grid.Label{{Key: EngineLabel, Value: "slurm"}, {Key: grid.DurableLabel, Value: grid.FeatureValue}}
}

// slurmFolder is the folder that the compute nodes see: by default the data folder.
func (c *Config) slurmFolder() error {
	s := c.Boxes.Slurm
	if s == nil {
		return nil
	}
	dir, err := filepath.Abs(cmp.Or(s.Dir, c.DataDir))
	if err != nil {
		return fmt.Errorf("slurm folder: %w", err)
	}
	s.Dir = dir
	return nil
}
