package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"skep/exec/external"
)

// nameOf is the name of the job of a submission: which attempt it is of, and which of its folders. An attempt that was
// prepared anew has another folder, and what is left of the first one must not be taken for it.
func (e *Engine) nameOf(o *Order) string {
	folder := filepath.Base(o.Dir)
	return e.prefix + o.Key + "~" + folder[strings.LastIndexByte(folder, '-')+1:] + "." + strconv.Itoa(o.Submission)
}

// submit hands an order to Slurm.
func (e *Engine) submit(o *Order, name string) error {
	out, err := run(e.ctx, "sbatch", e.arguments(o, name)...)
	if err != nil {
		return err
	}
	if id, _, _ := strings.Cut(strings.TrimSpace(out), ";"); !isJobID(id) {
		return fmt.Errorf("sbatch printed %.80q: want the number of a job", out)
	}
	return nil
}

// arguments are those of sbatch. Each is a word of its own, so nothing in one can be taken for another. What this
// package rests on comes after what the operator adds.
func (e *Engine) arguments(o *Order, name string) []string {
	args := []string{"--parsable", "--job-name=" + name, "--partition=" + e.cluster.Partition}
	if e.o.Account != "" {
		args = append(args, "--account="+e.o.Account)
	}
	for _, x := range e.o.Extra {
		args = append(args, "--"+x)
	}
	args = append(args, "--nodes=1", "--ntasks=1", "--cpus-per-task="+strconv.Itoa(o.CPUs))
	if o.Memory > 0 {
		args = append(args, "--mem="+strconv.FormatInt((o.Memory+1<<20-1)>>20, 10)+"M")
	}
	if o.Timeout > 0 {
		args = append(args, "--time="+strconv.FormatInt(e.minutes(o), 10))
	}
	log := filepath.Join(o.Dir, logFile)
	args = append(args, "--no-requeue", "--export=ALL", "--input=/dev/null", "--chdir="+o.Dir, "--output="+log,
		"--error="+log, "--open-mode=append", e.script)
	return append(append(args, e.o.Step...), o.Dir, strconv.Itoa(o.Submission))
}

// minutes is the time limit of a job: that of its task, which the step keeps, with what the step needs beside it.
//
//	⌈timeout + grace + 30 s⌉, at most that of the partition
//
// Slurm counts minutes, and begins when the step does, so it is never the first to end a task.
func (e *Engine) minutes(o *Order) int64 {
	d := o.Timeout + o.Grace + 30*time.Second
	if most := e.cluster.MaxTime; most > 0 {
		d = min(d, most)
	}
	return int64((d + time.Minute - 1) / time.Minute)
}

// copyProgram copies this program to where the compute nodes see it, unless it is there, and returns its path. Other
// copies stay: jobs that wait may name them, until Former has looked at these.
func (e *Engine) copyProgram() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	from, err := os.Open(own)
	if err != nil {
		return "", err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return "", err
	}
	path := filepath.Join(e.dir, fmt.Sprintf("%s%x-%x", programPrefix, info.Size(), info.ModTime().UnixNano()))
	if have, err := os.Stat(path); err == nil && have.Size() == info.Size() {
		return path, nil
	}
	return path, external.Install(path, from, 0o700)
}

const programPrefix = "skep-"
