package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/engines"
	"skep/node/p2p/secrets"
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

// Secrets gets the secrets of attempts.
type Secrets interface {
	// Fetch gets those of an attempt. An error wraps secrets.ErrAway if the attempt may get them later.
	Fetch(ctx context.Context, id grid.AttemptID, spec *grid.JobSpec, given *grid.Given) ([]secrets.Value, error)
}

// given is what an attempt has got of its secrets. Only the goroutine that runs it uses this.
type given struct {
	secrets []secrets.Value // until its process starts
	away    string          // why it has not: no node that holds them answers; "" = that is not so
}

// GivesSecrets reports whether tasks with secrets can run here: they are in boxes of this machine.
func (r *Runner) GivesSecrets() bool {
	return r.away == nil && r.processes.Boxed() && r.cfg.Secrets != nil
}

// fetchSecrets gets the secrets of an attempt, unless it has them from a start that was too late, and reports whether
// the attempt can go on. They are kept nowhere but in memory.
func (r *Runner) fetchSecrets(a *attempt, s *grid.Start) (bool, error) {
	a.given.away = ""
	if len(s.Spec.Secrets) == 0 || a.given.secrets != nil {
		return true, nil
	}
	if !r.GivesSecrets() {
		return false, errors.New("secrets: tasks here are in no box, and only those get them")
	}
	ctx, cancel := r.inputsContext(a)
	defer cancel()
	values, err := r.cfg.Secrets.Fetch(ctx, a.id, s.Spec, s.Given)
	if errors.Is(err, secrets.ErrAway) {
		a.given.away = cutText(err.Error())
		return false, nil
	}
	for _, v := range values {
		if v.Env != "" && bytes.IndexByte(v.Value, 0) >= 0 { // later errors would quote it
			return false, fmt.Errorf("secret %s: has a zero byte, so it can be no variable: want it without %s", v.Name, v.Env)
		}
	}
	a.given.secrets = values
	return err == nil, err
}

// giveSecrets adds the secrets of an attempt to what is to run.
func (a *attempt) giveSecrets(run *process.Spec) {
	for _, v := range a.given.secrets {
		run.Secrets = append(run.Secrets, sandbox.Secret{Name: v.Name, Value: v.Value})
		if v.Env != "" {
			run.Env = append(run.Env, v.Env+"="+string(v.Value))
		}
	}
}
