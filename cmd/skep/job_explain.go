package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"skep/cmd/skep/bids"
	"skep/cmd/skep/order"
	"skep/cmd/skep/weighed"
	v1 "skep/node/api/v1"
)

func (a *app) jobExplainCmd() *cobra.Command {
	var out format
	var limit int
	explain := func(cmd *cobra.Command, arg string) error {
		if limit < 1 || limit > 1000 {
			return fmt.Errorf("--limit %d: want 1 to 1000", limit)
		}
		ref, from, err := splitTask(arg)
		if err != nil {
			return err
		}
		alone := ref != arg && !cmd.Flags().Changed("limit")
		if alone {
			limit = 1
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		defer c.Close()
		e, err := c.Explain(cmd.Context(), ref, from, limit)
		if err != nil {
			return err
		}
		if len(e.Tasks) == 0 {
			return fmt.Errorf("task %s: the job has %d tasks, 0 to %d", arg, e.Job.Count, e.Job.Count-1)
		}
		if alone {
			e.Next = nil
		}
		return out.print(a.out, &e, func(w *tabwriter.Writer) { printExplanation(w, &e) })
	}
	cmd := &cobra.Command{Use: "explain ID[/INDEX]", Short: "Tell why a job's tasks ran where they ran, or why they wait",
		ValidArgsFunction: a.completeJobs,
		Long: "Tell why a job's tasks ran where they ran, or why they wait: the first ones, those from an " +
			"index on, or one alone.\nOf a task in line at its node: the order there, and how many start before it. Of one " +
			"that was\nsuspended: for whom, how often and for how long. Of a deadline: since when it cannot be met, and why.",
		Args: oneArg("a job's ID, or ID/INDEX for one task, or last"),
		RunE: func(cmd *cobra.Command, args []string) error { return explain(cmd, args[0]) }}
	outputFlag(cmd, &out)
	cmd.Flags().IntVar(&limit, "limit", 20, "how many tasks at most; of an index 1, if it is not said")
	return cmd
}

func printExplanation(w *tabwriter.Writer, e *v1.Explanation) {
	fmt.Fprintf(w, "job %s, class %s, %s, submitted to node %s at %s: %s\n", v1.Short(e.Job.ID), e.Job.Class,
		bids.Bid(e.Job.Spec), v1.Short(e.Job.Origin), e.Job.Submitted.Local().Format(time.DateTime), e.Job.State)
	var array *v1.Array
	if e.Job.Spec != nil {
		array = e.Job.Spec.Array
		if d := e.Job.Spec.Deadline; d != nil {
			fmt.Fprintf(w, "  deadline: %s\n", bids.DeadlineText(d, e.Job.Submitted))
		}
	}
	for i := range e.After {
		fmt.Fprintf(w, "  %s\n", order.Text(&e.After[i], e.Job.Count, v1.Short))
	}
	for i := range e.Tasks {
		t := &e.Tasks[i]
		fmt.Fprintf(w, "\n%s: %s", taskName(&t.Task, array), t.Task.At())
		if t.Task.Result != nil {
			fmt.Fprintf(w, ", %s with %d", t.Task.Result.Cause, t.Task.Result.Exit)
		}
		if t.Task.Waits != nil {
			fmt.Fprintf(w, ", waits: %s", reasonText(t.Task.Waits.Reason, t.Task.Waits.Detail))
		}
		fmt.Fprintln(w)
		for j := range t.Task.Failures {
			fmt.Fprintf(w, "  %s\n", failureText(&t.Task.Failures[j]))
		}
		bids.PrintStanding(w, "  ", t, e.Job.Submitted)
		printCheckpoint(w, "  ", &t.Task)
		for j := range t.Steps {
			fmt.Fprintf(w, "  %s\t%s\n", age(t.Steps[j].At.Sub(e.Job.Submitted)), stepText(&t.Steps[j]))
			printConsidered(w, &t.Steps[j])
		}
	}
	if e.Next != nil {
		fmt.Fprintf(w, "\n… and %d more tasks: see --limit, and ID/INDEX\n", e.Job.Count-int(*e.Next))
	}
	fmt.Fprintln(w, "\nnodes known now:")
	for _, n := range e.Nodes {
		verdict := "fits"
		if !n.Fits {
			verdict = reasonText(n.Reason, n.Detail)
		}
		news := "where it was submitted"
		if n.Node != e.Job.Origin {
			news = "news " + age(time.Duration(n.News*float64(time.Second))) + " old"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", nodeLabel(n.Name, n.Node), verdict, news)
	}
}

// stepText describes one step.
func stepText(s *v1.Step) string {
	node := nodeLabel(s.Name, s.Node)
	switch s.What {
	case "chosen":
		t := "chose " + node
		if s.ECT > 0 {
			t += fmt.Sprintf(": expected to be done there in %s", secs(s.ECT))
		}
		if len(s.Nodes) > 0 { // the rest is said of each node
			return t
		}
		if s.Asked > 0 {
			t += "; asked " + english.Plural(int(s.Asked), "node", "")
		}
		if s.News > 0 {
			t += fmt.Sprintf("; the news was %s old", secs(s.News))
		}
		return t
	case "demoted":
		return node + " stopped it, since it ran longer than tasks of its class may there: it goes on as one of class " +
			s.Detail
	case "copied":
		return strings.TrimSuffix("gave a backup attempt to "+node+": "+s.Detail, ": ")
	case "reliability":
		return "at " + node + ", reliability " + s.Detail
	case "accepted":
		return node + " took it"
	case "refused":
		return node + " refused it: " + reasonText(s.Reason, s.Detail) + newsAge(s)
	case "waits":
		return "waits: " + reasonText(s.Reason, s.Detail) + newsAge(s)
	case "scheduled", "contract":
		return s.Detail
	case "search":
		if s.Node != "" {
			return "the search found " + node + " (" + s.Detail + ")"
		}
		return "nobody known fits: searched the overlay"
	case "call":
		return "no search found anybody: called everybody"
	case "moved":
		return strings.TrimSuffix("moves away from "+node+": "+reasonText(s.Reason, s.Detail), ": ")
	case "lost", "ended":
		return strings.TrimSuffix(s.What+" at "+node+": "+reasonText(s.Reason, s.Detail), ": ")
	}
	return strings.TrimSpace(s.What + " " + node + " " + reasonText(s.Reason, s.Detail))
}

func newsAge(s *v1.Step) string {
	if s.News == 0 {
		return ""
	}
	return fmt.Sprintf(" (by news %s old)", secs(s.News))
}

func reasonText(reason, detail string) string {
	if detail == "" {
		return reason
	}
	if reason == "" {
		return detail
	}
	return reason + ": " + detail
}

// nodeLabel returns a node's name and short ID.
func nodeLabel(name, id string) string {
	switch {
	case id == "":
		return "-"
	case name == "":
		return v1.Short(id)
	}
	return name + " (" + v1.Short(id) + ")"
}

// printConsidered prints the nodes that a decision weighed, in at most 80 columns, and why one of them was chosen.
func printConsidered(w *tabwriter.Writer, s *v1.Step) {
	if weighed.Prices(w, s); len(s.Nodes) == 0 {
		return
	}
	fmt.Fprintf(w, "\t%s\n", weighed.Verdict(s))
	if first := &s.Nodes[0]; s.Idle != nil {
		fmt.Fprintf(w, "\tidle %s was expected to end it after %s, %s after %s\n", considered(s.Idle),
			wait(s.Idle.ECT+s.Idle.Charged), considered(first), wait(first.ECT+first.Charged))
	}
	fmt.Fprintln(w, "\t  node"+weighed.OptionHead(s)+"\tend\tstart\trun\tmove\testimate rests on")
	for i := range s.Nodes {
		n := &s.Nodes[i]
		mark := " "
		if n.Chosen {
			mark = "*"
		}
		fmt.Fprintf(w, "\t%s %s\t%s\t%s\t%s\t%s\t%s\n", mark, considered(n)+weighed.OptionCell(n), wait(n.ECT+n.Charged),
			wait(n.Ready+n.Charged), wait(n.Run), wait(n.Move), basisText(n))
	}
	weighed.Options(w, s, considered, wait)
}

// considered names a node in a narrow column.
func considered(n *v1.Considered) string {
	const most = 14
	if n.Name == "" {
		return v1.Short(n.Node)
	}
	if name := []rune(n.Name); len(name) > most {
		return string(name[:most-1]) + "…"
	}
	return n.Name
}

// wait is a time of which 0 means at once.
func wait(s float64) string {
	if s <= 0 {
		return "0s"
	}
	return age(time.Duration(s * float64(time.Second)))
}

// basisText says in at most 26 columns what an estimate rests on, and how old that is.
func basisText(n *v1.Considered) string {
	since := asks(n.Price)
	if n.News >= 1e-3 {
		since = ", " + wait(n.News) + " old" + since
	}
	switch n.Basis {
	case "own results":
		return english.Plural(int(n.Results), "run", "") + " here"
	case "given":
		return "given rates"
	}
	said := map[string]string{"answer": "its answer", "ad": "its ad", "typical": "other nodes",
		"track record": "late results", "unproven": "no result yet"}[n.Basis]
	return cmp.Or(said, "nothing known") + since
}
