package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"skep/cmd/skep/jobs"
	"skep/grid"
	"skep/node/api/audit"
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

// auditList is the output of skep audit.
type auditList struct {
	Acts []audit.Act `json:"acts"`
	Bad  int         `json:"unreadable_lines,omitempty"`
}

// auditCmd reads what others have done on the node of this machine, whether it runs or not.
func (a *app) auditCmd() *cobra.Command {
	var out format
	var since string
	cmd := &cobra.Command{Use: "audit", Args: noArgs,
		Short: "List what others have done with the jobs of this node and to it",
		Long: "List what others have done with the jobs of this node and to it: reading, cancelling and running again its\n" +
			"jobs, draining it. It is read in the data folder, so on the node's machine; " +
			"the oldest lines go when there are 16 MiB.",
		RunE: func(*cobra.Command, []string) error {
			if a.remote != "" || os.Getenv(remoteEnv) != "" {
				return fmt.Errorf("audit: is read in the data folder of a node, on its machine: want it without --remote and %s",
					remoteEnv)
			}
			var from time.Time
			if since != "" {
				var err error
				if from, err = jobs.ParseSince(since, time.Now()); err != nil {
					return err
				}
			}
			if _, err := os.Stat(a.folder()); err != nil {
				return fmt.Errorf("audit: data folder %s: is not there: want that of a node, see --data-dir", a.folder())
			}
			var err error
			l := auditList{Acts: []audit.Act{}}
			l.Bad, err = audit.Read(a.folder(), from, func(x *audit.Act) error {
				l.Acts = append(l.Acts, *x)
				return nil
			})
			if err != nil {
				return err
			}
			return out.print(a.out, &l, func(w *tabwriter.Writer) { auditTable(w, &l) })
		}}
	cmd.Flags().StringVar(&since, "since", "", "only acts since then: a length of time, as in 2h or 3d, or a date")
	outputFlag(cmd, &out)
	return cmd
}

func auditTable(w *tabwriter.Writer, l *auditList) {
	row(w, "TIME", "BY", "USER", "ACT", "OBJECT", "OUTCOME")
	for i := range l.Acts {
		x := &l.Acts[i]
		outcome := x.Outcome
		if x.More > 0 {
			outcome += fmt.Sprintf(", and %d more acts, %d of them changes", x.More, x.Changes)
		}
		row(w, x.Time.Local().Format(time.DateTime), nodeLabel(x.Name, x.Node), orDash(x.User), x.Verb,
			x.Of+" "+v1.Short(x.Object), outcome)
	}
	if l.Bad > 0 {
		row(w, fmt.Sprintf("%d lines cannot be read", l.Bad))
	}
}
