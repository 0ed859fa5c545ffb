package testnet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ChaosConfig is what a run of faults is like.
type ChaosConfig struct {
	Seed uint64 // of faults, jobs and whom they are submitted to; the same one repeats the schedule

	// Duration is how long faults come, Every how far they are apart. Limit bounds the wait for what is left when all
	// faults are over.
	Duration, Every, Limit time.Duration

	Tasks   int // in all
	JobSize int // tasks of a job

	// Origins lets some killed nodes stay dead for good, also such to which jobs were submitted. Their jobs are then
	// asked about at other nodes.
	Origins bool

	// Deaths, if not 0, has that many nodes die for good one after the other, folder and all, in place of all other
	// faults, and as many join in between: as many as Options.Later. Half of the jobs run their tasks at most once then.
	Deaths int

	// Processes leaves out what processes on loopback cannot suffer.
	Processes bool

	// Note is told what happens. It may be nil.
	Note func(format string, args ...any)

	// History, if not nil, gets every acknowledged call as a line of JSON.
	History io.Writer
}

// Check reports everything that is wrong with c.
func (c *ChaosConfig) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Duration < time.Second || c.Duration > time.Hour {
		bad("duration %v: want 1s to 1h", c.Duration)
	}
	if c.Every < 500*time.Millisecond || c.Every > c.Duration {
		bad("every %v: want 500ms to the duration, %v", c.Every, c.Duration)
	}
	if c.Limit < time.Second || c.Limit > time.Hour {
		bad("limit %v: want 1s to 1h", c.Limit)
	}
	if c.Tasks < 1 || c.Tasks > 1_000_000 {
		bad("tasks %d: want 1 to 1000000", c.Tasks)
	}
	if c.JobSize < 1 || c.JobSize > 10_000 {
		bad("tasks of a job %d: want 1 to 10000", c.JobSize)
	}
	return errors.Join(errs...)
}

// chaos is a run of faults.
type chaos struct {
	t      *Net
	c      *ChaosConfig
	log    string // that tasks write to
	faults []Fault
	h      *history

	work    sync.WaitGroup // what goes on beside the load
	hurting sync.WaitGroup // faults under way
	refused atomic.Int64   // submissions that nobody acknowledged

	mu       sync.Mutex
	deaths   []death
	harms    []*harm
	gone     map[string]bool // dead for good, or not there yet
	troubles []string        // faults that could not be done or undone
}

// ChaosLog is the file in the shared folder that tasks write to.
const ChaosLog = "log"

// Chaos submits jobs to the testnet while its nodes fail, waits until all are over, and reports whether anything was
// lost. The testnet must have a shared folder. An error is one of the run, never of what it found.
func (t *Net) Chaos(ctx context.Context, c ChaosConfig) (*Report, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if t.state.Spec.Shared == "" {
		return nil, errors.New("chaos: the testnet has no shared folder")
	}
	if _, err := os.Stat("/proc/uptime"); err != nil {
		return nil, fmt.Errorf("chaos: tasks read the time in /proc: %w", err)
	}
	var names []string
	for _, n := range t.state.Nodes {
		names = append(names, n.Name)
	}
	x := &chaos{t: t, c: &c, log: filepath.Join(t.state.Spec.Shared, ChaosLog), faults: Schedule(names, &c),
		h: newHistory(), gone: map[string]bool{}}
	for _, name := range c.newcomers(names) {
		x.gone[name] = true // until it joins
	}
	if c.History != nil {
		x.h.file = json.NewEncoder(c.History)
	}
	if err := makeLog(x.log); err != nil {
		return nil, fmt.Errorf("chaos: %w", err)
	}
	began := time.Now()
	if err := x.run(ctx); err != nil {
		return nil, err
	}
	r, err := x.audit(ctx)
	if err != nil {
		return nil, err
	}
	r.Elapsed = time.Since(began).Seconds()
	return r, nil
}

// makeLog makes the file that tasks write to, whatever user each runs as.
func makeLog(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o666), f.Close()) // not less by the umask
}

func (x *chaos) note(format string, args ...any) {
	if x.c.Note != nil {
		x.c.Note(format, args...)
	}
}

// run does everything up to the moment when all jobs are over, or the limit is.
func (x *chaos) run(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var watch sync.WaitGroup
	watch.Go(func() { x.watch(watching) })
	var failed error
	x.work.Go(func() { failed = x.load(ctx) })
	x.afflictAll(ctx)
	x.note("%6.1f s  all faults are over", x.c.Duration.Seconds())
	if err := x.recover(ctx); err != nil {
		return fmt.Errorf("chaos: recover: %w", err)
	}
	limit, over := context.WithTimeout(ctx, x.c.Limit)
	defer over()
	x.work.Wait()
	if failed != nil {
		return fmt.Errorf("chaos: submit: %w", failed)
	}
	for x.open() > 0 && limit.Err() == nil {
		_ = pause(limit, 100*time.Millisecond)
	}
	stop()
	watch.Wait()
	return ctx.Err()
}

// open returns how many jobs are not over yet, as far as it is known.
func (x *chaos) open() (n int) {
	for _, id := range x.h.list() {
		if !x.h.job(id).over {
			n++
		}
	}
	return n
}

// others returns the names of the other nodes.
func (x *chaos) others(names []string) (rest []string) {
	for _, n := range x.t.state.Nodes {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+n.Name+" ") {
			rest = append(rest, n.Name)
		}
	}
	return rest
}
