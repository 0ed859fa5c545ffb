package demo

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// line prints where a task ran, when it ends.
func (r *outcome) line(w io.Writer, i int, ns *network) {
	from := ns.list[r.origin].name
	arrow := "stays at"
	if r.moved {
		arrow = "goes to "
	}
	fmt.Fprintf(w, "  %6.2fs  task %2d  %-6s  at %-7s  %s %-7s  done in %4d ms\n", r.arrived.Seconds(), i, r.class, from,
		arrow, r.node, r.completion.Milliseconds())
}

// table prints every task and the costs of all.
func (p *pass) table(w io.Writer, ns *network) {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TASK\tCLASS\tSUBMITTED AT\tRAN AT\tWAITED\tRAN\tEXIT")
	moved := 0
	for i := range p.runs {
		r := &p.runs[i]
		if r.moved {
			moved++
		}
		// All time but running is waiting: placement, network, queue, and fetching the program once.
		ran := time.Duration(r.record.Result.Wall * float64(time.Second))
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%d\n", i, r.class, ns.list[r.origin].name, r.node, ms(max(0,
			r.completion-ran)), ms(ran), r.record.Result.Exit)
	}
	t.Flush()
	n := float64(len(p.runs))
	fmt.Fprintf(w,
		"\n%d of %d tasks moved (%.0f %%); %.1f messages for each task, gossip included; mean completion time %s.\n",
		moved, len(p.runs), 100*float64(moved)/n, float64(p.messages)/n, ms(p.mean("")))
}

// compare prints the means of both passes, of all tasks and by class.
func (p *pass) compare(w io.Writer, alone *pass) {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MEAN COMPLETION TIME\tBY THE GRID\tWHERE SUBMITTED\tTIMES SOONER")
	for _, c := range append([]string{""}, classes...) {
		a, b := p.mean(c), alone.mean(c)
		name := c
		if c == "" {
			name = "all tasks"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\n", name, ms(a), ms(b), float64(b)/float64(max(a, 1)))
	}
	t.Flush()
}

// mean returns the mean completion time of a class, or of all.
func (p *pass) mean(class string) time.Duration {
	var sum time.Duration
	n := 0
	for i := range p.runs {
		if r := &p.runs[i]; class == "" || r.class == class {
			sum += r.completion
			n++
		}
	}
	return sum / time.Duration(max(n, 1))
}

func ms(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
