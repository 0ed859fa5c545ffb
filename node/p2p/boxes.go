package p2p

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
	"skep/node/p2p/disk"
)

// Boxes are the settings of what tasks run in.
type Boxes struct {
	// Isolation is the least level that the node must reach. With none tasks run without boxes, also those of others. Default,
	// nil: as good as this machine allows, and where that is below basic the node takes no tasks of others.
	Isolation *grid.Isolation

	// Expose are files and folders of the machine that tasks see besides programs and libraries.
	Expose []sandbox.Expose

	// Hide are folders that tasks do not see though they lie in one that tasks see, as the node's data folder: those of other
	// nodes of this machine.
	Hide []string

	// TaskIDs are the user IDs of which, where the node is root, each attempt gets one. Default sandbox.DefaultRange, see sandbox.Options.
	TaskIDs sandbox.Range

	// Processes bounds the processes and threads of a task. Default 4096: more than parallel programs have, and few enough that
	// the machine goes on. Raised, a fork bomb takes longer to end. Where the node's user, its control group or the machine may have
	// few, a task gets its share of these, and the node keeps some hundreds for itself.
	Processes int64

	// Disk bounds the bytes of the files of one task. Default 0: what is free when it starts, but for DiskLow. It is looked at
	// every second or so, so a fast writer passes it by what it writes in that time.
	Disk grid.Bytes

	// Files bounds the files and folders of one task. Default 200,000; each takes an inode, of which a file system may have few.
	Files int64

	// Landlock is the newest version of Landlock to use, for tests of older kernels; 0 is whatever the kernel has, −1 none.
	Landlock int
}

func (b *Boxes) defaults() error {
	setDefault(&b.Processes, 4096)
	setDefault(&b.Files, 200_000)
	if b.Processes < 1 || b.Files < 1 || b.Disk < 0 {
		return fmt.Errorf("bounds of tasks: %d processes, %d files, %d bytes: want at least 1, 1 and 0", b.Processes, b.Files, b.Disk)
	}
	return nil
}

// open makes the runner of tasks, and reports whether the node takes tasks of others.
func (b *Boxes) open(data, work string, slots int, warn func(string, error)) (r *process.Runner, private bool, err error) {
	asked := grid.IsolationBasic
	if b.Isolation != nil {
		asked = *b.Isolation
	}
	r, err = process.New(process.Options{Sandbox: sandbox.Options{Level: asked, Work: work, Dir: filepath.Join(data, "box"),
		Hidden: append([]string{data}, b.Hide...), Expose: b.Expose, IDs: b.TaskIDs, Slots: slots, Landlock: b.Landlock, Warn: warn}})
	if err != nil {
		return nil, false, err
	}
	level, findings := r.Isolation()
	if b.Isolation != nil && level < asked {
		r.Close()
		return nil, false, fmt.Errorf("isolation %v is asked for, and this machine has %v: %s", asked, level, sandbox.Explain(findings))
	}
	return r, asked != grid.IsolationNone && level < grid.IsolationBasic, nil
}

// openTasks ends what a former run left behind and makes ready to run tasks.
func (d *Driver) openTasks() error {
	work := filepath.Join(d.cfg.DataDir, "work")
	if n, err := process.Reap(work); err != nil {
		return err
	} else if n > 0 {
		d.log.Info("ended tasks of a former run", "processes", n)
	}
	if err := clearWork(work); err != nil {
		d.log.Warn("what tasks of a former run left stays", "error", err)
	}
	capacity, err := d.cfg.capacity()
	if err != nil {
		return err
	}
	slots := int((capacity.CPU + grid.CPU - 1) / grid.CPU)
	runner, private, err := d.cfg.Boxes.open(d.cfg.DataDir, work, slots, func(what string, err error) { d.log.Warn(what, "error", err) })
	if err != nil {
		return err
	}
	d.private = private
	if os.Geteuid() == 0 && !runner.Boxed() { // tasks have user IDs of their own, and pass through it to their folders
		if err := os.Chmod(d.cfg.DataDir, 0o711); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
		if err := runner.Passable(work); err != nil {
			runner.Close()
			return fmt.Errorf("data folder: %w", err)
		}
	}
	d.tasks = newTasks(d, runner, work)
	d.tasks.memory = capacity.Memory
	d.sayIsolation()
	d.later(d.tasks.close)
	d.fetches = newFetcher(d)
	return nil
}

// clearWork removes the folder of attempts of a former run, and what earlier starts could not remove. What cannot be removed is
// moved aside, for another start to try again: no task keeps a node from starting.
func clearWork(work string) error {
	var problems []error
	entries, _ := os.ReadDir(filepath.Dir(work))
	for _, d := range entries {
		if strings.HasPrefix(d.Name(), filepath.Base(work)+asideSuffix) {
			problems = append(problems, process.Remove(filepath.Join(filepath.Dir(work), d.Name())))
		}
	}
	if err := process.Remove(work); err != nil {
		problems = append(problems, err, os.Rename(work, fmt.Sprintf("%s%s%016x", work, asideSuffix, rand.Uint64())))
	}
	return errors.Join(problems...)
}

// asideSuffix is what the names of folders that could not be removed begin with, behind that of the folder of attempts.
const asideSuffix = ".left-"

// sayIsolation tells the operator what holds, and what does not and why.
func (d *Driver) sayIsolation() {
	level, findings := d.tasks.runner.Isolation()
	args := []any{"level", level.String()}
	for i, f := range findings {
		args = append(args, fmt.Sprint("finding", i+1), f.String())
	}
	switch {
	case d.private:
		d.log.Warn("tasks are not isolated, so this node takes none of others: it does with --isolation none", args...)
	case level == grid.IsolationNone:
		d.log.Warn("tasks are not isolated: they can do what the node's user can", args...)
	default:
		d.log.Info("tasks are isolated", args...)
	}
	if n, by := d.tasks.runner.Processes(); n > 0 && n < d.cfg.Boxes.Processes {
		d.log.Info("tasks may have fewer processes than is set", "processes", n, "set", d.cfg.Boxes.Processes, "bound", by)
	}
}

// Isolation is the level that tasks are kept at here, and what is missing for a higher one.
func (d *Driver) Isolation() (grid.Isolation, []sandbox.Finding) { return d.tasks.runner.Isolation() }

// diskBound is what the files of a task that starts now may have together, in bytes.
func (c *Config) diskBound() grid.Bytes {
	if c.Boxes.Disk > 0 {
		return c.Boxes.Disk
	}
	free, err := disk.Free(c.DataDir)
	if err != nil {
		return 0
	}
	return max(free-c.DiskLow, free/2, 1)
}

// isolationLabel is what a node says of itself, so that needs can name it.
func isolationLabel(level grid.Isolation) grid.Label {
	return grid.Label{Key: grid.IsolationLabel, Value: level.String()}
}

// fixedLabels are what the machine is, which no operator can say otherwise.
var fixedLabels = []string{"os", "arch", grid.IsolationLabel}

// isFixed reports whether a label is one of them.
func isFixed(key string) bool {
	for _, k := range fixedLabels {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}
