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

// How far a run has come, as far as its first interrupt goes.
const (
	preparing = iota // nothing is submitted: it just ends
	asked            // the node has been asked, and may have the job before it says so
	answered         // what is left is to print the ID of a job that nobody waits for: too late
	interrupted
)

// findTime is how long an interrupted run looks for a job that the node has been asked to take. Tests shorten it.
var findTime = 5 * time.Second

// findPause is how long it waits between two looks.
const findPause = 100 * time.Millisecond

const exitInterrupted = 128 + int(syscall.SIGINT)

// onSignals cancels the job at the first signal and leaves at the second.
func (r *running) onSignals(signals <-chan os.Signal) {
	<-signals
	if r.step.CompareAndSwap(preparing, interrupted) {
		r.stop(&exitError{exitInterrupted, errors.New("interrupted before the job was submitted")})
		return
	}
	if !r.step.CompareAndSwap(asked, interrupted) {
		return
	}
	fmt.Fprintln(r.err, "skep: cancelling the job; interrupt again to leave at once")
	go r.interrupt()
	<-signals
	if r.job.Load() == nil {
		fmt.Fprintln(r.err, "skep:", r.unsure(errors.New("interrupted")))
	}
	os.Exit(exitInterrupted)
}

// interrupt finds the job and cancels it, or ends the run with a word on what may have become of it.
func (r *running) interrupt() {
	defer close(r.ended)
	if err := r.find(); err != nil {
		r.stop(&exitError{exitInterrupted, r.unsure(err)})
		return
	}
	r.cancel()
}

// late returns how an interrupted run ends whose request ended with err. The job may be there all the same: it is cancelled first.
func (r *running) late(ctx context.Context, err error) error {
	<-r.ended
	var exit *exitError
	if errors.As(context.Cause(ctx), &exit) {
		return exit
	}
	return &exitError{exitInterrupted, err}
}

// find returns when the node has the job.
func (r *running) find() error {
	ctx, cancel := context.WithTimeout(context.Background(), findTime)
	defer cancel()
	for r.job.Load() == nil {
		j, err := r.c.Job(ctx, r.id)
		if err == nil {
			r.job.Store(&j.ID)
			break
		}
		select {
		case <-time.After(findPause):
		case <-ctx.Done():
			return fmt.Errorf("interrupted, and the node has not said in %v whether it has the job", findTime)
		}
	}
	return nil
}

// unsure says of an error that came after the node was asked to take the job what may have become of that.
func (r *running) unsure(err error) error {
	var no *client.NoNodeError
	var other *client.CertificateError
	if errors.As(err, &no) || errors.As(err, &other) { // it was not asked
		return err
	}
	return fmt.Errorf("%w: it may have been submitted: see skep job list, or end it with skep job cancel %s", err, r.id)
}

// cancel ends the job.
func (r *running) cancel() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := r.c.Cancel(ctx, r.ref()); err != nil {
		fmt.Fprintf(r.err, "skep: cancel: %v; ask again with: skep job cancel %s\n", err, r.ref())
	}
}
