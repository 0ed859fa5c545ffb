package dependency

import (
	"fmt"
	"path"
	"slices"

	"skep/grid"
)

// answered takes an answer to a question, or news. Of nodes that may not say so, and of questions that were not asked,
// it takes none.
func (d *Dependencies) answered(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	w := d.waits.by.Get(g.Seq)
	if w == nil || w.other.Job != g.Job || !slices.Contains(keepers(w.other), from) {
		return
	}
	spec, written := d.cfg.Jobs.WaitsForJobs(w.job)
	if spec == nil || !w.isOf(spec) {
		d.drop(w)
		return
	}
	switch g.Answer {
	case grid.RegisterOK:
		w.heard, w.owner, w.to, w.mute, w.denied, w.gone = now, from, from, 0, w.denied[:0], w.gone[:0]
		d.record(now, w, spec, g, fx)
	case grid.RegisterHigher:
		if w.owner != g.Owner && g.Owner != from && slices.Contains(keepers(w.other), g.Owner) {
			w.owner, w.mute = g.Owner, 0
			d.waits.due.Update(w.place, now.Add(minAsk/8))
		}
	case grid.RegisterUnknown, grid.RegisterGone:
		d.noteDenied(now, w, spec, from, g.Answer == grid.RegisterGone, fx)
	}
	switch {
	case d.waits.by.Get(w.number) != w:
	case d.settled(spec, w.k, written, &w.next):
		d.drop(w)
	case g.Answer == grid.RegisterOK && g.More && g.Next > w.page: // the next page
		d.send(w, max(g.Next, w.next), fx)
	}
	d.setTimer(fx)
}

// noteDenied notes that a node does not know the job any more. Once all that kept it say so, nobody knows how it ended.
// That it has ended is known once most of them say so: a single one could be wrong, and one that has gone for good must
// not be waited for.
func (d *Dependencies) noteDenied(now grid.Time, w *wait, spec *grid.JobSpec, from grid.NodeID, gone bool,
	fx *grid.Effects) {
	first := !slices.Contains(w.denied, from)
	if first {
		w.denied = append(w.denied, from)
	}
	if gone && !slices.Contains(w.gone, from) {
		w.gone = append(w.gone, from)
	}
	w.owner = grid.NodeID{}
	all := keepers(w.other)
	whole := len(w.denied) == len(all)
	switch {
	case w.other.Kind == grid.AfterAny && !wants(spec, w.k) && (len(w.gone) > len(all)/2 || whole && len(w.gone) > 0):
		d.put(now, w, spec.DependencyEntry(w.k), &grid.Result{Cause: grid.Exited}, fx)
	case whole:
		d.recordVain(now, w, spec, "is not known any more to those that kept it", fx)
	default:
		w.mute = max(w.mute, 2) // not the one that it seemed to be
		if first {              // the others are asked at once, but not in turns for ever while one of them is away
			w.every = minAsk
			d.waits.due.Update(w.place, now.Add(minAsk/8))
		}
	}
}

func wants(spec *grid.JobSpec, k int) bool {
	return slices.ContainsFunc(spec.After.Inputs, func(in grid.JobInput) bool { return int(in.Of) == k })
}

// recordVain records that a job waits in vain.
func (d *Dependencies) recordVain(now grid.Time, w *wait, spec *grid.JobSpec, why string, fx *grid.Effects) {
	d.put(now, w, spec.DependencyEntry(w.k), &grid.Result{Cause: grid.Failed, Exit: grid.ExitSkep,
		Error: fmt.Sprintf("job %s, which it was to follow, %s", w.other.Job.Short(), why)}, fx)
	d.drop(w)
}

// put records an end.
func (d *Dependencies) put(now grid.Time, w *wait, entry uint32, r *grid.Result, fx *grid.Effects) {
	w.every = minAsk
	d.cfg.Jobs.RecordDependency(now, w.job, &grid.Entry{Index: entry, Result: r}, fx)
}

// record records the ends that an answer has.
func (d *Dependencies) record(now grid.Time, w *wait, spec *grid.JobSpec, g *grid.RegisterMessage, fx *grid.Effects) {
	if w.other.Kind != grid.AfterEach {
		if g.Done {
			d.recordWhole(now, w, spec, g, fx)
		}
		return
	}
	if g.Count != spec.Count {
		d.recordVain(now, w, spec, fmt.Sprintf("has %d tasks, and it has %d: with after_each want as many", g.Count,
			spec.Count), fx)
		return
	}
	for i := range g.Entries {
		e := &g.Entries[i]
		if e.Index >= spec.Count || e.Result == nil {
			continue
		}
		what := fmt.Sprintf("task %d of job %s, which it was to follow, ", e.Index, w.other.Job.Short())
		r := endOf(e.Result, what)
		if w.other.Met(r) {
			r = collect(r, spec, w.k, what, func(uint32) *grid.Result { return e.Result })
		}
		d.put(now, w, spec.EachEntry(e.Index), r, fx)
	}
}

// recordWhole records how all of a job has ended.
func (d *Dependencies) recordWhole(now grid.Time, w *wait, spec *grid.JobSpec, g *grid.RegisterMessage,
	fx *grid.Effects) {
	find := func(i uint32) *grid.Result {
		for k := range g.Entries {
			if g.Entries[k].Index == i {
				return g.Entries[k].Result
			}
		}
		return nil
	}
	summary := find(summaryIndex)
	if summary == nil {
		return
	}
	what := fmt.Sprintf("job %s, which it was to follow, ", w.other.Job.Short())
	r := endOf(summary, what)
	if w.other.Met(r) {
		r = collect(r, spec, w.k, what, find)
	}
	d.put(now, w, spec.DependencyEntry(w.k), r, fx)
}

// endOf returns an end as it is recorded: without what the task has printed, and with words for one that is not good.
func endOf(r *grid.Result, what string) *grid.Result {
	end := &grid.Result{Cause: r.Cause, Exit: r.Exit}
	switch {
	case r.Cause == grid.Exited && r.Exit == 0:
	case r.Cause == grid.Cancelled:
		end.Error = what + "was cancelled"
	default:
		end.Cause = grid.Exited // whether it is Failed is about the files that are wanted
		end.Error = fmt.Sprintf("%sfailed with exit code %d", what, r.Exit)
	}
	if end.Exit == 0 && end.Cause == grid.Cancelled {
		end.Exit = 130
	}
	return end
}

// collect adds the files that are wanted to an end; if one is not there, the end is that.
func collect(r *grid.Result, spec *grid.JobSpec, k int, what string, of func(task uint32) *grid.Result) *grid.Result {
	for _, in := range spec.After.Inputs {
		if int(in.Of) != k {
			continue
		}
		left := of(in.Task)
		if left == nil {
			return &grid.Result{Cause: grid.Failed, Exit: grid.ExitSkep, Error: grid.Clean(fmt.Sprintf(
				"%sis not told of with the files of task %d: a node tells of %d KiB of names of files at most: want fewer outputs "+
					"of the tasks that are read, or after_each", what, in.Task, grid.MaxEntriesSize/grid.KiB), grid.MaxText)}
		}
		at := slices.IndexFunc(left.Outputs, func(f grid.File) bool { return path.Clean(f.Path) == path.Clean(in.Path) })
		if at < 0 {
			return &grid.Result{Cause: grid.Failed, Exit: grid.ExitSkep, Error: grid.Clean(fmt.Sprintf(
				"%shas left no file %q", what, in.Path), grid.MaxText)}
		}
		f := left.Outputs[at]
		f.Path = path.Clean(in.To)
		r.Outputs = append(r.Outputs, f)
	}
	return r
}
