package child

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"skep/exec/external"
	v1 "skep/node/api/v1"
)

// Task is an order for which the child has a job, or may have.
type Task struct {
	external.Task
	e     *Engine
	order Order // what changes is of the goroutine that starts it, and then of that which watches

	// of the goroutine that watches
	fetching chan error // of the collection that is under way; nil = none is
	failing  time.Time  // when the first of those failed that have failed one after the other; zero = none has
	again    time.Time  // when the next one may begin
}

func (e *Engine) newTask(o Order) *Task {
	t := &Task{e: e, order: o}
	e.Bind(&t.Task, o.Key, o.ID, o.Dir, o.Keep)
	return t
}

// save writes the order.
func (t *Task) save() error {
	if err := external.WriteRecord(filepath.Join(t.Dir(), orderFile), &t.order); err != nil {
		return fmt.Errorf("child grid: write order: %w", err)
	}
	return nil
}

// unsave removes the order of what was certainly not submitted.
func (t *Task) unsave() error {
	if err := os.Remove(filepath.Join(t.Dir(), orderFile)); err != nil {
		return err
	}
	return external.SyncFolder(t.Dir())
}

// submit hands the order over, and notes that the child has it.
func (t *Task) submit() error {
	ctx, cancel := context.WithTimeout(t.e.ctx, askTime)
	defer cancel()
	spec := t.order.Spec // the client adds to it what opens the job
	if _, err := t.e.o.API.Submit(ctx, t.order.ID, &spec); err != nil {
		return err
	}
	return t.isThere()
}

// isThere notes that the child has the job: if it does not know it later it has forgotten it.
func (t *Task) isThere() error {
	if t.order.Submitted {
		return nil
	}
	t.order.Submitted = true
	return t.save()
}

// withdraw takes the ID of a job that the child does not know for one that nobody can run, so that a submission which
// is under way is refused; gone reports that this is so. Else that submission was first.
// It is repeated until the answer is here: the withdrawal stands in the order, since a job of that ID is no longer the
// task's then.
func (t *Task) withdraw() (gone bool, err error) {
	if !t.order.Withdrawn {
		t.order.Withdrawn = true
		if err := t.save(); err != nil {
			return false, err
		}
	}
	ctx, cancel := context.WithTimeout(t.e.ctx, askTime)
	defer cancel()
	none := v1.Spec{Name: "withdrawn", Command: []string{"true"}, Wait: true, Access: t.order.Spec.Access,
		Needs: v1.Needs{Labels: map[string][]string{"withdrawn": {t.order.Key[:min(len(t.order.Key), 60)]}}}}
	job, err := t.e.o.API.Submit(ctx, t.order.ID, &none)
	switch {
	case status(err) == http.StatusConflict:
		t.order.Withdrawn = false
		return false, t.isThere()
	case err != nil:
		return false, err
	case job.Over():
		return true, nil
	}
	_, err = t.e.o.API.Cancel(ctx, t.order.ID)
	return err == nil, err
}
