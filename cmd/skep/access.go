package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skep/grid"
	"skep/node/api/v1"
)

// accesses are who may see a job and cancel it.
var accesses = []string{string(grid.AccessMembers), string(grid.AccessOwner)}

// accessFlag adds --access to a verb that submits.
func accessFlag(cmd *cobra.Command, dst *string) {
	cmd.Flags().StringVar(dst, "access", "", "who may see the job's spec, tasks, logs and outputs, and cancel it: members (of the network), or owner (who has its capability) (default the node's)")
	cmd.RegisterFlagCompletionFunc("access", cobra.FixedCompletions(accesses, cobra.ShellCompDirectiveNoFileComp))
}

// checkAccess checks what is said of who may see a job; nothing is the node's own.
func checkAccess(s string) error {
	if s != "" && !slices.Contains(accesses, s) {
		return fmt.Errorf("%.40q: want %s", s, strings.Join(accesses, " or "))
	}
	return nil
}

// reduced reports whether no more is seen of a job than every member may.
func reduced(j *v1.Job) bool { return j.Access == string(grid.AccessOwner) && j.Spec == nil }

// userText is the user who submitted a job, for a table.
func userText(j *v1.Job) string {
	if j.Submitter == nil {
		return "-"
	}
	return orDash(j.Submitter.User)
}

// submitterText is who submitted a job, as people read it.
func submitterText(j *v1.Job) string {
	switch {
	case j.Submitter == nil:
		return "-"
	case j.Submitter.User == "":
		return "somebody at " + short(j.Submitter.Node)
	}
	return j.Submitter.User + " at " + short(j.Submitter.Node)
}
