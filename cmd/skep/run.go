package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"skep/cmd/skep/arrays"
	"skep/cmd/skep/stdin"
	"skep/cmd/skep/terminal"
	"skep/document"
	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

func (a *app) runCmd() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run [flags] -- CMD ARGS", Short: "Run a command on the best node, stream its output, exit with its code",
		Long: `Run a command on the best node, stream its output, and exit with its exit code.

A CMD with a slash that names a file here travels to the node; any other is looked for there.
With --count above 1 the output of each task is printed when it has ended, in the order of their
indices (SKEP_INDEX), and the exit code is the highest. Interrupt once to cancel the job, twice to
leave at once. Collected outputs are written below the current folder, with --count in folders
named by index. A pipe or a file as standard input is streamed to the one task, which then runs at
most once, but not in a loop that reads from it: see --stdin, -i. On a terminal a bar shows what is
done; a task feeds it by lines "progress DONE TOTAL [TEXT]" in the FIFO that $SKEP_PROGRESS names.
By a line "checkpoint K" there it hands over the files in state/K; when it is run again it finds the
newest that are kept in $SKEP_CHECKPOINT, in a folder for each rank (without --ranks: 0).
With -t the one task has a terminal of the size of this one: keys go to it as they are typed, also
^C, once it runs.

Exit codes of Skep itself: 121 nobody can run it, 122 missed its deadline, 123 its job's
budget is used up, 124 time limit, 125 Skep
failed, or did not bring back all of what a task left, 126 and 127 cannot be executed, 128+n killed
by signal n. When whoever reads the output goes away, as head does, the job is cancelled.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return errors.New("run: the command is empty: want skep run -- CMD ARGS")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.array.Counted = cmd.Flags().Changed("count")
			f.stdin.Note(cmd.Flags())
			return a.run(cmd.Context(), &f, args)
		},
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false)
	fl.StringVar(&f.name, "name", "", "name of the job")
	fl.StringVar(&f.class, "class", "", "class: tasks that run alike (default engine and program)")
	fl.StringVar(&f.needs.cpu, "cpu", "1", "cores")
	fl.StringVar(&f.needs.memory, "memory", "0", "memory that is reserved and enforced, as in 256MiB")
	f.needs.resources.Add(fl)
	fl.StringArrayVar(&f.needs.labels, "label", nil,
		"KEY=VALUE that the node must have; again for other keys, or other values of one")
	fl.Int64Var(&f.count, "count", 1, "number of tasks")
	f.gang.Add(fl)
	fl.StringArrayVar(&f.inputs, "input", nil, "PATH[=NAME] of a file or folder to take along")
	fl.StringArrayVar(&f.outputs, "output", nil, "pattern of files in the work folder to bring back")
	f.environ.AddFlags(fl)
	fl.StringVar(&f.timeout, "timeout", "0", "bound of the time a task runs, as in 10m")
	fl.Int64Var(&f.retries, "retries", v1.DefaultRetries, "further attempts after a lost one; 0 runs at most once")
	fl.StringVar(&f.policy, "policy", "", "placement policy (default the node's)")
	fl.BoolVar(&f.wait, "wait", false, "wait when nobody can run it, rather than fail")
	fl.BoolVar(&f.idempotent, "idempotent", false,
		"a task may run twice at once without harm: --policy workqueue:2 starts second copies of the last ones")
	f.stdin.AddFlags(fl)
	fl.StringVar(&f.box.isolation, "isolation", "",
		"least level at which a node must keep tasks from itself: basic or strict (default any)")
	fl.StringVar(&f.box.network, "network", "",
		"what tasks reach of the network: host, none, or gang, the other ranks at addresses of their own "+
			"(default host; gang with --ranks; none with --isolation strict)")
	f.array.Add(fl)
	f.failure.add(cmd)
	f.order.AddFlags(cmd)
	accessFlag(cmd, &f.access)
	fl.BoolVar(&f.detach, "detach", false, "print the job's ID and leave")
	return cmd
}

// spec turns the flags into a job spec, with the values of its array, and reports all problems.
func (f *runFlags) spec(args []string, stdin io.Reader) (*v1.Spec, *arrays.Values, error) {
	s := &v1.Spec{Name: f.name, Class: f.class, Command: args, Count: uint32(f.count), Outputs: f.outputs,
		Policy: f.policy, Wait: f.wait, Idempotent: f.idempotent,
		Isolation: f.box.isolation, Network: f.box.network, Access: f.access}
	var problems []error
	note := func(flag string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("--%s %w", flag, err))
		}
	}
	var err error
	s.Needs.Cores, err = document.ParseCores(f.needs.cpu)
	note("cpu", err)
	s.Needs.Memory, err = document.ParseMemory(f.needs.memory)
	note("memory", err)
	s.Timeout, err = document.ParseTimeout(f.timeout)
	note("timeout", err)
	s.Needs.Labels, err = parseLabels(f.needs.labels)
	note("label", err)
	problems = append(problems, f.environ.Apply(s, ".", "--")...)
	for _, text := range slices.Concat(args, f.environ.Names, f.outputs) {
		problems = append(problems, notText(text))
	}
	problems = append(problems, f.needs.resources.Apply(s))
	problems = slices.DeleteFunc(problems, func(err error) bool { return err == nil })
	note("access", checkAccess(f.access))
	if f.count < 1 || f.count > grid.MaxCount {
		problems = append(problems, fmt.Errorf("--count %d: want 1 to %d", f.count, grid.MaxCount))
		s.Count = 1
	}
	problems = append(problems, f.gang.Apply(s)...)
	if f.retries < 0 || f.retries > grid.MaxRetries {
		problems = append(problems, fmt.Errorf("--retries %d: want 0 to %d", f.retries, grid.MaxRetries))
	}
	retries := int32(min(max(f.retries, 0), grid.MaxRetries))
	s.Retries = &retries
	problems = append(problems, f.failure.apply(s)...)
	if err := f.order.Parse(); err != nil {
		problems = append(problems, err)
	}
	values, err := f.array.Apply(s, stdin)
	if err != nil {
		problems = append(problems, err)
	} else if values == nil {
		values = arrays.OfIndex(s, f.inputs)
	}
	if len(problems) == 0 {
		problems = append(problems, checkSpec(s, values))
	}
	return s, values, errors.Join(problems...)
}

func (a *app) run(ctx context.Context, f *runFlags, args []string) error {
	failed := func(err error) error { return &exitError{grid.ExitSkep, err} }
	spec, values, err := f.spec(args, a.in)
	if err != nil {
		return failed(err)
	}
	files, err := collectInputs(spec, f.inputs, ".", values)
	if err != nil {
		return failed(err)
	}
	in, _ := a.in.(*os.File)
	f.stdin.Count = int64(spec.Count)
	mode, left, err := stdin.Choose(&f.stdin, in)
	if err != nil {
		return failed(err)
	}
	var tty *terminal.Terminal
	if f.stdin.Terminal {
		// an interrupt and SIGTERM cancel the job: see onSignals
		if tty, err = terminal.Open(in, syscall.SIGHUP, syscall.SIGQUIT); err != nil {
			return failed(err)
		}
		defer tty.Restore()
	}
	c, err := a.client()
	if err != nil {
		return failed(err)
	}
	defer c.Close()
	if err := f.order.Resolve(ctx, c, nil, spec); err != nil {
		return failed(err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	line := a.display()
	defer line.Close()
	beside := *a // prints beside the progress
	beside.out, beside.err = line.Writer(a.out), line.Writer(a.err)
	r := &running{taskReporter: taskReporter{app: &beside, array: spec.Array}, line: line, c: c, id: client.Draw(),
		spec: spec, printed: map[uint32]*[2]int64{}, stop: stop, cancelDone: make(chan struct{}), tty: tty}
	// so that a write to a closed pipe fails, rather than kill this program and leave the job running
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go r.onSignals(signals)
	if err = upload(ctx, c, spec, files, line); err == nil {
		err = r.takeStdin(ctx, mode, in)
	}
	if !r.state.CompareAndSwap(preparing, requested) {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if err != nil {
		return failed(err)
	}
	if f.detach {
		j, err := c.Submit(ctx, r.id, spec)
		if err == nil {
			r.job.Store(&j.ID)
		}
		if !r.state.CompareAndSwap(requested, answered) {
			return r.endInterrupted(ctx, err)
		}
		if err != nil {
			return failed(err)
		}
		return a.printSubmitted(&j, values, "table")
	}
	code, err := r.follow(ctx)
	line.Close()
	if left != "" && stdin.Waiting(in) {
		fmt.Fprintln(a.err, "skep: the standard input was not sent: "+left+"; to leave it, say --stdin none")
	}
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		return exit
	case err != nil && r.state.Load() == interrupted:
		return r.endInterrupted(ctx, err)
	case err != nil:
		return failed(err)
	}
	if len(f.outputs) > 0 {
		n, err := a.fetch(ctx, c, r.ref(), ".")
		if err != nil {
			return failed(err)
		}
		if n == 0 && code == 0 { // else the code says why
			fmt.Fprintln(a.err, "skep: no file in the work folder matched --output")
		}
	}
	if code != 0 {
		return &exitError{code: int(code)}
	}
	return nil
}
