package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/cobra"

	"skep/cmd/skep/arrays"
	"skep/cmd/skep/bids"
	"skep/cmd/skep/environ"
	"skep/cmd/skep/gang"
	"skep/cmd/skep/order"
	"skep/cmd/skep/resources"
	"skep/cmd/skep/stdin"
	"skep/document"
	"skep/grid"
	v1 "skep/node/api/v1"
)

// runFlags are the flags of a job on the command line.
type runFlags struct {
	name, class, policy string
	access              string
	timeout             string
	inputs, outputs     []string
	environ             environ.Wanted
	count, retries      int64
	gang                gang.Flags
	array               arrays.Flags
	wait, detach        bool
	idempotent          bool
	box                 boxFlags
	failure             failureFlags
	needs               needFlags
	othersFlags
}

// boxFlags are the flags of run that say how tasks are kept from their node.
type boxFlags struct{ isolation, network string }

// failureFlags are the flags of run that say what becomes of tasks that fail, how many run at a time, and what is bid.
type failureFlags struct {
	retry   int64
	codes   []string
	backoff time.Duration
	rerun   bool
	most    int64 // failures
	running int64
	market  bids.Flags
	given   func(name string) bool // whether a flag was given; nil = none was
}

func (f *failureFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.given = fl.Changed
	fl.Int64Var(&f.retry, "retry-failed", 0, "further attempts after one that failed, as opposed to lost")
	fl.Int64Var(&f.most, "max-failures", 0, "failed tasks after which the rest of the job is cancelled; 0 is any number")
	fl.Int64Var(&f.running, "max-running", 0, "tasks of the job that may have a node at a time; 0 is any number")
	f.market.Add(fl)
	fl.StringSliceVar(&f.codes, "retry-codes", nil,
		"exit codes that --retry-failed is about, as in 1,75 (default each but the time limit's)")
	fl.DurationVar(&f.backoff, "retry-backoff", v1.DefaultBackoff,
		"how long to wait after the first failure; doubled after each that follows, up to 1h")
	fl.BoolVar(&f.rerun, "rerun", false,
		"with --retries 0: --retry-failed runs a task again after an end that is recorded")
}

// apply writes the flags into a spec, and returns what is wrong with them.
func (f *failureFlags) apply(s *v1.Spec) (problems []error) {
	if f.retry < 0 || f.retry > grid.MaxFailureRetry {
		problems = append(problems, fmt.Errorf("--retry-failed %d: want 0 to %d", f.retry, grid.MaxFailureRetry))
	}
	for _, x := range []struct {
		name string
		n    int64
		to   *int32
	}{{"max-failures", f.most, &s.MaxFailures}, {"max-running", f.running, &s.MaxRunning}} {
		if x.n < 0 || x.n > grid.MaxCount {
			problems = append(problems, fmt.Errorf("--%s %d: want 0 (any number) to %d", x.name, x.n, grid.MaxCount))
		}
		*x.to = int32(min(max(x.n, 0), grid.MaxCount))
	}
	problems = append(problems, f.market.Apply(s)...)
	codes, err := parseCodes(f.codes)
	if err != nil {
		problems = append(problems, fmt.Errorf("--retry-codes %w", err))
	}
	if f.backoff < 0 || f.backoff > grid.MaxBackoff {
		problems = append(problems, fmt.Errorf("--retry-backoff %v: want 0s to %v", f.backoff, grid.MaxBackoff))
	}
	for _, name := range [...]string{"retry-codes", "retry-backoff", "rerun"} {
		if f.retry == 0 && f.given != nil && f.given(name) {
			problems = append(problems, fmt.Errorf("--%s without --retry-failed: say how many further attempts there may be",
				name))
		}
	}
	if s.Retries != nil && *s.Retries == 0 && f.retry > 0 && !f.rerun {
		problems = append(problems, fmt.Errorf("--retry-failed %d with --retries 0: a task that is to run at most once is "+
			"not run again; with --rerun it is, after an end that is recorded, and never after a lost attempt", f.retry))
	}
	if f.retry > 0 && len(problems) == 0 {
		backoff := f.backoff.Seconds()
		s.OnFailure = &v1.OnFailure{Retry: int32(f.retry), Codes: codes, Backoff: &backoff, Rerun: f.rerun}
	}
	return problems
}

