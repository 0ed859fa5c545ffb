package child

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"skep/exec/external"
	"skep/exec/process"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// silent tells the operator that the child does not answer any more, or again.
func (e *Engine) silent(err error) {
	if err != nil {
		e.o.Log.Warn("the child grid does not answer: its jobs go on, and the node waits", "error", err)
		return
	}
	e.o.Log.Info("the child grid answers again")
}

const (
	pageSize    = 1000
	mostPages   = 1000
	mostUnknown = 64 // jobs that are asked for one by one in a look
	mostDetails = 32 // tasks that run whose progress is asked for in a look
)

// look looks at all jobs once, and reports whether there are tasks, and whether something has changed.
func (e *Engine) look() (some, changed bool, err error) {
	tasks := e.Tasks()
	if len(tasks) == 0 {
		return false, false, nil
	}
	began := time.Now()
	jobs, err := e.list()
	unknown, details := mostUnknown, mostDetails
	for _, t := range tasks {
		if err != nil {
			t.failing = time.Time{} // it cannot give a result now
			t.Say(external.Saying{Text: "waits for the child grid, which does not answer"})
			continue
		}
		job, listed := jobs[t.order.ID]
		listed = listed && !t.order.Withdrawn
		switch over := t.collected(began); {
		case over:
			changed = true
			continue
		case t.fetching != nil, began.Before(t.again) && t.Asked() == 0:
			continue
		case !listed && !t.HandedBefore(began), !listed && unknown == 0:
			continue
		case !listed: // it is over, or was submitted through another node, or is not there
			unknown--
			if job, err = t.find(); job == nil {
				changed = true
				continue
			}
		}
		news := false
		news, err = t.follow(job, &details)
		changed = changed || news
	}
	return len(e.Tasks()) > 0, changed, err
}

// list returns the jobs that were submitted to the node and are not over, by their IDs: one request for a thousand.
func (e *Engine) list() (map[string]*v1.Job, error) {
	jobs := map[string]*v1.Job{}
	for after, pages := "", 0; ; pages++ {
		if pages == mostPages {
			return nil, fmt.Errorf("its list of jobs does not end after %d pages", pages)
		}
		ctx, cancel := context.WithTimeout(e.ctx, askTime)
		page, err := e.o.API.List(ctx, &client.ListQuery{Limit: pageSize, After: after,
			State: v1.JobHeld + "," + v1.JobPending + "," + v1.JobRunning})
		cancel()
		if err != nil {
			return nil, err
		}
		for i := range page.Jobs {
			jobs[page.Jobs[i].ID] = &page.Jobs[i].Job
		}
		if after = page.Next; after == "" {
			return jobs, nil
		}
	}
}

// find asks for the job of a task that is in no list; nil: nothing follows from the answer now, or the task has ended.
func (t *Task) find() (*v1.Job, error) {
	ctx, cancel := context.WithTimeout(t.e.ctx, askTime)
	defer cancel()
	job, err := t.e.o.API.Job(ctx, t.order.ID)
	switch {
	case err == nil && !t.order.Withdrawn:
		if err := t.isThere(); err != nil {
			t.e.o.Log.Warn("an order was not written", "error", err)
			return nil, nil
		}
		return &job, nil
	case ifSilent(err) != nil:
		return nil, err
	case err != nil && status(err) != http.StatusNotFound:
		t.Say(external.Saying{Text: "the child grid does not tell of its job: " + err.Error()})
		return nil, nil
	case err != nil && t.order.Submitted:
		t.Finish(process.Result{Cause: process.Broken, Error: "the child grid has forgotten its job: " + err.Error()})
		return nil, nil
	}
	if gone, err := t.withdraw(); err != nil {
		t.Say(external.Saying{Text: "it is not known whether the child grid has its job: " + err.Error()})
	} else if gone {
		t.FinishNever("the child grid has no job of it")
	}
	return nil, nil
}

// follow says how a job stands, cancels it where it shall end, and has its result fetched when it is over. It reports
// whether something has changed. An error means that the child does not answer.
func (t *Task) follow(job *v1.Job, details *int) (changed bool, err error) {
	if job.Over() {
		t.fetch()
		return true, nil
	}
	ctx, cancel := context.WithTimeout(t.e.ctx, askTime)
	defer cancel()
	if t.Asked() != 0 {
		_, err := t.e.o.API.Cancel(ctx, t.order.ID)
		if err != nil && !unanswered(err) {
			t.e.o.Log.Warn("a job of the child grid was not cancelled, which is tried again", "job", t.order.ID, "error", err)
		}
		return true, ifSilent(err)
	}
	where := fmt.Sprintf("job %s of grid %s", v1.Short(t.order.ID), t.e.Grid().Network)
	said := external.Saying{Text: where + ": " + job.State}
	if job.Running == 0 {
		said.Text = "waits as " + where
		if job.Waits != "" {
			said.Text += ": " + job.Waits
		}
	} else if *details > 0 {
		*details--
		page, err := t.e.o.API.Tasks(ctx, t.order.ID, 0, 1)
		if ifSilent(err) != nil {
			return false, err
		}
		if err == nil && len(page.Tasks) == 1 {
			said = sayingOf(&page.Tasks[0], where)
		}
	}
	return t.Say(said), nil
}

// sayingOf is what a task of the child that runs says of itself.
func sayingOf(task *v1.Task, where string) external.Saying {
	s := external.Saying{Text: where + ": " + task.At()}
	if task.Name != "" {
		s.Text += " on " + task.Name
	}
	if p := task.Progress; p != nil {
		s.Done, s.Total = p.Done, p.Total
		if p.Text != "" {
			s.Text = p.Text
		}
	}
	return s
}
