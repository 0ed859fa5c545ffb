package runner

import (
	"skep/exec/process"
	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/engines"
)

// task is an attempt that runs: a *process.Process, or one that an engine runs elsewhere.
type task = engines.Process

// setKnown says that there is a process, or none will come. Runner.mu is held.
func (a *attempt) setKnown() {
	select {
	case <-a.processKnown:
	default:
		close(a.processKnown)
	}
}

// execute prepares, runs and collects an attempt; ran reports that there was a process. The result is nil if the
// start lease ran out before the process was started, for example on a slow disk.
func (r *Runner) execute(a *attempt, s grid.Start) (_ *grid.Result, ran bool) {
	began := clock.Now()
	result := func(c grid.Cause, exit int32, err error) *grid.Result {
		return &grid.Result{Cause: c, Exit: exit, Error: cutText(err.Error()), Waited: began.Sub(a.accepted)}
	}
	if err := r.joinRanks(a, s); err != nil {
		return result(grid.Failed, grid.ExitSkep, err), false
	}
	start := r.prepareAndStart
	if s.Again {
		start = r.adopt
	}
	p, err := start(a, s)
	switch {
	case err != nil:
		return startFailure(a, err, result), false
	case p == nil && r.isUnwanted(a):
		return new(grid.Result), false
	case p == nil:
		return nil, false
	}
	r.mu.Lock()
	a.process = p
	switch {
	case a.dropped:
		p.Cancel()
	case a.suspended:
		p.Suspend()
	}
	a.setKnown()
	r.mu.Unlock()
	a.stdin.started(p, s.Spec)
	r.cfg.Loop.Event(func(ev *grid.Event) { ev.Kind, ev.Attempt = grid.EvStarted, a.id })
	r.disk.add(a)
	defer r.disk.remove(a)
	end := p.Wait()
	r.release(a)
	broken := a.stdin.ended()
	if end.Cause == process.DiskExceeded { // the room is free only when they are removed
		process.Remove(process.Work(a.dir))
	}
	if r.isUnwanted(a) {
		return new(grid.Result), true
	}
	if never(p) {
		return nil, true
	}
	res := r.collect(a, &end, r.waited(a, began, &end))
	if broken != nil && res.Cause == grid.Cancelled {
		res.Exit, res.Error = grid.ExitSkep, cutText(broken.Error())
	}
	return res, true
}

// prepareAndStart prepares an attempt and starts its task; nil: too late, or nobody wants it any more.
func (r *Runner) prepareAndStart(a *attempt, s grid.Start) (task, error) {
	if err := r.top.check(&r.cfg); err != nil {
		return nil, err
	}
	if a.expanded == nil {
		run, err := r.prepare(a, s.Spec, s.Inputs)
		if err != nil {
			return nil, err
		}
		a.expanded = run
	}
	a.expanded.env = append(a.expanded.env, rankVariables(s)...)
	if a.shared != nil {
		a.expanded.env = append(a.expanded.env, a.shared.Env...)
	}
	if r.isUnwanted(a) {
		return nil, nil
	}
	return r.startTask(a, s)
}
