package v1

import "skep/grid"

// JobTasks are how many tasks of a job that have not ended are how far.
type JobTasks struct {
	Pending int `json:"pending" doc:"Tasks that look for a node."`
	Queued  int `json:"queued" doc:"Of placed, those that wait at their node, or of which that has not said yet that they run."`
	Running int `json:"running" doc:"Of placed, those that have started."`
}

// Phases of a task that has a node.
const (
	PhaseQueued    = "queued"
	PhaseRunning   = "running"
	PhaseSuspended = "suspended" // it runs, and its node has stopped it in place for a task that bids more
)

// Progress is what a task says of itself in $SKEP_PROGRESS.
type Progress struct {
	Done     float64 `json:"done"`
	Total    float64 `json:"total" doc:"0: not known."`
	Text     string  `json:"text,omitempty"`
	Rejected uint32  `json:"rejected_lines,omitempty" doc:"Lines that were not understood."`
}

// ProgressOf returns what a task has said; nil if nothing.
func ProgressOf(p *grid.Progress) *Progress {
	if p == nil {
		return nil
	}
	return &Progress{Done: p.Done, Total: p.Total, Text: p.Text, Rejected: p.Rejected}
}

// At returns what a task is doing: its state, or queued or running of one that has a node.
func (t *Task) At() string {
	if t.Phase != "" {
		return t.Phase
	}
	return t.State
}
