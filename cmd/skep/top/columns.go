package top

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	v1 "skep/node/api/v1"
)

// column is a column of a table. What a line has beyond the least width goes to the columns that may grow, in their
// order.
type column struct {
	title      string
	least, all int  // width, and up to which it grows
	right      bool // aligned
}

type columns []column

var nodeColumns = columns{{"NODES", 13, 40, false}, {"STATE", 9, 0, false}, {"CPUS FREE", 9, 0, true},
	{"QUEUE", 6, 0, true}, {"SPEED", 5, 0, true}, {"AVAIL", 5, 0, true}, {"RTT", 6, 0, true}, {"NEWS", 5, 0, true},
	{"TAKES NO WORK", 0, 40, false}}

var jobColumns = columns{{"JOBS", 8, 0, false}, {"NAME", 11, 40, false}, {"STATE", 9, 0, false},
	{"ENDED", 8, 30, false}, {"%", 4, 0, true}, {"TASK", 4, 0, true}, {"PLACED", 6, 0, true}, {"WAIT", 4, 0, true},
	{"FAIL", 4, 0, true},
	{"AGE", 5, 0, true}, {"NODE", 7, 20, false}}

// widths returns the widths of the columns in a line; 0 = not shown.
func (c columns) widths(width int) []int {
	w := make([]int, len(c))
	room := width
	for i := range c {
		w[i] = c[i].least
		room -= c[i].least + 1
	}
	for i := range c {
		if more := min(c[i].all-c[i].least, room); more > 0 {
			w[i], room = w[i]+more, room-more
		}
	}
	return w
}

// line returns a line with cells.
func (c columns) line(width int, cells []string) string {
	var b strings.Builder
	for i, w := range c.widths(width) {
		if w == 0 {
			continue
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		cell := ansi.Truncate(cells[i], w, "…")
		pad := strings.Repeat(" ", max(0, w-ansi.StringWidth(cell)))
		if c[i].right {
			cell = pad + cell
		} else {
			cell += pad
		}
		b.WriteString(cell)
	}
	return b.String()
}

// titles returns the titles, the first with which rows are shown if these are not all.
func titles(c columns, from, to, all int) []string {
	t := make([]string, len(c))
	for i := range c {
		t[i] = c[i].title
	}
	if to-from < all {
		t[1] = fmt.Sprintf("%d-%d/%d", from+1, to, all)
	}
	return t
}

func nodeCells(m *Model, n *v1.Node) []string {
	rtt := "-"
	if n.RTT > 0 {
		rtt = m.seconds(n.RTT)
	}
	queue := "-"
	if n.Backlog > 0 {
		queue = m.seconds(n.Backlog)
	}
	return []string{cmp.Or(n.Name, v1.Short(n.ID)), n.State, fmt.Sprintf("%.3g/%.3g", n.FreeCores, n.Cores), queue,
		fmt.Sprintf("%.2f", n.Speed), fmt.Sprintf("%.0f%%", 100*n.Up), rtt, m.seconds(n.Age), n.Refuses}
}

func jobCells(m *Model, j *v1.ListedJob) []string {
	share := float64(j.Ended) / float64(max(j.Count, 1))
	state := j.State
	if j.Behind {
		state += "?"
	}
	return []string{v1.Short(j.ID), cmp.Or(j.Name, "-"), state, bar(share, jobColumns.widths(m.size.width)[3]),
		fmt.Sprintf("%d%%", int(100*share)), abbreviated(j.Count), abbreviated(j.Placed), abbreviated(j.Pending),
		abbreviated(j.Failed), m.text.Age(m.now.Sub(j.Submitted)), cmp.Or(j.OriginName, v1.Short(j.Origin))}
}

func (m *Model) seconds(s float64) string { return m.text.Age(time.Duration(s * float64(time.Second))) }

// bar draws a share of 1 in cells; what is begun is not a full cell.
func bar(share float64, cells int) string {
	full := max(0, min(int(share*float64(cells)), cells))
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full)
}

// abbreviated writes a number in at most 4 characters.
func abbreviated(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}