// parseCodes parses exit codes; it returns them in order, each once.
func parseCodes(list []string) (codes []int32, err error) {
	for _, l := range list {
		n, err := strconv.Atoi(strings.TrimSpace(l))
		if err != nil || n < 1 || n > 255 {
			return nil, fmt.Errorf("%.40q: want exit codes from 1 to 255, as in 1,75", l)
		}
		codes = append(codes, int32(n))
	}
	slices.Sort(codes)
	return slices.Compact(codes), nil
}

// onFailure reads the key on_failure of a job file.
func (j *jobFile) onFailure(f *document.Reader, n ast.Node) {
	o := &v1.OnFailure{}
	for _, e := range f.Mapping(n, "on_failure", "retry", "codes", "backoff", "rerun") {
		switch e.Key {
		case "retry":
			f.Number(e, 1, grid.MaxFailureRetry, func(n int64) { o.Retry = int32(n) })
		case "codes":
			codes, err := parseCodes(f.Texts(e.Value, "on_failure codes"))
			if err != nil {
				f.At(e.Value, "on_failure codes %v", err)
			}
			o.Codes = codes
		case "backoff":
			f.Value(e, func(t string) error {
				seconds, err := document.ParseTimeout(t)
				o.Backoff = &seconds
				return err
			})
		case "rerun":
			f.Value(e, func(t string) (err error) { o.Rerun, err = document.ParseBool(t); return })
		}
	}
	j.spec.OnFailure = o
}

// failureText describes a failed attempt of a task.
func failureText(x *v1.Failure) string {
	text := fmt.Sprintf("attempt %s failed at %s with %d", x.Attempt, nodeLabel(x.Name, x.Node), x.Exit)
	if x.Cause != grid.Exited.String() {
		text += " (" + strings.ReplaceAll(x.Cause, "_", " ") + ")"
	}
	if x.Line != "" {
		text += ": " + x.Line
	}
	return text
}

// onFailureText describes a job's rule about failed tasks.
func onFailureText(o *v1.OnFailure) string {
	text := fmt.Sprintf("up to %d further attempts", o.Retry)
	if len(o.Codes) > 0 {
		var codes []string
		for _, c := range o.Codes {
			codes = append(codes, strconv.Itoa(int(c)))
		}
		text += " after exit code " + strings.Join(codes, ", ")
	}
	if o.Backoff != nil && *o.Backoff > 0 {
		text += ", the first after " + secs(*o.Backoff)
	}
	return text
}

// notText returns an error for a string that is not UTF-8: JSON would silently change it.
func notText(s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	return fmt.Errorf("%.80q: is not UTF-8: it would arrive as something else", s)
}

// parseLabels parses KEY=VALUE needs; a repeated key adds a value.
func parseLabels(list []string) (map[string][]string, error) {
	m := map[string][]string{}
	for _, l := range list {
		k, v, ok := strings.Cut(l, "=")
		if !ok || k == "" {
			return nil, fmt.Errorf("%.80q: want KEY=VALUE", l)
		}
		if !slices.Contains(m[k], v) {
			m[k] = append(m[k], v)
		}
	}
	return m, nil
}

// needFlags are the flags of run that say what a node must have.
type needFlags struct {
	cpu, memory string
	labels      []string
	resources   resources.Flags
}

// othersFlags are the flags of run that say what tasks read from others, and which jobs they wait for.
type othersFlags struct {
	stdin stdin.Want
	order order.Refs
}
