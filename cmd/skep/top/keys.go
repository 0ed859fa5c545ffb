package top

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// key is what a key does.
func (m *Model) key(key string) tea.Cmd {
	m.said = ""
	if key == "ctrl+c" {
		return m.quit()
	}
	if m.confirm != nil {
		job := m.confirm
		m.confirm = nil
		if key != "y" {
			m.said = "not cancelled"
			return nil
		}
		m.said = "cancelling job " + v1.Short(job.ID) + "…"
		return func() tea.Msg { // it waits until nothing of the job can start any more
			j, err := m.source.Cancel(m.ctx, job.ID)
			return cancelledMsg{j, err}
		}
	}
	if m.page != nil {
		return m.page.key(m, key)
	}
	switch key {
	case "q", "esc":
		return m.quit()
	case "tab", "shift+tab", "left", "right":
		m.onJobs = !m.onJobs
	default:
		if by, ok := steps(key, m.lines()); ok {
			m.move(by)
			return nil
		}
		return m.jobKey(key)
	}
	return nil
}

// jobKey is what a key does with the selected job.
func (m *Model) jobKey(key string) tea.Cmd {
	verbs := map[string]string{"l": "follow", "enter": "follow", "e": "explain", "c": "cancel"}
	if verbs[key] == "" {
		return nil
	}
	job := m.jobs.selected()
	switch {
	case job == nil || !m.onJobs:
		m.said = "no job is selected to " + verbs[key]
		return nil
	case key == "c" && job.Over():
		m.said = "job " + v1.Short(job.ID) + " is over"
		return nil
	case key == "c":
		copied := *job
		m.confirm = &copied
		return nil
	case key == "e":
		m.page = newPage(m.ctx, job, false)
		return m.page.explain(m)
	}
	m.page = newPage(m.ctx, job, true)
	return m.page.open(m)
}

// steps returns how far a key moves in a list of which so many lines are shown.
func steps(key string, lines int) (int, bool) {
	by, ok := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -lines, "pgdown": lines, "home": -1 << 30,
		"g": -1 << 30, "end": 1 << 30, "G": 1 << 30}[key]
	return by, ok
}

func (m *Model) move(by int) {
	if m.onJobs {
		m.jobs.move(by)
		return
	}
	m.nodes.move(by)
}

func (m *Model) quit() tea.Cmd {
	if m.page != nil {
		m.page.close()
	}
	return tea.Quit
}

// clientSource is a client as a source.
type clientSource struct {
	*client.Client
	explain func(ctx context.Context, ref string) (string, error)
}

// Logs follows a task.
func (s clientSource) Logs(ctx context.Context, ref string, task uint32) (Stream, error) {
	return s.Client.Logs(ctx, ref, task, true, 0)
}

// Explain explains a job.
func (s clientSource) Explain(ctx context.Context, ref string) (string, error) {
	return s.explain(ctx, ref)
}
