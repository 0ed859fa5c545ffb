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

// Boxes holds the settings of the sandbox that tasks run in.
type Boxes struct {
	// Isolation is the lowest isolation level that the node must reach. With none, all tasks run without a sandbox,
	// also those of others. Default, nil: the best level of this machine; where that is below basic, the node takes
	// no tasks of others.
	Isolation *grid.Isolation

	// Expose lists files and folders of the machine that tasks see besides programs and libraries.
	Expose []sandbox.Expose

	// Hide lists folders hidden from tasks though they lie in one that tasks see, as the node's data folder is:
	// those of other nodes of this machine.
	Hide []string

	// TaskIDs is the range of user IDs of which, if the node is root, each attempt gets one. Default
	// sandbox.DefaultRange, see sandbox.Options.
	TaskIDs sandbox.Range

	// Processes bounds the processes and threads of a task. Default 4096: more than parallel programs have, and few
	// enough that the machine keeps running. With more, a fork bomb takes longer to end. Where the node's user, its
	// control group or the machine has a low limit, a task gets its share of it, and the node keeps some hundreds
	// for itself.
	Processes int64

	// Disk bounds the bytes of the files of one task. Default 0: what is free when it starts, less DiskLow. Usage
	// is measured about every second, so a fast writer exceeds the bound by what it writes in that time.
	Disk grid.Bytes

	// Files bounds the files and folders of one task. Default 200,000; each takes an inode, of which a file system
	// may have few.
	Files int64

	// Landlock is the newest version of Landlock to use, for tests of older kernels; 0 = the kernel's, −1 = none.
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

// open makes the runner of tasks; private reports that the node takes no tasks of others.
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

// openTasks ends the tasks of a former run and gets ready to run tasks.
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
	if os.Geteuid() == 0 && !runner.Boxed() { // tasks have user IDs of their own, and need to traverse it to their folders
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
	d.logIsolation()
	d.onClose(d.tasks.close)
	d.fetches = newFetcher(d)
	return nil
}

// clearWork removes the folder of attempts of a former run, and what earlier starts could not remove. What cannot
// be removed is renamed, for another start to try again: no task can keep a node from starting.
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

// asideSuffix follows the name of the folder of attempts in the names of folders that could not be removed.
const asideSuffix = ".left-"

// logIsolation logs the isolation level, and what is missing for a higher one and why.
func (d *Driver) logIsolation() {
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

// Isolation returns the isolation level of tasks here, and what is missing for a higher one.
func (d *Driver) Isolation() (grid.Isolation, []sandbox.Finding) { return d.tasks.runner.Isolation() }

// diskBound returns the bound of the files of a task that starts now, in bytes.
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

// isolationLabel returns the node's label of an isolation level, which needs can name.
func isolationLabel(level grid.Isolation) grid.Label {
	return grid.Label{Key: grid.IsolationLabel, Value: level.String()}
}

// fixedLabels are properties of the machine, which the operator cannot override.
var fixedLabels = []string{"os", "arch", grid.IsolationLabel}

// isFixed reports whether a label is one of fixedLabels.
func isFixed(key string) bool {
	for _, k := range fixedLabels {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}
