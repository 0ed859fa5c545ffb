package net

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"skep/grid"
)

// maxTraceErrors bounds the malformed lines of a trace that are reported one by one.
const maxTraceErrors = 10

// maxTraceSeconds bounds the times of a trace: thirty years.
const maxTraceSeconds = 1e9

// ReadSWF reads a trace in the Standard Workload Format [1]: 18 numbers a line, of which the submit time (2), the run
// time (4), the processors (5, or 8 where it is unknown) and the user (12) are used; a line that begins with a
// semicolon is a comment. A job of p processors is p tasks. Jobs without a run time or processors, which were
// cancelled before they began, are left out. Malformed lines are reported, up to ten each with its number, and the
// number of the others.
func ReadSWF(name, text string) ([]Job, error) {
	var jobs []Job
	var errs []error
	more := 0
	bad := func(line int, format string, args ...any) {
		if more++; len(errs) < maxTraceErrors {
			errs = append(errs, fmt.Errorf("%s:%d: "+format, append([]any{name, line}, args...)...))
		}
	}
	last := time.Duration(math.MinInt64)
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == ';' {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 18 {
			bad(n+1, "%d fields: want the 18 of the Standard Workload Format", len(f))
			continue
		}
		var v [18]float64
		ok := true
		for i := range f {
			x, err := strconv.ParseFloat(f[i], 64)
			if err != nil || math.IsNaN(x) || math.Abs(x) > 1e15 {
				bad(n+1, "field %d is %.20q: want a number", i+1, f[i])
				ok = false
				break
			}
			v[i] = x
		}
		if !ok {
			continue
		}
		procs := v[4]
		if procs <= 0 {
			procs = v[7]
		}
		at := grid.Seconds(v[1])
		switch {
		case v[1] < 0:
			bad(n+1, "submit time %g: want 0 or more", v[1])
		case at < last:
			bad(n+1, "submit time %g: is before that of the line before", v[1])
		case v[1] > maxTraceSeconds || v[3] > maxTraceSeconds:
			bad(n+1, "submit time %g, run time %g: want at most %g seconds", v[1], v[3], float64(maxTraceSeconds))
		case procs > grid.MaxCount:
			bad(n+1, "%g processors: want at most %d", procs, grid.MaxCount)
		case v[3] > 0 && procs >= 1:
			jobs = append(jobs, Job{At: at, Run: grid.Seconds(v[3]), Tasks: uint32(procs), User: int(v[11])})
		}
		last = max(last, at)
	}
	if more -= len(errs); more > 0 {
		errs = append(errs, fmt.Errorf("%s: and %d more malformed lines", name, more))
	}
	if len(jobs) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s: has no job that ran", name))
	}
	if len(jobs) > 0 { // a trace begins with its first job
		first := jobs[0].At
		for i := range jobs {
			jobs[i].At -= first
		}
	}
	return jobs, errors.Join(errs...)
}
