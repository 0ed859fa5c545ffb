package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skep/cmd/skep/jobs"
	"skep/cmd/skep/signatures"
	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

func (a *app) jobCmd() *cobra.Command {
	cmd := parent("job", "Submit jobs and ask about them", a.jobSubmitCmd(), a.jobListCmd(), a.describeOrVerifyCmd(),
		a.jobLogsCmd(), a.jobWaitCmd(), a.jobCancelCmd(), a.jobRetryCmd(), a.jobGetCmd(), a.jobExplainCmd())
	cmd.Long = "Submit jobs and ask about them.\n\n" +
		"A job may be named by its ID, by 4 or more characters of its beginning, by the name that it was given, if one\n" +
		"job alone has it, or by last, the newest that was submitted at this node. Jobs of this node come first; if\n" +
		"none of them fits, the other nodes are asked. A beginning of an ID wins over a name.\n\n" +
		"A job under access owner is described, read and cancelled only by whoever has its capability: the file\n" +
		client.CapabilityFolder + "/ID in the data folder that it was submitted through, which is used where it is and " +
		"can be copied."
	a.capabilityFlag(cmd.PersistentFlags())
	return cmd
}

// describeOrVerifyCmd returns the verb that describes a job, or says what its signatures prove.
func (a *app) describeOrVerifyCmd() *cobra.Command {
	cmd := a.jobDescribeCmd()
	out := cmd.Flags().Lookup("output").Value.(*format)
	verify := &signatures.Command{Client: a.client, Print: func(s *v1.Signatures) error {
		return out.print(a.out, s, func(w *tabwriter.Writer) { signatures.Table(w, s) })
	}}
	return verify.AddTo(cmd)
}

func (a *app) capabilityFlag(fl *pflag.FlagSet) {
	fl.StringVar(&a.capabilityFile, "capability", "",
		"file of the capability that opens a job under access owner (default "+client.CapabilityFolder+
			"/ID in the data folder)")
}

// oneJob returns a verb about one job. Its argument is checked here, so that an invalid ID never becomes part of a
// request.
func (a *app) oneJob(use, short string, f func(cmd *cobra.Command, ref string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, ValidArgsFunction: a.completeJobs,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s: want one job, by ID, name, or last", cmd.Name())
			}
			return jobs.CheckRef(args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f(cmd, args[0]) }}
}

// splitTask parses JOB or JOB/INDEX. A name may have slashes: only what follows the last one can be an index.
func splitTask(s string) (ref string, index uint32, err error) {
	at := strings.LastIndexByte(s, '/')
	if at < 0 || strings.Trim(s[at+1:], "0123456789") != "" && s[:at] != "last" {
		return s, 0, jobs.CheckRef(s)
	}
	n, err := strconv.ParseUint(s[at+1:], 10, 32)
	if err != nil || n >= grid.MaxCount {
		return "", 0, fmt.Errorf("task %.80q: want JOB/INDEX, as in last/3, with an index of 0 to %d", s, grid.MaxCount-1)
	}
	return s[:at], uint32(n), jobs.CheckRef(s[:at])
}
