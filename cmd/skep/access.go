package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// accesses are the values of --access.
var accesses = []string{string(grid.AccessMembers), string(grid.AccessOwner)}

// accessFlag adds --access to a verb that submits.
func accessFlag(cmd *cobra.Command, dst *string) {
	cmd.Flags().StringVar(dst, "access", "",
		"who may see the job's spec, tasks, logs and outputs, and cancel it: members (of the network), or owner (who has "+
			"its capability) (default the node's)")
	cmd.RegisterFlagCompletionFunc("access", cobra.FixedCompletions(accesses, cobra.ShellCompDirectiveNoFileComp))
}

// checkAccess checks a value of access; empty is the node's default.
func checkAccess(s string) error {
	if s != "" && !slices.Contains(accesses, s) {
		return fmt.Errorf("%.40q: want %s", s, strings.Join(accesses, " or "))
	}
	return nil
}

// isRedacted reports whether only the fields of a job that every member may see were returned.
func isRedacted(j *v1.Job) bool { return j.Access == string(grid.AccessOwner) && j.Spec == nil }

// userText returns the user who submitted a job, for a table.
func userText(j *v1.Job) string {
	if j.Submitter == nil {
		return "-"
	}
	return orDash(j.Submitter.User)
}

// submitterText returns the submitter of a job, for people.
func submitterText(j *v1.Job) string {
	switch {
	case j.Submitter == nil:
		return "-"
	case j.Submitter.User == "":
		return "somebody at " + v1.Short(j.Submitter.Node)
	}
	return j.Submitter.User + " at " + v1.Short(j.Submitter.Node)
}
