package v1

// Drain is the progress of draining a node: it takes no new tasks until it may be stopped.
type Drain struct {
	Node     string  `json:"node"`
	Name     string  `json:"name,omitempty"`
	Draining bool    `json:"draining"`
	Over     bool    `json:"may_be_stopped" doc:"Nobody's work waits for it."`
	Left     float64 `json:"seconds_left" doc:"Until what still runs is stopped and runs again elsewhere."`
	Queued   int     `json:"queued" doc:"Tasks of nodes that are not connected, handed back when they are."`
	Running  int     `json:"running"`
	Unsaved  int     `json:"results_unsaved" doc:"Results that their jobs' nodes are still to save."`
	Own      int     `json:"own_jobs" doc:"Unfinished jobs submitted to it that no other node can bring to an end."`
}
