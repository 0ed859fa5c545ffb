package engines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"skep/exec/child"
	"skep/grid"
	"skep/requirement"
)

// Options say which engine runs tasks. At most one is set; without any tasks are processes of this machine.
type Options struct {
	Slurm *Slurm // batch jobs of a cluster
	Child *Child // jobs of another grid

	// Away is called when the engine takes no tasks any more, or takes some again. It is set by the driver.
	Away func(away bool)
}

// Label says what runs the tasks of a node, where that is not the node itself; the operator can override it.
const Label = "engine"

// Elsewhere reports whether tasks run elsewhere than on this machine, and go on while the node does not.
func (o *Options) Elsewhere() bool { return o.Slurm != nil || o.Child != nil }

// Name is that of the engine; "" = tasks are processes of this machine.
func (o *Options) Name() string {
	switch {
	case o.Slurm != nil:
		return "slurm"
	case o.Child != nil:
		return child.EngineName
	}
	return ""
}

// Check reports settings that do not go with the engine: the isolation that is asked for, if any, and whether there are
// settings of what boxes show and hide.
func (o *Options) Check(isolation *grid.Isolation, boxes bool) error {
	var err error
	if boxes && o.Elsewhere() {
		err = fmt.Errorf("expose or hide with engine %s: its tasks are not in boxes of this machine: want neither", o.Name())
	}
	if o.Slurm != nil {
		err = errors.Join(o.Slurm.check(isolation), err)
	}
	return err
}

// Look finds out what the engine has, before the node starts.
func (o *Options) Look(ctx context.Context, log *slog.Logger) error {
	if o.Slurm != nil {
		return o.Slurm.look(ctx, log)
	}
	if o.Child != nil {
		return o.Child.look(ctx, log)
	}
	return nil
}

// retried looks until it is not worth another try, for lookTime at most.
func retried(ctx context.Context, log *slog.Logger, what string, look func(context.Context) (again bool,
	err error)) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	for try := 1; ; try++ {
		again, err := look(ctx)
		if err == nil || !again {
			return err
		}
		if try == 1 && log != nil {
			log.Warn(what+" does not answer, which is tried again", "for", lookTime, "error", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(lookPause):
		}
	}
}

// Capacity is what tasks of the engine may take at once, as Look has found it; zero without an engine.
func (o *Options) Capacity() (grid.Resources, error) {
	if o.Slurm != nil {
		return o.Slurm.capacity()
	}
	if o.Child != nil {
		return o.Child.capacity()
	}
	return grid.Resources{}, nil
}

// Labels are those of a node with the engine: what runs its tasks, and that they go on while the node is away.
func (o *Options) Labels() []grid.Label {
	if !o.Elsewhere() {
		return nil
	}
	return []grid.Label{{Key: Label, Value: o.Name()}, {Key: grid.DurableLabel, Value: grid.FeatureValue}}
}

// SetFolder sets where the engine keeps its orders if nothing is set. data is the node's data folder.
func (o *Options) SetFolder(data string) error {
	if o.Slurm != nil {
		return o.Slurm.setFolder(data)
	}
	if o.Child != nil {
		dir, err := filepath.Abs(data)
		o.Child.dir = dir
		return err
	}
	return nil
}

// Isolation is the level at which tasks are kept from the machines that they run on, where an engine runs them: what
// the boxes of this machine could do is of no use to them.
func (o *Options) Isolation() (level grid.Isolation, known bool) {
	if o.Child != nil {
		return o.Child.Grid.Isolation, true
	}
	return grid.IsolationNone, o.Slurm != nil
}

// Accept is what a node with the engine requires of jobs, beside what the operator requires (nil = nothing).
func (o *Options) Accept(own *requirement.Expression) (*requirement.Expression, error) {
	if o.Child == nil {
		return own, nil
	}
	return o.Child.accept(own)
}

// Open opens the engine of a node; nil: tasks are processes of this machine. data is the node's data folder.
func (o *Options) Open(self grid.NodeID, data string, log *slog.Logger) (Engine, error) {
	if o.Slurm != nil {
		return o.Slurm.open(self, data, o.Away, log)
	}
	if o.Child != nil {
		return o.Child.open(o.Away, log)
	}
	return nil, nil
}
