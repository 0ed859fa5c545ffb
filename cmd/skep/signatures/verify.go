package signatures

import (
	"context"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// Command is what the flags need of the program.
type Command struct {
	Client func() (*client.Client, error)
	Print  func(v *v1.Signatures) error // by Table, or for programs
}

// all stands for the index of one task.
const all = -1

// AddTo gives the verb that describes a job the flags --verify and --task.
func (c *Command) AddTo(cmd *cobra.Command) *cobra.Command {
	verify, task := false, int64(0)
	describe := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		one := cmd.Flags().Changed("task")
		switch {
		case one && !verify:
			return fmt.Errorf("--task %d: only with --verify", task)
		case one && (task < 0 || task >= grid.MaxCount):
			return fmt.Errorf("--task %d: want the index of a task, 0 to %d", task, grid.MaxCount-1)
		case verify && !one:
			return c.verify(cmd.Context(), args[0], all)
		case verify:
			return c.verify(cmd.Context(), args[0], task)
		}
		return describe(cmd, args)
	}
	cmd.Long += "\n\nWith --verify: what the signatures of a signed job prove of how its tasks ended. The node that is " +
		"asked must keep the\njob: it checks what it keeps itself, from the job's origin on, and asks no other node. The " +
		"exit code is 1 if a\nsignature is missing or wrong, or the job is not signed."
	fl := cmd.Flags()
	fl.BoolVar(&verify, "verify", false, "check who has signed how the tasks ended, by what the node keeps itself")
	fl.Int64Var(&task, "task", 0, "with --verify: the task of this index alone")
	return cmd
}

func (c *Command) verify(ctx context.Context, ref string, task int64) error {
	cl, err := c.Client()
	if err != nil {
		return err
	}
	defer cl.Close()
	s, err := read(ctx, cl, ref, task)
	if err != nil {
		return err
	}
	if err := c.Print(s); err != nil {
		return err
	}
	return Verdict(s)
}

// read reads what a node has found: of all tasks, or of one.
func read(ctx context.Context, c *client.Client, ref string, task int64) (*v1.Signatures, error) {
	if task != all {
		s, err := c.Signatures(ctx, ref, uint32(task), 1)
		if s.Next = nil; err == nil && len(s.Tasks) == 0 {
			err = fmt.Errorf("--task %d: the job has %d tasks, 0 to %d", task, s.Count, s.Count-1)
		}
		return &s, err
	}
	s, err := c.Signatures(ctx, ref, 0, 0)
	for next := s.Next; err == nil && next != nil && s.Signed; {
		var more v1.Signatures
		if more, err = c.Signatures(ctx, s.Job, *next, 0); err != nil {
			break
		}
		if !more.Holds() { // it changed meanwhile
			s.Origin, s.Members, s.Owner = more.Origin, more.Members, more.Owner
		}
		if s.Names == nil {
			s.Names = map[string]string{}
		}
		maps.Copy(s.Names, more.Names)
		s.Tasks, next = append(s.Tasks, more.Tasks...), more.Next
	}
	s.Next = nil
	return &s, err
}

// Verdict is the error of a job whose signatures do not prove how its tasks ended; nil = they do, as far as these have.
func Verdict(s *v1.Signatures) error {
	if !s.Signed {
		return fmt.Errorf("job %s is not signed: nothing proves how its tasks ended (the setting sign of the node that it "+
			"was submitted to)", v1.Short(s.Job))
	}
	bad := 0
	for i := range s.Tasks {
		if s.Tasks[i].Problem != "" {
			bad++
		}
	}
	switch {
	case !s.Holds():
		return fmt.Errorf("job %s: the signatures that the ends of its tasks rest on do not hold", v1.Short(s.Job))
	case bad > 0:
		return fmt.Errorf("job %s: of %d tasks the signatures of how they ended do not hold", v1.Short(s.Job), bad)
	}
	return nil
}
