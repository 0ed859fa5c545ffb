package engines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"skep/exec/external"
	"skep/exec/process"
	"skep/exec/slurm"
	"skep/exec/units"
	"skep/grid"
)

// Slurm is what tasks run with as batch jobs, and the partition as it was found at the start.
type Slurm struct {
	slurm.Options
	Cluster *slurm.Cluster
}

// check reports settings that do not go with tasks in Slurm.
func (s *Slurm) check(isolation *grid.Isolation) error {
	var err error
	if isolation != nil && *isolation != grid.IsolationNone {
		err = fmt.Errorf("isolation %v with engine slurm: compute nodes have no boxes: want none, or no setting", *isolation)
	}
	return errors.Join(err, s.Check())
}

// lookTime is how long the start of a node waits for a system that does not answer, as after a start of the machine,
// and lookPause the time between two tries.
const (
	lookTime  = time.Minute
	lookPause = 2 * time.Second
)

// look finds out what the partition has.
func (s *Slurm) look(ctx context.Context, log *slog.Logger) (err error) {
	if s.Cluster != nil {
		return nil
	}
	return retried(ctx, log, "Slurm", func(ctx context.Context) (again bool, err error) {
		s.Cluster, err = slurm.Look(ctx, &s.Options)
		return slurm.Transient(err), err
	})
}

func (s *Slurm) capacity() (grid.Resources, error) {
	if s.Cluster == nil {
		return grid.Resources{}, errors.New("engine slurm: the partition was not looked at")
	}
	return grid.Resources{CPU: min(grid.MilliCPU(s.Cluster.CPUs())*grid.CPU, grid.MaxMillis),
		Memory: min(grid.Bytes(s.Cluster.Memory()), grid.MaxMemory)}, nil
}

// setFolder sets the folder that the compute nodes see: by default the data folder.
func (s *Slurm) setFolder(data string) error {
	if s.Dir == "" {
		s.Dir = data
	}
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return fmt.Errorf("slurm folder: %w", err)
	}
	s.Dir = dir
	return nil
}

func (s *Slurm) open(self grid.NodeID, data string, away func(bool), log *slog.Logger) (Engine, error) {
	o := s.Options
	o.Data, o.Node, o.Away, o.Log = data, self.String()[:16], away, log
	e, err := slurm.Open(o, s.Cluster)
	if err != nil {
		return nil, err
	}
	return slurmEngine{e}, nil
}

// slurmEngine runs tasks as batch jobs.
type slurmEngine struct{ *slurm.Engine }

// Where names it.
func (e slurmEngine) Where() string { return "batch jobs of Slurm" }

// Adopt takes a task over.
func (e slurmEngine) Adopt(key string, said func(external.Saying)) (Task, error) {
	t, err := e.Engine.Adopt(key, said)
	if t == nil {
		return nil, err
	}
	return t, nil
}

// Lacks names what a job wants that tasks in Slurm do not have.
func (e slurmEngine) Lacks(spec *grid.JobSpec) string {
	if spec.Isolation() > grid.IsolationNone {
		return "isolation"
	}
	return lacks(spec)
}

// taskGrace is the time between SIGTERM and SIGKILL of a task in Slurm: that of processes.
const taskGrace = 5 * time.Second

// Hand submits an attempt.
func (e slurmEngine) Hand(x *Attempt, said func(external.Saying)) (Task, error) {
	work, needs := process.Work(x.Dir), &x.Spec.Needs
	order := slurm.Order{Key: x.Key, Dir: x.Dir, Argv: x.Argv,
		Env: slices.Concat(process.Inherited(), units.ThreadEnv(needs.CPU), []string{"HOME=" + work, "TMPDIR=" + x.Temp},
			x.Env, []string{"SKEP_WORK=" + work, "PWD=" + work}),
		CPUs: cpusOf(needs), Memory: int64(needs.Memory), Timeout: x.Spec.Timeout, Grace: taskGrace,
		MaxOutput: x.MaxOutput, Keep: x.Outputs, MayStart: x.MayStart}
	t, err := e.Start(order, said)
	if t == nil {
		return nil, err
	}
	return t, nil
}

// cpusOf is the number of whole processors that a job of Slurm needs for a task.
func cpusOf(n *grid.Needs) int { return int(max((n.CPU+grid.CPU-1)/grid.CPU, 1)) }
