//go:build amd64 || arm64

package process

import (
	"errors"
	"os"

	"skep/exec/sandbox"
	"skep/exec/terminal"
)

// second starts a further command in the box of a task.
func (r *Runner) second(g group, s *Spec, path string, env []string, size *terminal.Size) (_ *Further, err error) {
	box, ok := g.(*sandbox.Box)
	if !ok {
		return nil, errors.New("the task has no box")
	}
	to := r.Owner(s.Dir)
	command := sandbox.Command{Path: path, Dir: r.start(s), Argv: s.Argv, Env: env, Nice: r.nicenessOf(s), CPUs: s.CPUs,
		Limits: r.limits(s), UID: to.UID, GID: to.GID, Account: to.Name != "", Terminal: size}
	f := &Further{over: make(chan struct{})}
	var theirs [3]*os.File
	defer func() {
		closeAll(theirs[:])
		if err != nil {
			f.Close()
		}
	}()
	if size == nil {
		if theirs[0], f.files[0], err = r.InputPipe(s.Dir); err != nil {
			return nil, err
		}
		read, write, err := pipes(to)
		if err != nil {
			return nil, err
		}
		f.files[1], f.files[2], theirs[1], theirs[2] = read[0], read[1], write[0], write[1]
		for i, t := range theirs {
			command.Files[i] = int(t.Fd())
		}
	}
	run, err := box.Run(&command)
	var failed *sandbox.StartError
	switch {
	case errors.As(err, &failed) && failed.Exec():
		return nil, r.execError(s, path, failed.Err)
	case err != nil:
		return nil, err
	}
	f.of, f.pid = run, run.Pid
	if size != nil {
		f.files[0] = run.Terminal
	}
	return f, nil
}
