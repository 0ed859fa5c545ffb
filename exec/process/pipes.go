//go:build unix

package process

import (
	"fmt"
	"os"
	"path/filepath"

	"skep/exec/progress"
)

// stdin is the descriptor that a task gets as its standard input.
func (r *Runner) stdin(s *Spec) int {
	if s.Stdin == nil {
		return r.null
	}
	return int(s.Stdin.Fd()) // which makes a pipe's end block, as programs expect
}

// InputPipe makes a pipe for the standard input of the attempt in a folder: its end that the task reads, which belongs
// to the task's user, or it could not open /dev/stdin, and the node's end, whose writes have deadlines.
func (r *Runner) InputPipe(dir string) (read, write *os.File, err error) {
	if read, write, err = os.Pipe(); err != nil {
		return nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	if to := r.Owner(dir); to.UID != 0 {
		err = read.Chown(int(to.UID), int(to.GID))
	}
	if err != nil {
		closeAll([]*os.File{read, write})
		return nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	return read, write, nil
}

// openProgress opens the FIFO of an attempt; nil if its task is not asked for its progress, or has none.
func openProgress(s *Spec) *progress.Pipe {
	if s.Progress == nil {
		return nil
	}
	pipe, err := progress.Open(filepath.Join(s.Dir, tempName))
	if err != nil { // a file system without FIFOs: the task runs all the same
		return nil
	}
	return pipe
}
