package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"skep/grid"
	"skep/node/api/client"
)

func (a *app) jobCmd() *cobra.Command {
	cmd := parent("job", "Submit jobs and ask about them", a.jobSubmitCmd(), a.jobListCmd(), a.jobDescribeCmd(),
		a.jobLogsCmd(), a.jobWaitCmd(), a.jobCancelCmd(), a.jobGetCmd(), a.jobExplainCmd())
	cmd.Long = "Submit jobs and ask about them.\n\n" +
		"A job that was submitted at this node may be named by 4 or more characters of its ID, or by last; one that was " +
		"submitted at\n" +
		"another node by its whole ID. A job under access owner is described, read and cancelled only by whoever has its " +
		"capability: the\n" +
		"file " + client.CapabilityFolder +
		"/ID in the data folder that it was submitted through, which is used where it is and can be copied."
	cmd.PersistentFlags().StringVar(&a.capabilityFile, "capability", "",
		"file of the capability that opens a job under access owner (default "+client.CapabilityFolder+
			"/ID in the data folder)")
	return cmd
}

// oneJob returns a verb about one job. Its argument is checked here, so that an invalid ID never becomes part of a
// request.
func (a *app) oneJob(use, short string, f func(cmd *cobra.Command, ref string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, ValidArgsFunction: a.completeJobs,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s: want one job ID, or last", cmd.Name())
			}
			return checkRef(args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f(cmd, args[0]) }}
}

// checkRef checks the characters of a job ID; the node checks the rest.
func checkRef(s string) error {
	if s == "" || len(s) > 80 || strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '2' && r <= '7' || r == '-')
	}) {
		return fmt.Errorf("job ID %.80q: want 4 or more characters of a-z and 2-7, perhaps a hyphen and the beginning of "+
			"a node's ID; or last", s)
	}
	return nil
}

// splitTask parses JOB or JOB/INDEX.
func splitTask(s string) (ref string, index uint32, err error) {
	ref, text, has := strings.Cut(s, "/")
	if has {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n >= grid.MaxCount {
			return "", 0, fmt.Errorf("task %.80q: want JOB/INDEX, as in last/3, with an index of 0 to %d", s, grid.MaxCount-1)
		}
		index = uint32(n)
	}
	return ref, index, checkRef(ref)
}
