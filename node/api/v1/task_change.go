package v1

// TaskChange is what became of the tasks of a job that were to be cancelled, or run again.
type TaskChange struct {
	Job   Job    `json:"job"`
	Tasks string `json:"tasks" doc:"Those that were cancelled, or are run again, as in 0-9,12,20-30:2; empty: none."`
	Count int    `json:"task_count" doc:"How many these are."`
	Ended string `json:"already_ended,omitempty" doc:"Those that had ended before, which is left as it is."`
}
