package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) jobGetCmd() *cobra.Command {
	var dir string
	cmd := a.oneJob("get ID [-o DIR]", "Bring the collected files of a job here",
		func(cmd *cobra.Command, ref string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			n, err := a.fetch(cmd.Context(), c, ref, dir)
			if err == nil && n == 0 {
				fmt.Fprintln(a.err,
					"skep: no files were collected: outputs in a job file, or skep run --output, says which to bring back")
			}
			return err
		})
	cmd.Long = "Bring the collected files of a job here; of several tasks each into a folder named by its " +
		"index.\nFiles that are in the way are replaced."
	cmd.Flags().StringVarP(&dir, "output-dir", "o", ".", "folder to write to")
	return cmd
}
