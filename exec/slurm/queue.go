package slurm

import (
	"context"
	"os"
	"strconv"
	"strings"
)

// job is a batch job in the listing of squeue.
type job struct {
	id     string
	state  string // as PENDING
	reason string
}

// ended are the states in which nothing of a job runs, nor will. A job in another one, also one of a later version, may
// still run.
var ended = map[string]bool{"BOOT_FAIL": true, "CANCELLED": true, "COMPLETED": true, "DEADLINE": true, "FAILED": true,
	"NODE_FAIL": true, "OUT_OF_MEMORY": true, "PREEMPTED": true, "REVOKED": true, "TIMEOUT": true}

func (j *job) over() bool { return ended[j.state] }

// waits reports whether the job has not begun.
func (j *job) waits() bool { return j.state == "PENDING" || j.state == "CONFIGURING" }

// listing is the jobs of a node by their names.
type listing map[string][]job

// list asks the controller for all jobs of this user whose names begin with prefix: one call, however many there are.
func list(ctx context.Context, prefix string) (listing, error) {
	text, err := run(ctx, "squeue", "--noheader", "--states=all", "--user="+strconv.Itoa(os.Getuid()),
		"--format=%i|%T|%j|%r")
	if err != nil {
		return nil, err
	}
	return parseListing(text, prefix), nil
}

// parseListing reads the listing of squeue.
func parseListing(text, prefix string) listing {
	l := listing{}
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "|", 4)
		if len(f) != 4 || !strings.HasPrefix(f[2], prefix) || !isJobID(f[0]) {
			continue
		}
		l[f[2]] = append(l[f[2]], job{id: f[0], state: strings.TrimSpace(f[1]), reason: strings.TrimSpace(f[3])})
	}
	return l
}

func isJobID(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// maxCancel bounds the jobs of one call of scancel.
const maxCancel = 256

// cancelJobs has Slurm end jobs. What it does not end is tried again after the next look.
func cancelJobs(ctx context.Context, ids []string) (err error) {
	for len(ids) > 0 {
		n := min(len(ids), maxCancel)
		if _, e := run(ctx, "scancel", append([]string{"--quiet"}, ids[:n]...)...); e != nil {
			err = e
		}
		ids = ids[n:]
	}
	return err
}
