package runner

import (
	"fmt"
	"path/filepath"
	"time"

	"skep/exec/sandbox"
	"skep/exec/units"
	"skep/grid"
)

// formerTime is how long a start waits for the last processes of a former run. They were killed, so it takes
// milliseconds, unless one hangs in the kernel.
const formerTime = 10 * time.Second

// awaitFormer waits until no task of a former run can have a unit any more. A node without units does not wait.
func awaitFormer(data string, t *units.Table) error {
	most := formerTime
	if t.Empty() {
		most = 0
	}
	if pid := sandbox.Former(filepath.Join(data, boxFolder), most); pid > 0 && !t.Empty() {
		return fmt.Errorf("resources: process %d of a former run has not ended, and what it keeps may have some of them: "+
			"want it ended, as by a restart of the machine, or no resources", pid)
	}
	return nil
}

// grant takes what a task is to have; false = too little is free now.
func (r *Runner) grant(spec *grid.JobSpec) (*units.Grant, bool) {
	cpus := 0
	if spec.Needs.Pin {
		cpus = int(spec.Needs.CPU / grid.CPU)
	}
	return r.cfg.Units.Take(spec.Needs.Counts, cpus)
}

// release gives back what an attempt had, of which nothing runs any more. What a process keeps that hangs in the kernel
// is not given to others in this run.
func (r *Runner) release(a *attempt) {
	grant := a.grant
	if a.grant = nil; grant == nil {
		return
	}
	if grant.Any() && r.hangs(a.dir) {
		r.cfg.Log.Warn("a process of an ended task hangs, and keeps resources that no other task is given until the node "+
			"starts again", "attempt", a.id.String())
		return
	}
	r.cfg.Units.Give(grant)
}
