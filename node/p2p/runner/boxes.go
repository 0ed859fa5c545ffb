package runner

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"skep/exec/intact"
	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/exec/units"
	"skep/grid"
	"skep/node/p2p/engines"
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

	// Engine has tasks run elsewhere than on this machine, without its boxes. Default: they are processes of this machine.
	Engine engines.Options

	// NoTUN leaves /dev/net/tun alone, as on a machine that has none: gangs run here only with network: host or with
	// named ports. Default false.
	NoTUN bool
}

// Defaults sets the defaults and checks b.
func (b *Boxes) Defaults() error {
	if err := b.Engine.Check(b.Isolation, len(b.Expose)+len(b.Hide) > 0); err != nil {
		return err
	}
	b.Processes, b.Files = cmp.Or(b.Processes, 4096), cmp.Or(b.Files, 200_000)
	if b.Processes < 1 || b.Files < 1 || b.Disk < 0 {
		return fmt.Errorf("bounds of tasks: %d processes, %d files, %d bytes: want at least 1, 1 and 0", b.Processes, b.Files,
			b.Disk)
	}
	return nil
}

// open makes the runner of tasks; private reports that the node takes no tasks of others.
func (b *Boxes) open(data, work string, slots int, t *units.Table, warn func(string, error)) (r *process.Runner,
	private bool, err error) {
	asked := grid.IsolationBasic
	if b.Isolation != nil {
		asked = *b.Isolation
	}
	level := asked
	if b.Engine.Elsewhere() { // on the compute nodes there are no boxes, whatever this machine could have
		level = grid.IsolationNone
	}
	r, err = process.New(process.Options{Sandbox: sandbox.Options{Level: level, Work: work,
		Dir:    filepath.Join(data, boxFolder),
		Hidden: append([]string{data}, b.Hide...), Expose: exposed(b.Expose, t), Devices: t.Devices(), IDs: b.TaskIDs,
		Slots: slots, Landlock: b.Landlock,
		Warn: warn}})
	if err != nil {
		return nil, false, err
	}
	level, findings := r.Isolation()
	where := "this machine"
	if there, known := b.Engine.Isolation(); known {
		level, findings, where = there, nil, "what runs its tasks"
	}
	if b.Isolation != nil && level < asked {
		r.Close()
		return nil, false, fmt.Errorf("isolation %v is asked for, and %s has %v: %s", asked, where, level,
			sandbox.Explain(findings))
	}
	return r, asked != grid.IsolationNone && level < grid.IsolationBasic, nil
}

// exposed adds what tasks with units read to what the operator shows.
func exposed(own []sandbox.Expose, t *units.Table) []sandbox.Expose {
	all := slices.Clone(own)
	for _, path := range t.Reads() {
		all = append(all, sandbox.Expose{Path: path})
	}
	return all
}

// boxFolder is the folder of the sandbox in a data folder.
const boxFolder = "box"

// openBoxes ends the tasks of a former run and gets ready to run tasks in dir.
func openBoxes(c *Config) (dir string, r *process.Runner, private bool, err error) {
	dir = filepath.Join(c.DataDir, "work")
	if n, err := process.Reap(dir); err != nil {
		return dir, nil, false, err
	} else if n > 0 {
		c.Log.Info("ended tasks of a former run", "processes", n)
	}
	if err := clearWork(dir); err != nil {
		c.Log.Warn("what tasks of a former run left stays", "error", err)
	}
	if err := awaitFormer(c.DataDir, c.Units); err != nil {
		return dir, nil, false, err
	}
	slots := int((c.Capacity.CPU + grid.CPU - 1) / grid.CPU)
	warn := func(what string, err error) { c.Log.Warn(what, "error", err) }
	r, private, err = c.Boxes.open(c.DataDir, dir, slots, c.Units, warn)
	if err != nil {
		return dir, nil, false, err
	}
	// tasks of this machine have user IDs of their own, and need to traverse it to their folders
	if os.Geteuid() == 0 && !r.Boxed() && !c.Boxes.Engine.Elsewhere() {
		err := os.Chmod(c.DataDir, 0o711)
		if err == nil {
			err = r.Passable(dir)
		}
		if err != nil {
			r.Close()
			return dir, nil, false, fmt.Errorf("data folder: %w", err)
		}
	}
	return dir, r, private, nil
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
func (r *Runner) logIsolation() {
	level, findings := r.Isolation()
	args := []any{"level", level.String()}
	for i, f := range findings {
		args = append(args, fmt.Sprint("finding", i+1), f.String())
	}
	log := r.cfg.Log
	switch {
	case r.private:
		log.Warn("tasks are not isolated, so this node takes none of others: it does with --isolation none", args...)
	case level == grid.IsolationNone:
		log.Warn("tasks are not isolated: they can do what the node's user can", args...)
	default:
		log.Info("tasks are isolated", args...)
	}
	if n, by := r.processes.Processes(); n > 0 && n < r.cfg.Boxes.Processes {
		log.Info("tasks may have fewer processes than is set", "processes", n, "set", r.cfg.Boxes.Processes, "bound", by)
	}
}

// topFolder is the folder of attempts. Boxes have the one that was there when the node started, and cannot be given
// another: once it is taken away no task can begin here, and each would be tried in vain.
type topFolder struct {
	files intact.Files
	boxed bool
	told  sync.Once
}

func (f *topFolder) made(dir string, boxed bool) error {
	if f.boxed = boxed; !boxed {
		return nil // it is made again with the next folder of an attempt
	}
	return f.files.Made(dir)
}

// check ends the node if the folder was taken away. Where the whole data folder was, the store finds that.
func (f *topFolder) check(c *Config) error {
	if !f.boxed {
		return nil
	}
	err := f.files.FolderGone()
	if !errors.Is(err, intact.ErrTaken) {
		return err
	}
	if _, err := os.Stat(c.DataDir); err != nil {
		return err
	}
	f.told.Do(func() {
		c.Fatal(fmt.Errorf("no task can begin here until the node is started again: the folder of all attempts, %w", err))
	})
	return err
}
