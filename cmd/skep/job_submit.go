package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"skep/node/api/client"
	"skep/node/api/v1"
)

// printNote prints the node's note about a submitted job.
func (a *app) printNote(j *v1.Job) {
	if j.Note != "" {
		fmt.Fprintf(a.err, "skep: job %s: %s\n", short(j.ID), j.Note)
	}
}

func (a *app) jobSubmitCmd() *cobra.Command {
	var access string
	cmd := &cobra.Command{
		Use: "submit FILE|-", Short: "Submit a job file and print the job's ID",
		Long: "Submit a job file, or one from the standard input, and print the job's ID.\n\n" +
			"Paths in it are relative to the file's own folder.",
		Args: oneArg("a job file, or - for the standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := a.readFile(args[0])
			if err != nil {
				return err
			}
			name, dir := args[0], filepath.Dir(args[0])
			if name == "-" {
				name, dir = "standard input", "."
			}
			j, err := readJob(name, b)
			if err != nil {
				return err
			}
			if err := checkAccess(access); err != nil {
				return fmt.Errorf("--access %w", err)
			}
			j.spec.Access = cmp.Or(access, j.spec.Access)
			files, err := collectInputs(&j.spec, j.inputs, dir)
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			if err := upload(cmd.Context(), c, &j.spec, files); err != nil {
				return err
			}
			job, err := c.Submit(cmd.Context(), client.Draw(), &j.spec)
			if err != nil {
				return err
			}
			a.printNote(&job)
			_, err = fmt.Fprintln(a.out, job.ID)
			return err
		}}
	accessFlag(cmd, &access)
	return cmd
}
