package grid

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"skep/requirement"
)

// Rules say what a job does about tasks that fail, beyond Retries, which is about attempts that are lost, how many of
// its tasks run at a time, what is bid for them, until when they are wanted, and what they may use.
type Rules struct {
	OnFailure   OnFailure
	MaxFailures int32 // failed tasks after which the rest of the job is cancelled; 0 = any number may fail
	MaxRunning  int32 // tasks that may have a worker at the same time; 0 = any number
	Bid         Bid   // for each task; 0 = the usual one, see JobSpec.Bid
	Deadline    Deadline
	Budget      Budget
	Reliability Reliability

	Rank *requirement.Expression // of nodes: the highest first, of those that are idle; nil = none
}

// OnFailure says after which recorded ends a task is run again. The zero value: after none.
type OnFailure struct {
	Retry   int32         // further attempts after failed ones; 0 = none
	Codes   []int32       // exit codes that are retried, ascending; none = each failure but a time limit
	Backoff time.Duration // before the first of them; doubled for each that follows
	Rerun   bool          // a task with Retries 0 may be run again after an end that is recorded
}

// Bounds of the failure rule, and of what is kept of failed attempts.
const (
	MaxFailureRetry = 100           // further attempts
	MaxFailureCodes = 64            // exit codes
	MaxBackoff      = 1 * time.Hour // of a rule, and of the doubled back-off
	MaxFailures     = 8             // failed attempts of a task that are listed
	MaxFailureLine  = 160           // bytes of the last line of each
	MaxRounds       = 10_000        // recorded ends of a task
)

// Failure is a recorded end of an attempt after which the task was run again, or is to be.
type Failure struct {
	Attempt Attempt
	Worker  NodeID
	Cause   Cause
	Exit    int32
	Line    string // the last line that it wrote to its standard error, or why it ended; at most MaxFailureLine bytes
	Done    int64  // wall time in Unix nanoseconds; in a message, the age
}

// LastLine returns the last line of a text that is not empty, for a Failure; "" = there is none.
func LastLine(text []byte) string {
	text = bytes.TrimRight(text, " \t\r\n")
	return Clean(string(text[bytes.LastIndexByte(text, '\n')+1:]), MaxFailureLine)
}

// Weight estimates the bytes of a failure on the wire, on disk and in memory.
func (f *Failure) Weight() int { return 96 + len(f.Line) }

// Reliability is what is done beforehand about attempts that may be lost, with their machine or the link to it. A lost
// one is followed by others as Retries allow. All but the first kind may also run a copy beside an attempt, of a job
// that is Idempotent, on an idle node: always, or where that is best by a heuristic. See package reliability.
type Reliability uint8

// The kinds of reliability.
const (
	ReliabilityRetries      Reliability = iota // no copy but those of the policy
	ReliabilityAuto                            // where a copy saves more, bid × reference seconds, than it takes
	ReliabilityValue                           // by the expected worth of the result, whatever it takes
	ReliabilityValuePerCost                    // by its worth for each node-second
	ReliabilityValuePerTime                    // by its worth for each second until it is there
	ReliabilityReplicate                       // always
	reliabilities
)

var reliabilityNames = [reliabilities]string{"retries", "auto", "value", "value_per_cost", "value_per_time",
	"replicate"}

// Reliabilities lists the names of the kinds, for messages.
func Reliabilities() string { return strings.Join(reliabilityNames[:], ", ") }

// String returns the name of a kind.
func (r Reliability) String() string {
	if r < reliabilities {
		return reliabilityNames[r]
	}
	return "unknown"
}

// ParseReliability returns the kind of a name.
func ParseReliability(t string) (Reliability, error) {
	if k := slices.Index(reliabilityNames[:], t); k >= 0 {
		return Reliability(k), nil
	}
	return 0, fmt.Errorf("%.40q: want one of %s", t, Reliabilities())
}

func (r Reliability) check(s *JobSpec, p *problems) {
	switch {
	case r == ReliabilityRetries:
	case r >= reliabilities:
		p.addf("reliability %d: want one of %s", uint8(r), Reliabilities())
	case s.Retries == 0:
		p.addf("reliability %s with retries 0: a task that is to run at most once runs neither again nor twice: want one "+
			"or the other", r)
	case s.Gang.Ranks > 0:
		p.addf("reliability %s with gang.ranks %d: want none: a single rank is not run twice", r, s.Gang.Ranks)
	case r == ReliabilityReplicate && !s.Idempotent:
		p.addf("reliability replicate without idempotent: a copy runs beside a task, and harms none only if that is true")
	}
}

