package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"skep/cmd/skep/environ"
	"skep/cmd/skep/stdin"
	"skep/cmd/skep/terminal"
	"skep/exec/session"
	"skep/grid"
	"skep/node/api/client"
)

// execFlags are the flags of exec.
type execFlags struct {
	env                   []string
	interactive, terminal bool
}

func (a *app) execCmd() *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Use: "exec [-it] ID[/INDEX] -- CMD ARGS", Short: "Run a command beside a task that runs, in its box",
		Long: `Run a command beside a task that runs: in its box, with its user, its folder, its environment and its
bounds, on whatever node it is. The node that the job was submitted to takes it, and no other.

The exit code is the command's: 128+n when a signal killed it, 126 and 127 when it cannot be executed,
125 when Skep failed. The command ends with its task, with this program, and with the node. A pipe or
a file as standard input is sent to it, but not in a loop that reads from it: see -i. With -t it has a
terminal of the size of this one: keys go to it as they are typed, also ^C and ^Z, and what it prints is
one stream.

A task takes 8 such commands at a time, and a node 32, of which 16 are of jobs of one other node.`,
		Example:           "  skep exec last -- ps aux\n  skep exec -it last/3 -- sh",
		ValidArgsFunction: a.completeJobs,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(args) < 2 || args[1] == "" {
				return errors.New("exec: want a task and a command, as in skep exec ID/INDEX -- CMD ARGS")
			}
			_, _, err := splitTask(args[0])
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			end, err := a.exec(cmd.Context(), &f, args[0], args[1:])
			switch {
			case err != nil:
				return &exitError{grid.ExitSkep, err}
			case end.Why != "":
				return &exitError{min(max(end.Code, 1), 255), errors.New(end.Why)}
			case end.Code != 0:
				return &exitError{code: min(max(end.Code, 1), 255)}
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.BoolVarP(&f.interactive, "interactive", "i", false, "send the standard input, whatever it is")
	fl.BoolVarP(&f.terminal, "terminal", "t", false, "give the command a terminal, and send it what is typed here")
	fl.StringArrayVar(&f.env, "env", nil,
		"NAME=VALUE in the command's environment, beside the task's, or NAME with the value that it has here")
	a.capabilityFlag(fl)
	return cmd
}

// exec runs a command beside a task and returns how it ended.
func (a *app) exec(ctx context.Context, f *execFlags, task string, argv []string) (end session.End, err error) {
	q := session.Request{Argv: argv}
	env, err := (&environ.Source{Lookup: os.LookupEnv}).Variables(f.env, false)
	if err != nil {
		return end, fmt.Errorf("--env %w", err)
	}
	for name, value := range env {
		q.Env = append(q.Env, name+"="+value)
	}
	in, _ := a.in.(*os.File)
	streams := session.Streams{Out: a.out, Err: a.err}
	var tty *terminal.Terminal
	left := ""
	if f.terminal {
		if tty, err = terminal.Open(in, terminal.Ends...); err != nil {
			return end, err
		}
		size := tty.Size()
		q.Terminal, streams.In, streams.Resized = &size, tty, tty.Resized()
		q.Env = append([]string{"TERM=" + os.Getenv("TERM")}, q.Env...)
	} else {
		want := stdin.Want{Mode: stdin.Auto, Interactive: f.interactive}
		var mode string
		if mode, left, err = stdin.Choose(&want, in); err != nil {
			return end, err
		}
		if mode == stdin.One {
			streams.In = in
		}
	}
	c, err := a.client()
	if err != nil {
		return end, err
	}
	defer c.Close()
	ref, index, err := oneTask(ctx, c, task)
	if err != nil {
		return end, err
	}
	conn, err := c.Exec(ctx, ref, index)
	if err != nil {
		return end, err
	}
	defer conn.Close()
	if tty != nil {
		if err := tty.Take(); err != nil {
			return end, err
		}
		defer tty.Restore()
	}
	end, err = session.Attach(conn, &q, streams)
	if left != "" && stdin.Waiting(in) {
		fmt.Fprintln(a.err, "skep: the standard input was not sent: "+left)
	}
	return end, err
}

// oneTask returns the task that JOB/INDEX names, or JOB alone if that has one task.
func oneTask(ctx context.Context, c *client.Client, task string) (ref string, index uint32, err error) {
	ref, index, err = splitTask(task)
	if err != nil || ref != task {
		return ref, index, err
	}
	j, err := c.Job(ctx, ref)
	if err != nil {
		return ref, 0, err
	}
	if j.Count > 1 {
		return ref, 0, fmt.Errorf("job %s: has %d tasks: want one of them, as in %s/0", ref, j.Count, ref)
	}
	return j.ID, 0, nil
}
