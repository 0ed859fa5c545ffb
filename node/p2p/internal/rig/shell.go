package rig

import "skep/grid"

// Sh returns the spec of a job of one task that runs a script of the shell.
func Sh(script string) *grid.JobSpec {
	return &grid.JobSpec{Engine: grid.EngineProcess, Command: []string{"sh", "-c", script}, Count: 1,
		Needs: grid.Needs{Resources: grid.Resources{CPU: 100}}}
}
