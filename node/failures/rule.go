package failures

import (
	"encoding/binary"
	"hash/fnv"
	"math/bits"
	"slices"
	"time"

	"skep/grid"
)

// Again decides about a recorded end: whether the task is run again after it, and how long after it at the earliest.
// round is the number of failed ends that were recorded before. The delay is more than 0.
func Again(rule *grid.OnFailure, task grid.TaskID, round uint32, r *grid.Result) (after time.Duration, again bool) {
	if round >= uint32(max(rule.Retry, 0)) || !retried(rule, r) {
		return 0, false
	}
	return backoff(rule.Backoff, task, round), true
}

// retried reports whether an end is one after which the task is run again.
func retried(rule *grid.OnFailure, r *grid.Result) bool {
	switch r.Cause {
	case grid.Exited, grid.Signaled, grid.MemoryExceeded:
		if r.Succeeded() || r.Exit == 0 {
			return false
		}
	case grid.TimedOut:
		if len(rule.Codes) == 0 { // it would take as long again
			return false
		}
	default: // cancelled, lost, refused: no end of the program itself
		return false
	}
	return len(rule.Codes) == 0 || slices.Contains(rule.Codes, r.Exit)
}

// Possible reports whether an owner that follows the job's rules can have accepted an entry in an epoch. Only tasks go
// on, as often as the rule says, or as callers have them run again; a gang moves as often as its contract says; and an
// owner makes attempts of no epoch but its own.
func Possible(s *grid.JobSpec, e *grid.Entry, epoch uint32) bool {
	if s.Rules.Budget.Some() && e.Index == s.UsedEntry() {
		return e.Used > 0 && e.Offered == nil && e.Open() && e.Result != nil && e.Attempt == (grid.Attempt{}) &&
			e.RetriedAt == 0 && e.RetryEpoch == 0 && len(e.Failures) == 0 && e.Round < grid.MaxRounds
	}
	if s.RecordsOffers && e.Index == s.OfferedEntry() {
		return e.Offered != nil && e.Offered.Valid(s.Count) && e.Open() && e.Result != nil && e.Used == 0 &&
			e.Attempt == (grid.Attempt{}) && e.Lost == 0 && e.RetriedAt == 0 && e.RetryEpoch == 0 &&
			len(e.Failures) == 0 && e.Round < grid.MaxRounds
	}
	if e.Used != 0 || e.Offered != nil {
		return false
	}
	if s.CountsMoves() && e.Index == s.MovesEntry() {
		return s.Retries > 0 && e.Open() && e.Result != nil && s.Gang.RanksOf(e.Attempt) > 0 &&
			e.Attempt.Epoch > 0 && e.Attempt.Epoch <= epoch && e.Lost == 0 && e.RetriedAt == 0 && e.RetryEpoch == 0 &&
			len(e.Failures) == 0 && e.Round < s.Gang.Terms().Moves
	}
	if e.Again == 0 && e.Round == 0 {
		return len(e.Failures) == 0 && e.RetriedAt == 0
	}
	if e.Again < 0 || len(e.Failures) > int(e.Round) || e.RetryEpoch > epoch ||
		e.Open() && (e.Result == nil || e.Attempt.Epoch > epoch) {
		return false
	}
	switch {
	case e.RetriedAt == 1, e.RetriedAt > e.Round+1, e.RetriedAt > 0 && Refuses(s) != "":
		return false
	case e.IsRetry():
		return e.Open() && e.Index <= s.Count
	case e.Index == s.Count: // a further cancellation
		return e.RetriedAt == e.Round && !e.Open()
	}
	rounds := uint32(max(s.Rules.OnFailure.Retry, 0))
	if e.Open() && rounds == 0 {
		return false
	} else if e.Open() {
		rounds-- // at least one more follows
	}
	return e.Index < s.Count && e.Round-e.RetriedAt <= rounds
}

// jitterShare bounds the jitter: at most a quarter of the delay is added, and nothing is taken off.
const jitterShare = 4

// backoff returns the delay before the next attempt: first · 2^round, at most grid.MaxBackoff, and up to a quarter of
// that more, so that tasks that failed together do not come back together. The jitter is a hash of the task and the
// round: the same at each owner, and drawn from no node's randomness.
func backoff(first time.Duration, task grid.TaskID, round uint32) time.Duration {
	d := grid.MaxBackoff
	if shift := int(round); first <= 0 {
		return 1
	} else if shift < bits.LeadingZeros64(uint64(first))-1 {
		d = min(first<<shift, d)
	}
	h := fnv.New64a()
	h.Write(task.Job.Nonce[:])
	h.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, task.Index), round))
	return d + time.Duration(h.Sum64()%uint64(d/jitterShare+1))
}

// Past returns the failures that an entry after e lists: those of e, and e itself, the newest grid.MaxFailures of them.
func Past(e *grid.Entry) []grid.Failure {
	if e.IsRetry() { // it lists the end that it repeats
		return e.Failures
	}
	past := e.Failures[max(0, len(e.Failures)+1-grid.MaxFailures):]
	f := grid.Failure{Attempt: e.Attempt, Worker: e.Worker, Done: e.Done}
	if r := e.Result; r != nil {
		f.Cause, f.Exit, f.Line = r.Cause, r.Exit, lastLine(r)
	}
	return append(slices.Clone(past), f)
}

// lastLine returns the last line that is not empty of what an attempt wrote to its standard error, as far as the result
// has it; else of its output, else its error.
func lastLine(r *grid.Result) string {
	for _, text := range [...][]byte{[]byte(r.LastLine), r.Stderr.Inline, []byte(r.Error), r.Stdout.Inline} {
		if line := grid.LastLine(text); line != "" {
			return line
		}
	}
	return ""
}
