package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"skep/node/api/client"
)

// States of a run that its first interrupt distinguishes.
const (
	preparing = iota // nothing is submitted: an interrupt just ends the run
	requested        // the node was asked, and may have the job before it answers
	answered         // only the ID of a detached job is left to print: too late to interrupt
	interrupted
)

// findTimeout is how long an interrupted run looks for a job that it asked the node to take. Tests shorten it.
var findTimeout = 5 * time.Second

// findInterval is the pause between two queries.
const findInterval = 100 * time.Millisecond

const exitInterrupted = 128 + int(syscall.SIGINT)

// onSignals cancels the job at the first signal and exits at the second.
func (r *running) onSignals(signals <-chan os.Signal) {
	<-signals
	if r.state.CompareAndSwap(preparing, interrupted) {
		r.stop(&exitError{exitInterrupted, errors.New("interrupted before the job was submitted")})
		return
	}
	if !r.state.CompareAndSwap(requested, interrupted) {
		return
	}
	r.tty.Restore()
	fmt.Fprintln(r.err, "skep: cancelling the job; interrupt again to leave at once")
	go r.interrupt()
	<-signals
	if r.job.Load() == nil {
		fmt.Fprintln(r.err, "skep:", r.maybeSubmitted(errors.New("interrupted")))
	}
	r.line.Close()
	os.Exit(exitInterrupted)
}

// interrupt finds the job and cancels it, or ends the run with an error that says what may have become of it.
func (r *running) interrupt() {
	defer close(r.cancelDone)
	if err := r.awaitJob(); err != nil {
		r.stop(&exitError{exitInterrupted, r.maybeSubmitted(err)})
		return
	}
	r.cancel()
}

// endInterrupted returns the error of an interrupted run whose request ended with err. The job may exist all the same:
// it is cancelled first.
func (r *running) endInterrupted(ctx context.Context, err error) error {
	<-r.cancelDone
	var exit *exitError
	if errors.As(context.Cause(ctx), &exit) {
		return exit
	}
	return &exitError{exitInterrupted, err}
}

// awaitJob returns when the node has the job.
func (r *running) awaitJob() error {
	ctx, cancel := context.WithTimeout(context.Background(), findTimeout)
	defer cancel()
	for r.job.Load() == nil {
		j, err := r.c.Job(ctx, r.id)
		if err == nil {
			r.job.Store(&j.ID)
			break
		}
		select {
		case <-time.After(findInterval):
		case <-ctx.Done():
			return fmt.Errorf("interrupted, and the node has not said in %v whether it has the job", findTimeout)
		}
	}
	return nil
}

// maybeSubmitted adds to an error, which came after the node was asked to take the job, that the job may have been
// submitted.
func (r *running) maybeSubmitted(err error) error {
	var no *client.NoNodeError
	var other *client.CertificateError
	if errors.As(err, &no) || errors.As(err, &other) { // the request was not sent
		return err
	}
	return fmt.Errorf("%w: it may have been submitted: see skep job list, or end it with skep job cancel %s", err, r.id)
}

// cancel cancels the job.
func (r *running) cancel() {
	ctx, cancel := context.WithTimeout(context.Background(), reconnectTimeout)
	defer cancel()
	if _, err := r.c.Cancel(ctx, r.ref()); err != nil {
		fmt.Fprintf(r.err, "skep: cancel: %v; ask again with: skep job cancel %s\n", err, r.ref())
	}
}
