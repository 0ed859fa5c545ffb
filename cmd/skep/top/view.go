package top

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	v1 "skep/node/api/v1"
)

// Least size of a terminal in which the view is shown.
const (
	minWidth  = 60
	minHeight = 10
)

// styles are how lines are drawn. They have no colours, which terminals show each in their own way.
type styles struct{ head, title, marked, faint ansi.Style }

func newStyles() styles {
	s := ansi.NewStyle()
	return styles{head: s.Bold(), title: s.Reverse(true), marked: s.Bold().Reverse(true), faint: s.Faint()}
}

// View returns the whole screen.
func (m *Model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	v.WindowTitle = "skep top"
	return v
}

// screen returns the lines of the screen, exactly as many as it has.
func (m *Model) screen() string {
	w, h := m.size.width, m.size.height
	switch {
	case w == 0:
		return ""
	case w < minWidth || h < minHeight:
		want := fmt.Sprintf("skep top: want a terminal of %d × %d at least; q quits", minWidth, minHeight)
		return ansi.Truncate(want, w, "")
	}
	st := newStyles()
	lines := []string{st.head.Styled(fit(m.header(), w))}
	if m.page != nil {
		lines = append(lines, m.page.view(m, &st)...)
	} else {
		lines = append(lines, m.tables(&st)...)
	}
	for len(lines) < h-1 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines[:h-1], st.faint.Styled(fit(m.footer(), w))), "\n")
}

// header says what the grid has, or that the node does not answer.
func (m *Model) header() string {
	var free, all float64
	name := ""
	for i := range m.nodes.rows {
		n := &m.nodes.rows[i]
		free, all = free+n.FreeCores, all+n.Cores
		if n.State == v1.NodeSelf {
			name = cmp.Or(n.Name, v1.Short(n.ID))
		}
	}
	clock := m.now.Format(time.TimeOnly)
	if m.failed != nil {
		since := "it has not answered yet"
		if !m.heard.IsZero() {
			since = "what is shown is " + m.text.Age(m.now.Sub(m.heard)) + " old"
		}
		return fmt.Sprintf("skep top %s: the node does not answer, %s: %s", clock, since, m.failed)
	}
	open := 0
	for i := range m.jobs.rows {
		if !m.jobs.rows[i].Over() {
			open++
		}
	}
	s := fmt.Sprintf("skep top %s at %s: %d nodes, %.3g of %.3g cpus free; %d jobs, %d open", clock, cmp.Or(name, "…"),
		len(m.nodes.rows), free, all, len(m.jobs.rows), open)
	if m.silent > 0 {
		s += fmt.Sprintf("; %d nodes silent", m.silent)
	}
	return s
}

// footer asks, answers a key, or says which keys there are.
func (m *Model) footer() string {
	switch {
	case m.confirm != nil:
		return fmt.Sprintf("cancel job %s (%d of %d tasks ended)? y: yes, any other key: no   %s", v1.Short(m.confirm.ID),
			m.confirm.Ended, m.confirm.Count, m.confirm.Name)
	case m.said != "":
		return m.text.Clean(m.said)
	case m.page != nil && m.page.logs && m.page.job.Count > 1:
		return "↑↓ scroll   ←→ other tasks   esc back"
	case m.page != nil:
		return "↑↓ scroll   esc back"
	}
	return "↑↓ move   tab nodes or jobs   l logs   e explain   c cancel   q quit"
}

// nodeLines returns the lines for nodes.
func (m *Model) nodeLines() int {
	body := m.size.height - 4 // header, two titles, footer
	most := max(2, body/3)
	if !m.onJobs {
		most = max(2, body/2)
	}
	return min(max(1, len(m.nodes.rows)), most)
}

// lines returns the lines of the table in which the keys move.
func (m *Model) lines() int {
	if m.onJobs {
		return m.size.height - 4 - m.nodeLines()
	}
	return m.nodeLines()
}

// pageLines returns the lines of a page's text.
func (m *Model) pageLines() int { return max(1, m.size.height-3) }

func (m *Model) tables(st *styles) []string {
	w := m.size.width
	n := m.nodeLines()
	from, to := m.nodes.shown(n)
	lines := []string{st.title.Styled(fit(nodeColumns.line(w, titles(nodeColumns, from, to, len(m.nodes.rows))), w))}
	for i := from; i < to; i++ {
		line := fit(nodeColumns.line(w, nodeCells(m, &m.nodes.rows[i])), w)
		lines = append(lines, m.mark(st, line, !m.onJobs && i == m.nodes.at))
	}
	for len(lines) < 1+n {
		lines = append(lines, "")
	}
	from, to = m.jobs.shown(m.size.height - 4 - n)
	lines = append(lines, st.title.Styled(fit(jobColumns.line(w, titles(jobColumns, from, to, len(m.jobs.rows))), w)))
	for i := from; i < to; i++ {
		line := fit(jobColumns.line(w, jobCells(m, &m.jobs.rows[i])), w)
		lines = append(lines, m.mark(st, line, m.onJobs && i == m.jobs.at))
	}
	return lines
}

func (m *Model) mark(st *styles, line string, selected bool) string {
	switch {
	case selected:
		return st.marked.Styled(line)
	case m.failed != nil:
		return st.faint.Styled(line)
	}
	return line
}

// fit cuts a line at a width and fills it up.
func fit(s string, width int) string {
	s = ansi.Truncate(s, width, "…")
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

func (p *page) view(m *Model, st *styles) []string {
	what := "explanation of"
	if p.logs {
		what = fmt.Sprintf("output of task %d of", p.task)
	}
	title := fmt.Sprintf("%s job %s %s", what, v1.Short(p.job.ID), p.job.Name)
	if p.state != "" {
		title += ": " + p.state
	}
	all := p.all(m)
	to := max(0, len(all)-p.below)
	from := max(0, to-m.pageLines())
	if p.below > 0 {
		title += fmt.Sprintf(" (to line %d of %d)", to, len(all))
	}
	lines := []string{st.title.Styled(fit(m.text.Clean(title), m.size.width))}
	for _, line := range all[from:to] {
		lines = append(lines, ansi.Truncate(line, m.size.width, "…"))
	}
	return lines
}
