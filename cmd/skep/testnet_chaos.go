package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skep/exec/sandbox"
	"skep/grid"
	"skep/testnet"
)

// chaosCPUs is how many tasks a node of a chaos run executes at a time; they sleep.
const chaosCPUs = 4

func (a *app) testnetChaosCmd() *cobra.Command {
	var out format
	c := testnet.ChaosConfig{}
	nodes, members, history, deaths := 9, 0, "", false
	cmd := &cobra.Command{Use: "chaos",
		Short: "Kill, pause and cut off nodes at random while jobs run, and check that nothing is lost", Args: noArgs,
		Hidden: true,
		Long: `Start a testnet of its own, submit jobs to random nodes while every few seconds a random one is killed, restarted,
paused or cut off, then let all recover, and compare what the nodes have on record with what the tasks themselves wrote down.
Exits with 1 if anything is lost, recorded twice, or contradicts what a node has acknowledged.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if (c.Origins || deaths) && members == 0 {
				members = 3
			}
			if deaths {
				if err := successions(&c, cmd.Flags(), nodes); err != nil {
					return err
				}
			}
			if err := errors.Join(checkChaos(nodes, members, c.Origins || deaths), c.Check()); err != nil {
				return err
			}
			c.Note = func(format string, args ...any) { fmt.Fprintf(a.err, format+"\n", args...) }
			if history != "" {
				f, err := os.Create(history)
				if err != nil {
					return fmt.Errorf("--history: %w", err)
				}
				defer f.Close()
				c.History = f
			}
			r, err := a.chaos(ctx, nodes, members, c)
			if err != nil {
				return err
			}
			if !out.isTable() {
				if err := out.print(a.out, r, func(*tabwriter.Writer) {}); err != nil {
					return err
				}
			} else {
				r.Print(a.out)
			}
			if !r.Passed() {
				return &exitError{1, errors.New("something was missed; the same faults again: skep testnet chaos" +
					given(cmd.Flags()))}
			}
			return nil
		}}
	outputFlag(cmd, &out)
	fl := cmd.Flags()
	fl.IntVarP(&nodes, "nodes", "n", nodes, "how many nodes")
	fl.Uint64Var(&c.Seed, "seed", 1, "of the faults and of whom jobs are submitted to")
	fl.DurationVar(&c.Duration, "duration", 3*time.Minute, "how long faults come")
	fl.DurationVar(&c.Every, "every", 5*time.Second, "time between faults")
	fl.DurationVar(&c.Limit, "limit", time.Minute, "bound of the wait for what is left after them")
	fl.IntVar(&c.Tasks, "tasks", 2000, "tasks in all")
	fl.IntVar(&c.JobSize, "job", 40, "tasks of a job")
	fl.BoolVar(&c.Origins, "origins", false,
		"some killed nodes stay dead for good, also origins of jobs; their jobs' records are kept by three nodes or "+
			"--members")
	fl.BoolVar(&deaths, "deaths", false,
		"all nodes but one die for good one after the other, folder and all, and new ones join in between")
	fl.IntVar(&members, "members", 0,
		"how many nodes keep a job's record; 0 = as nodes have it by themselves, 3 with --origins or --deaths")
	fl.StringVar(&history, "history", "", "file to write every acknowledged call into, as lines of JSON")
	fl.BoolVar(&c.Processes, "processes", false, "run the nodes as processes on loopback, which cannot be cut off")
	return cmd
}

// What a run is like in which nodes die for good one after the other, but for what was given. Within betweenDeaths a
// member is replaced that died, after replaceAfter, also if it was the owner, with some time to spare.
const (
	betweenDeaths = time.Minute
	replaceAfter  = 20 * time.Second
	longTasks     = 300
)

// successions has all nodes but one die for good, and reports flags that have no place beside that.
func successions(c *testnet.ChaosConfig, given *pflag.FlagSet, nodes int) error {
	switch {
	case given.Changed("duration"):
		return errors.New("--deaths with --duration: it follows from -n and --every, the time between two deaths")
	case c.Origins:
		return errors.New("--deaths with --origins: want one of both")
	}
	if !given.Changed("every") {
		c.Every = betweenDeaths
	}
	if !given.Changed("tasks") {
		c.Tasks = longTasks
	}
	if !given.Changed("job") {
		c.JobSize = 20
	}
	if !given.Changed("limit") {
		c.Limit = 6 * time.Minute
	}
	c.Deaths, c.Duration = nodes-1, time.Duration(nodes)*c.Every
	if c.Duration > time.Hour {
		return fmt.Errorf("--deaths with -n %d and --every %v takes %v: want 1h at most", nodes, c.Every, c.Duration)
	}
	return nil
}

// checkChaos reports all problems of the testnet's parameters.
func checkChaos(nodes, members int, origins bool) error {
	var errs []error
	if nodes < 3 || nodes > testnet.MaxNodes {
		errs = append(errs, fmt.Errorf("-n %d: want 3 to %d", nodes, testnet.MaxNodes))
	}
	if members != 0 && members != 1 && members != 3 && members != 5 {
		errs = append(errs, fmt.Errorf("--members %d: want 1, 3 or 5", members))
	}
	if origins && members == 1 {
		errs = append(errs, errors.New("--origins or --deaths with --members 1: a job that only its origin keeps is gone "+
			"with it; want 3 or 5"))
	}
	return errors.Join(errs...)
}

// given returns the flags that were given, as a command line.
func given(flags *pflag.FlagSet) (s string) {
	flags.Visit(func(f *pflag.Flag) { s += fmt.Sprintf(" --%s=%s", f.Name, f.Value) })
	return s
}

// chaos starts a testnet, injects faults and takes it down.
func (a *app) chaos(ctx context.Context, nodes, members int, c testnet.ChaosConfig) (r *testnet.Report, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	why := ""
	if !c.Processes {
		if err := testnet.Engine(ctx); err != nil {
			c.Processes = true
			why = fmt.Sprintf(", which cannot be cut off (no containers: %v)", err)
		}
	}
	shared, err := chaosFolder(c.Processes)
	if err != nil {
		return nil, fmt.Errorf("folder that tasks share: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(shared)) }()
	o := testnet.Options{Name: "chaos", Kind: testnet.Containers, Why: why, Binary: self, Note: c.Note,
		Settings: map[string]string{"strikes": "0"}, // no task may fail because its nodes were killed too often
		Later:    c.Deaths,
		Spec: testnet.Spec{Shared: shared, Groups: []testnet.Group{{Name: "n", Count: nodes + c.Deaths,
			CPUs: chaosCPUs}}}}
	if c.Deaths > 0 {
		o.Settings["replace_after"], o.Settings["sign"] = fmt.Sprint(replaceAfter), "never"
	}
	if c.Processes {
		o.Kind = testnet.Processes
	}
	if members > 0 {
		o.Settings["members"] = fmt.Sprint(members)
	}
	home, err := a.netFolder()
	if err != nil {
		return nil, err
	}
	t, err := testnet.Up(ctx, filepath.Join(filepath.Dir(home), o.Name), o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Down(context.WithoutCancel(ctx))) }()
	return t.Chaos(ctx, c)
}

// chaosFolder makes the folder that tasks write to, whatever user each runs as. In boxes it is exposed, and each has a
// /tmp of its own; without them tasks may run as users who cannot enter a home.
func chaosFolder(processes bool) (string, error) {
	parent := "/var/tmp"
	level, _, err := sandbox.Try("")
	if err != nil {
		return "", err
	}
	if !processes || level > grid.IsolationNone {
		if parent, err = os.UserCacheDir(); err == nil {
			err = os.MkdirAll(parent, 0o700)
		}
		if err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp(parent, "skep-chaos-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, os.ModeSticky|0o777)
}
