package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"skep/sim/net"
)

// printNet prints a report.
func printNet(w io.Writer, f tableFormat, r *net.Report) error {
	if f == "csv" {
		return csvNet(w, r)
	}
	return format(f).print(w, r, func(t *tabwriter.Writer) { tableNet(t, r) })
}

// est formats an estimate with its interval.
func est(e net.Estimate) string {
	if math.IsNaN(e.Mean) {
		return "-"
	}
	if e.Half <= 1e-12*math.Abs(e.Mean) { // none, or a rounding error of equal numbers
		return plain(e.Mean, 4)
	}
	return plain(e.Mean, 4) + " ± " + plain(e.Half, 2)
}

// plain formats a number to some digits, without a power of ten unless it is very small or large.
func plain(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'g', digits, 64)
	if a := math.Abs(x); a > 0 && a < 1e-6 || a > 1e12 {
		return s
	}
	rounded, _ := strconv.ParseFloat(s, 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func tableNet(t *tabwriter.Writer, r *net.Report) {
	fmt.Fprintf(t, "%s: %d nodes, %d replications from seed %d, λ* %.3g\n", r.Scenario, r.Nodes, r.Replications, r.Seed,
		r.Lambda)
	if !r.Stable {
		fmt.Fprintln(t,
			"UNSTABLE: the number of tasks in the grid only grew, so that their times depend on how long one runs")
	}
	fmt.Fprintf(t, "%d tasks, %d ended, %d failed, %d placed again, %d rejected, %d lost\n", r.Tasks, r.Ended, r.Failed,
		r.Again, r.Rejected, r.Lost)
	for _, f := range r.Failures {
		fmt.Fprintf(t, "  failed: %d %s\n", f.Tasks, strings.ReplaceAll(f.Cause, "_", " "))
	}
	if r.Orphans > 0 {
		fmt.Fprintf(t, "%d tasks have not ended: the nodes that they were submitted to did not come back\n", r.Orphans)
	}
	if r.LeftOut > 0 {
		fmt.Fprintf(t, "%d jobs of traces left out, which begin after the time of the scenario\n", r.LeftOut)
	}
	if r.Worth != nil && r.Worth.Suspensions > 0 {
		fmt.Fprintf(t, "%d times a task was suspended\n", r.Worth.Suspensions)
	}
	if r.Migrations > 0 {
		fmt.Fprintf(t, "%d times a task that had started went on at another node\n", r.Migrations)
	}
	if r.Hostile > 0 {
		fmt.Fprintf(t, "%d messages of hostile nodes; offenders cut off %d times\n", r.Hostile, r.CutOff)
	}
	fmt.Fprintf(t, "%.4gs of the grid's time in %.3gs, %d steps; digest %s\n\n", r.Virtual, r.Wall, r.Steps, r.Digest)
	row(t, "CLASS", "TASKS", "COMPLETION s", "P50", "P95", "P99", "SLOWDOWN")
	tasks := 0
	for _, c := range r.Classes {
		tasks += c.Tasks
		if !r.Stable {
			row(t, c.Class, c.Tasks, "unstable", "-", "-", "-", "-")
			continue
		}
		row(t, c.Class, c.Tasks, est(c.Completion), est(c.P50), est(c.P95), est(c.P99), est(c.Slowdown))
	}
	if len(r.Classes) > 1 && r.Stable {
		row(t, "all", tasks, est(r.Completion))
	}
	tableGangs(t, r)
	tableWorth(t, r)
	fmt.Fprintln(t)
	row(t, "MOVED", "UTILISATION", "FAIRNESS", "REGRET", "WALKS", "FOUND", "HOPS")
	row(t, est(r.Moved), est(r.Utilisation), est(r.Fairness), est(r.Regret), r.Searches.Walks, est(r.Searches.Success),
		est(r.Searches.Hops))
	fmt.Fprintln(t)
	row(t, "MESSAGE", "A TASK", "A NODE AND SECOND", "BYTES A TASK", "BYTES A NODE AND SECOND")
	for _, k := range r.Messages {
		row(t, k.Kind, est(k.PerTask), est(k.PerNode), est(k.BytesPerTask), est(k.BytesPerNode))
	}
	fmt.Fprintln(t)
	row(t, "VIEW, HOPS", "ENTRIES", "AGE s", "ERROR")
	for _, v := range r.View {
		row(t, v.Hops, v.Entries, est(v.Age), est(v.Error))
	}
}

// tableGangs prints what became of gangs, if there are any.
func tableGangs(t *tabwriter.Writer, r *net.Report) {
	if len(r.Gangs) == 0 {
		return
	}
	fmt.Fprintln(t)
	row(t, "GANG", "ENDED", "OTHER", "RESTARTS", "TURNAROUND s", "WAIT s", "ITERATION s", "PREDICTED s",
		"WRONG BY %", "NODES")
	for _, g := range r.Gangs {
		row(t, g.Class, g.Gangs, g.Other, g.Restarts, est(g.Turnaround), est(g.Wait), est(g.Iteration), est(g.Predicted),
			est(g.Error), est(g.Nodes))
	}
}

// tableWorth prints what results were worth by band of bid and to users, if anybody has said so.
func tableWorth(t *tabwriter.Writer, r *net.Report) {
	if r.Worth == nil || !r.Stable {
		return
	}
	fmt.Fprintln(t)
	row(t, "BID", "TASKS", "REFUSED", "MISSED", "COMPLETION s", "WCT", "WCR", "UTILITY")
	for name, x := range bands(r.Worth) {
		row(t, name, x.Tasks, x.Refused, x.Missed, est(x.Completion), est(x.WCT), est(x.WCR), est(x.Utility))
	}
	if len(r.Worth.Users) == 0 {
		return
	}
	fmt.Fprintln(t)
	row(t, "USER", "TASKS", "REFUSED", "MISSED", "COMPLETION s", "SLOWDOWN", "WCR", "UTILITY")
	for _, x := range r.Worth.Users {
		row(t, x.User, x.Tasks, x.Refused, x.Missed, est(x.Completion), est(x.Slowdown), est(x.WCR), est(x.Utility))
	}
}

// bands yields the bands of bids, named by their lowest and highest bid, and all together where there are several.
func bands(w *net.Worth) iter.Seq2[string, *net.WorthReport] {
	return func(yield func(string, *net.WorthReport) bool) {
		for i := range w.Bids {
			x := &w.Bids[i]
			name := plain(x.From, 6)
			if x.From < x.To {
				name += " to " + plain(x.To, 6)
			}
			if !yield(name, x) {
				return
			}
		}
		if len(w.Bids) != 1 {
			yield("all", &w.All)
		}
	}
}

// putWorth prints the figures of a band of bids, or of a user, as csvNet does.
func putWorth(put func(measure, of string, e net.Estimate), what, of string, x *net.WorthReport) {
	put(what+"_missed", of, net.Estimate{Mean: float64(x.Missed)})
	put(what+"_refused", of, net.Estimate{Mean: float64(x.Refused)})
	put(what+"_completion", of, x.Completion)
	put(what+"_slowdown", of, x.Slowdown)
	put(what+"_wct", of, x.WCT)
	put(what+"_wcr", of, x.WCR)
	put(what+"_utility", of, x.Utility)
}

// csvNet prints a report as lines of measure, subject, mean and half-width.
func csvNet(w io.Writer, r *net.Report) error {
	c := csv.NewWriter(w)
	put := func(measure, of string, e net.Estimate) {
		mean := strconv.FormatFloat(e.Mean, 'g', -1, 64)
		if math.IsNaN(e.Mean) {
			mean = ""
		}
		c.Write([]string{r.Scenario, measure, of, mean, strconv.FormatFloat(e.Half, 'g', -1, 64)})
	}
	c.Write([]string{"scenario", "measure", "of", "mean", "half"})
	for _, n := range []struct {
		what string
		v    float64
	}{{"tasks", float64(r.Tasks)}, {"ended", float64(r.Ended)}, {"failed", float64(r.Failed)}, {"lost", float64(r.Lost)},
		{"orphans", float64(r.Orphans)}, {"trace_jobs_left_out", float64(r.LeftOut)}, {"lambda", r.Lambda}} {
		put(n.what, "", net.Estimate{Mean: n.v})
	}
	stable := 0.0
	if r.Stable {
		stable = 1
	}
	put("stable", "", net.Estimate{Mean: stable})
	put("moved", "", r.Moved)
	put("utilisation", "", r.Utilisation)
	put("fairness", "", r.Fairness)
	put("search_success", "", r.Searches.Success)
	put("search_hops", "", r.Searches.Hops)
	if r.Stable {
		put("completion", "", r.Completion)
	}
	for _, k := range r.Classes {
		put("moved", k.Class, k.Moved)
		if !r.Stable {
			continue
		}
		put("completion", k.Class, k.Completion)
		put("completion_p50", k.Class, k.P50)
		put("completion_p95", k.Class, k.P95)
		put("completion_p99", k.Class, k.P99)
		put("slowdown", k.Class, k.Slowdown)
	}
	for _, g := range r.Gangs {
		for _, e := range []struct {
			what string
			net.Estimate
		}{{"gangs", net.Estimate{Mean: float64(g.Gangs)}}, {"gang_restarts", net.Estimate{Mean: float64(g.Restarts)}},
			{"gang_turnaround", g.Turnaround}, {"gang_wait", g.Wait}, {"gang_iteration", g.Iteration},
			{"gang_predicted", g.Predicted}, {"gang_error_pct", g.Error}, {"gang_nodes", g.Nodes}} {
			put(e.what, g.Class, e.Estimate)
		}
	}
	put("migrations", "", net.Estimate{Mean: float64(r.Migrations)})
	if r.Worth != nil && r.Stable {
		put("suspensions", "", net.Estimate{Mean: float64(r.Worth.Suspensions)})
		for name, x := range bands(r.Worth) {
			putWorth(put, "bid", name, x)
		}
		for i := range r.Worth.Users {
			putWorth(put, "user", r.Worth.Users[i].User, &r.Worth.Users[i])
		}
	}
	for _, g := range r.Groups {
		put("ran", g.Group, g.Ran)
	}
	for _, k := range r.Messages {
		put("messages_per_task", k.Kind, k.PerTask)
		put("messages_per_node_second", k.Kind, k.PerNode)
		put("bytes_per_task", k.Kind, k.BytesPerTask)
		put("bytes_per_node_second", k.Kind, k.BytesPerNode)
	}
	for _, v := range r.View {
		put("view_age", strconv.Itoa(v.Hops), v.Age)
		put("view_error", strconv.Itoa(v.Hops), v.Error)
	}
	c.Flush()
	return c.Error()
}