// None reports whether a job has no rules about failures, and may have all its tasks run at the same time.
func (r *Rules) None() bool {
	return r.OnFailure.Retry == 0 && !r.OnFailure.Rerun && r.MaxFailures == 0 && r.MaxRunning == 0
}

func (r *Rules) check(s *JobSpec, p *problems) {
	if r.MaxFailures < 0 || r.MaxFailures > MaxCount {
		p.addf("max_failures %d: want 0 (any number) to %d", r.MaxFailures, MaxCount)
	}
	if r.MaxRunning < 0 || r.MaxRunning > MaxCount {
		p.addf("max_running %d: want 0 (any number) to %d", r.MaxRunning, MaxCount)
	}
	r.Bid.check(p)
	r.Deadline.check(p)
	r.Budget.check(p)
	r.Reliability.check(s, p)
	f := &r.OnFailure
	if f.Retry < 0 || f.Retry > MaxFailureRetry {
		p.addf("on_failure.retry %d: want 0 to %d", f.Retry, MaxFailureRetry)
	}
	if len(f.Codes) > MaxFailureCodes {
		p.addf("on_failure.codes: %d: want at most %d", len(f.Codes), MaxFailureCodes)
	}
	for _, c := range f.Codes {
		if c < 1 || c > 255 {
			p.addf("on_failure.codes %d: want exit codes from 1 to 255", c)
		}
	}
	if !slices.IsSorted(f.Codes) {
		p.addf("on_failure.codes: are not in ascending order")
	}
	if f.Backoff < 0 || f.Backoff > MaxBackoff {
		p.addf("on_failure.backoff %v: want 0s to %v", f.Backoff, MaxBackoff)
	}
	if f.Retry == 0 && (len(f.Codes) > 0 || f.Backoff > 0 || f.Rerun) {
		p.addf("on_failure: has codes, backoff or rerun and no retry: say how many further attempts a failed task gets")
	}
	if f.Retry > 0 && s.Retries == 0 && !f.Rerun {
		p.addf("on_failure.retry %d with retries 0: a task that is to run at most once is not run again; with "+
			"on_failure.rerun true it is, after an end that is recorded, and still never after an attempt that was lost",
			f.Retry)
	}
}

// Deadline is until when the results of a job's tasks are wanted, counted from its submission. The job's owner heeds
// it. The zero value: for ever. A result is worth 1 until At; then its worth falls linearly to 0 at Worthless. A hard
// deadline has no Worthless: after At it is worth nothing. Tasks that have not ended by Last end as [Missed].
type Deadline struct {
	At        time.Duration // 0 = there is none
	Worthless time.Duration // 0 = the deadline is hard; else more than At
}

// MaxDeadline bounds deadlines.
const MaxDeadline = MaxTimeout

// Some reports whether there is a deadline.
func (d Deadline) Some() bool { return d.At > 0 }

// Last is how long after the submission a result is worth nothing any more; 0 = there is no deadline.
func (d Deadline) Last() time.Duration { return max(d.At, d.Worthless) }

// Met reports whether a result that comes so long after the submission is worth all.
func (d Deadline) Met(after time.Duration) bool { return !d.Some() || after <= d.At }

// Worth is what a result is worth, from 0 to 1, that comes so long after the submission.
func (d Deadline) Worth(after time.Duration) float64 {
	switch {
	case d.Met(after):
		return 1
	case after >= d.Last():
		return 0
	}
	return float64(d.Worthless-after) / float64(d.Worthless-d.At)
}

func (d Deadline) check(p *problems) {
	if d.At < 0 || d.At > MaxDeadline || d.At > 0 && d.At < time.Second {
		p.addf("deadline %v: want 1s to %v from the submission, or none", d.At, MaxDeadline)
	}
	switch {
	case d.Worthless == 0:
	case d.At == 0:
		p.addf("deadline.worthless %v without deadline.at: say until when a result is worth all", d.Worthless)
	case d.Worthless <= d.At || d.Worthless > MaxDeadline:
		p.addf("deadline.worthless %v: want more than the deadline, %v, and at most %v; leave it out if a later result is "+
			"worth nothing", d.Worthless, d.At, MaxDeadline)
	}
}
