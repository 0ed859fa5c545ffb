package runner

import (
	"fmt"
	"os"
	"slices"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
)

// maxFolderLabels bounds the exposed folders that a node tells others of: its labels go wherever its ad does.
const maxFolderLabels = 16

// Labels returns a label for each exposed folder that tasks may ask for as their work folder or home, and a warning for
// each that they may not as it was meant. More folders than a node may tell others of are an error.
func (b *Boxes) Labels(root bool) (labels []grid.Label, problems []error, err error) {
	for i := range b.Expose {
		e := &b.Expose[i]
		if info, err := os.Stat(e.Path); err != nil || !info.IsDir() {
			continue // as a device
		}
		// what a task of a root writes belongs to an ID that nobody has, unless it runs as an account
		writable := e.Writable && (!root || e.As != "")
		label, can := grid.ExposedLabel(e.Path, writable)
		switch {
		case !can:
			problems = append(problems, fmt.Errorf("expose %s: tasks see it and cannot ask for it with --workdir or --home: "+
				"its path is too long, or has '=', ',' or a space in it", e))
		case slices.Contains(labels, label): // for another account
		case len(labels) == maxFolderLabels:
			return nil, nil, fmt.Errorf("expose %s: is one folder more that tasks may ask for than a node tells others of: "+
				"want at most %d, or a folder that several are in", e, maxFolderLabels)
		default:
			labels = append(labels, label)
			if e.Writable && !writable {
				problems = append(problems, fmt.Errorf("expose %s: tasks cannot ask for it with --workdir: on a node of root "+
					"their files there would be nobody's: want :as=USER:for=NAME with it", e))
			}
		}
	}
	return labels, problems, nil
}

// account returns the account of this machine as which a job's tasks run here; the zero one if they run as all do. The
// error is a *process.ExecError: another node may expose the folders.
func (b *Boxes) account(spec *grid.JobSpec, root bool) (as process.Account, err error) {
	if spec.Folders == nil {
		return as, nil
	}
	for _, a := range [...]struct {
		what, folder string
		writable     bool
	}{{"workdir", spec.Folders.Work, true}, {"home", spec.Folders.Home, false}} {
		if a.folder == "" {
			continue
		}
		refuse := func(format string, args ...any) error {
			return &process.ExecError{Cause: process.CannotExecute, Path: a.what + " " + a.folder,
				Err: fmt.Errorf(format, args...)}
		}
		e := b.covering(a.folder, &spec.Submitter)
		switch {
		case e == nil:
			return as, refuse("this node exposes no folder that it is in")
		case a.writable && !e.Writable:
			return as, refuse("this node exposes %s for reading only", e.Path)
		case a.writable && root && e.As == "":
			return as, refuse("this node runs tasks as users without a name, and exposes %s as nobody's", e.Path)
		case !e.Admits(&spec.Submitter):
			return as, refuse("this node exposes %s as %s, and not for %q", e.Path, e.As, spec.Submitter.User)
		case e.As == "":
			continue
		case as.Name != "" && as.Name != e.As:
			return as, refuse("this node exposes it as %s, and the work folder as %s", e.As, as.Name)
		}
		ids, err := e.Grant.IDs()
		if err != nil {
			return as, refuse("%w", err)
		}
		as = process.Account{UID: ids.User, GID: ids.Group, Name: e.As}
	}
	return as, nil
}

// refuses reports whether a job's tasks do not run here for the folders that they ask for.
func (r *Runner) refuses(spec *grid.JobSpec) bool {
	if spec == nil {
		return false
	}
	_, err := r.cfg.Boxes.account(spec, os.Geteuid() == 0)
	return err != nil
}

// covering returns the innermost exposed folder that a folder is in, of several the one for that submitter; nil if
// there is none.
func (b *Boxes) covering(folder string, by *grid.Submitter) (best *sandbox.Expose) {
	for i := range b.Expose {
		e := &b.Expose[i]
		switch {
		case !e.Covers(folder):
		case best == nil, len(e.Path) > len(best.Path), len(e.Path) == len(best.Path) && !best.Admits(by):
			best = e
		}
	}
	return best
}
