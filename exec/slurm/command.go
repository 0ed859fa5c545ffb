package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	commandTime = time.Minute // for one command of Slurm; its own time-outs are 10 to 30 s
	maxListing  = 64 << 20    // bytes of what one prints; more is an error
	maxMessage  = 4 << 10     // bytes that are kept of its complaint
)

// inherited is what commands of Slurm see of the node's environment. Variables as SBATCH_PARTITION or SQUEUE_STATES
// would change what they do, and the environment of sbatch becomes that of the job.
var inherited = [...]string{"PATH", "HOME", "USER", "LOGNAME", "SLURM_CONF", "TZ"}

// commandError is the error of a command of Slurm that was run.
type commandError struct {
	name, said string
	err        error
}

func (e *commandError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("%s: %v", e.name, e.err)
	}
	return fmt.Sprintf("%s: %s", e.name, e.said)
}

func (e *commandError) Unwrap() error { return e.err }

// run runs a command of Slurm and returns what it printed.
func run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"LC_ALL=C"}
	for _, v := range inherited {
		if value, ok := os.LookupEnv(v); ok {
			cmd.Env = append(cmd.Env, v+"="+value)
		}
	}
	out, complaint := bounded{most: maxListing, strict: true}, bounded{most: maxMessage}
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", &commandError{name, oneLine(complaint.b.String()), err}
	}
	return out.b.String(), nil
}

// bounded keeps what is written to it up to a bound. Strict fails beyond it.
type bounded struct {
	b      bytes.Buffer
	most   int
	strict bool
}

var errLong = errors.New("it printed too much")

// Write keeps what fits.
func (w *bounded) Write(p []byte) (int, error) {
	if w.b.Len()+len(p) > w.most && w.strict {
		return 0, errLong
	}
	w.b.Write(p[:min(len(p), w.most-w.b.Len())])
	return len(p), nil
}

// oneLine makes what a command complained about one line.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// transient are what commands say while the controller does not answer, or not in time: what was asked for may have
// been done.
var transient = []string{"unable to contact", "timed out", "timeout", "connection refused", "connection reset",
	"zero bytes", "temporarily", "communication", "not responding", "in standby", "can't find an address", "broken pipe",
	"protocol authentication", "try again", "no route to host", "network is unreachable"}

// Transient reports whether an error of Look is one that another try may not have.
func Transient(err error) bool { return isTransient(err) }

// isTransient reports whether a command failed in a way that another try may not.
func isTransient(err error) bool {
	var c *commandError
	if !errors.As(err, &c) {
		return true
	}
	if errors.Is(c.err, context.DeadlineExceeded) || errors.Is(c.err, context.Canceled) || c.said == "" {
		return true
	}
	said := strings.ToLower(c.said)
	for _, t := range transient {
		if strings.Contains(said, t) {
			return true
		}
	}
	return false
}
