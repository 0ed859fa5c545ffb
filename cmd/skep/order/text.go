package order

import (
	"fmt"
	"strings"
	"time"

	v1 "skep/node/api/v1"
)

// Text describes what is known of a job that another one waits for.
func Text(a *v1.AfterStory, count int, name func(id string) string) string {
	text := a.Kind + " job " + v1.Short(a.Job) + ": "
	switch a.State {
	case "met":
		return text + "it has ended as it should"
	case "failed":
		return text + "this job cannot run: " + a.Why
	}
	if a.Kind == "after_each" {
		text += fmt.Sprintf("%d of %d tasks have ended", a.Tasks, count)
	} else {
		text += "it has not ended"
	}
	switch {
	case a.Asked == "":
		return text + "; none of the nodes that keep it can be asked now"
	case a.News == nil:
		return text + "; " + name(a.Asked) + " was asked and has not answered"
	}
	age := time.Duration(*a.News * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s, as %s said %v ago", text, name(a.Asked), age)
}

// Rows returns what a specification says of other jobs, as names and values.
func Rows(s *v1.Spec) (rows [][2]string) {
	list := func(name string, jobs []v1.Dependency) {
		var ids []string
		for i := range jobs {
			ids = append(ids, v1.Short(jobs[i].Job))
		}
		if len(ids) > 0 {
			rows = append(rows, [2]string{name, strings.Join(ids, ", ")})
		}
	}
	list("after", s.After)
	list("after ok", s.AfterOK)
	if s.AfterEach != nil {
		list("after each", []v1.Dependency{*s.AfterEach})
	}
	for _, in := range s.JobInputs {
		to := in.To
		if to == "" {
			to = in.Path
		}
		which := fmt.Sprintf("%s of task %d of job %s", in.Path, in.Task, v1.Short(in.Job))
		if s.AfterEach != nil && s.AfterEach.Job == in.Job {
			which = fmt.Sprintf("%s of the same task of job %s", in.Path, v1.Short(in.Job))
		}
		rows = append(rows, [2]string{"input", to + ": " + which})
	}
	return rows
}
