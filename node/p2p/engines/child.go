package engines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"

	"skep/exec/child"
	"skep/exec/external"
	"skep/grid"
	"skep/node/api/client"
	"skep/requirement"
)

// Child is the grid that tasks run in as jobs, and what it had at the start.
type Child struct {
	Remote client.Remote // its node that is reached
	Grid   *child.Grid

	// Parent is the name of the node's own network, Report is called with the share of the capacity that is left. Both
	// are set by the driver.
	Parent string
	Report func(share float64)

	dir string // the data folder
}

// here are the labels of this machine that nodes of the child must have too.
func here() map[string]string { return map[string]string{"os": runtime.GOOS, "arch": runtime.GOARCH} }

func (c *Child) client() *client.Client {
	return client.OpenRemote(c.Remote, filepath.Join(c.dir, childFolder))
}

// childFolder is the folder of attempts in the data folder.
const childFolder = "child"

// look finds out what the child has.
func (c *Child) look(ctx context.Context, log *slog.Logger) error {
	if c.Grid != nil {
		return nil
	}
	if c.Remote.Addr == "" {
		return errors.New("engine skep: want the grid with it, as --grid and a file with what skep node token --api prints " +
			"at a node there")
	}
	api := c.client()
	defer api.Close()
	err := retried(ctx, log, "the child grid", func(ctx context.Context) (again bool, err error) {
		c.Grid, err = child.Look(ctx, api, here())
		return child.Transient(err), err
	})
	if err == nil && c.Grid.Nodes == 0 {
		err = fmt.Errorf("grid %s has no node for %s on %s that takes tasks of others", c.Grid.Network, runtime.GOOS,
			runtime.GOARCH)
	}
	if err != nil {
		return fmt.Errorf("engine skep: %w", err)
	}
	return nil
}

func (c *Child) capacity() (grid.Resources, error) {
	if c.Grid == nil {
		return grid.Resources{}, errors.New("engine skep: the grid was not looked at")
	}
	return grid.Resources{CPU: grid.MilliCPU(min(c.Grid.Cores*float64(grid.CPU), grid.MaxMillis)),
		Memory: min(grid.Bytes(c.Grid.Memory), grid.MaxMemory)}, nil
}

// accept is what the node requires of jobs: a task must fit one node of the child. It comes beside what the operator
// requires.
func (c *Child) accept(own *requirement.Expression) (*requirement.Expression, error) {
	l := &c.Grid.Largest
	text := fmt.Sprintf("job.cpu <= %g && job.memory <= %g", l.Cores, float64(l.Memory)/float64(grid.GiB))
	if own != nil {
		text = "(" + own.String() + ") && " + text
	}
	x, err := requirement.Parse(text, requirement.Accept)
	if err != nil {
		return nil, fmt.Errorf("accept with engine skep, which adds what fits one node of the child: %w", err)
	}
	return x, nil
}

func (c *Child) open(away func(bool), log *slog.Logger) (Engine, error) {
	e, err := child.Open(child.Options{API: c.client(), Dir: filepath.Join(c.dir, childFolder), Parent: c.Parent,
		Labels: here(), Report: c.Report, Away: away, Log: log}, c.Grid)
	if err != nil {
		return nil, err
	}
	return childEngine{e}, nil
}

// childEngine runs tasks as jobs of a child grid.
type childEngine struct{ *child.Engine }

// Where names it.
func (e childEngine) Where() string { return "jobs of another grid" }

// Lacks names what a job wants that these do not have.
func (e childEngine) Lacks(spec *grid.JobSpec) string {
	if level := e.Grid().Isolation; spec.Isolation() > level {
		return fmt.Sprintf("isolation %v: there it is %v", spec.Isolation(), level)
	}
	return lacks(spec)
}

// Adopt takes a task over.
func (e childEngine) Adopt(key string, said func(external.Saying)) (Task, error) {
	t, err := e.Engine.Adopt(key, said)
	if t == nil {
		return nil, err
	}
	return t, nil
}

// Hand submits an attempt.
func (e childEngine) Hand(x *Attempt, said func(external.Saying)) (Task, error) {
	t, err := e.Start(&child.Work{Key: x.Key, Dir: x.Dir, Argv: x.Argv, Env: x.Env, Outputs: x.Outputs,
		Inputs: slices.Clone(x.Inputs), Job: x.Spec, MaxOutput: x.MaxOutput, MayStart: x.MayStart}, said)
	if t == nil {
		return nil, err
	}
	return t, nil
}
