package worker

import (
	"skep/balance/order"
	"skep/exec"
	"skep/grid"
)

// answerOptions says what is expected of each option of a task's job. Where none is accepted, the task is not: for now
// only, if that may change for one of them.
func (w *Worker) answerOptions(now grid.Time, key order.Key, options []grid.PollOption, s *grid.State) {
	s.Options = s.Options[:0]
	var why grid.Why
	some := false
	for i := range options {
		o := &options[i]
		ready, done := w.exec.Done(now, key, o.Needs, o.Speedup, w.cfg.RunTime)
		x := grid.OptionState{Ready: grid.Seconds(ready), ECT: grid.Seconds(done), Why: w.exec.Refuses(o.Needs)}
		s.Options = append(s.Options, x)
		some = some || x.Why == grid.WhyNone
		if why == grid.WhyNone || why.Never() {
			why = x.Why
		}
	}
	if len(options) > 0 && !some && s.Why == grid.WhyNone {
		s.Why = why
	}
}

// ranAs is a result that says as which option of its job the attempt ran.
func ranAs(a *exec.Work, r *grid.Result) *grid.Result {
	if r.Option == a.Spec.Needs.Chosen {
		return r
	}
	copied := *r
	copied.Option = a.Spec.Needs.Chosen
	return &copied
}
