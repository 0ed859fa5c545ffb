package testnet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"skep/node/api/v1"
)

// history is every acknowledged call and what was answered, as far as it must stay true. Whatever contradicts something
// that was answered before is a violation.
type history struct {
	mu         sync.Mutex
	calls      int
	jobs       map[string]*jobHistory
	order      []string
	twice      int // tasks that were recorded with two results
	violations []string
	file       *json.Encoder // of every acknowledged call; may be nil
}

// call is an acknowledged call and what was answered.
type call struct {
	At    float64 `json:"uptime_seconds"`
	Call  string  `json:"call"`
	By    string  `json:"node"`
	Job   string  `json:"job"`
	State string  `json:"state,omitempty"`
	Ended int     `json:"ended,omitempty"`
	Error string  `json:"error,omitempty"`
}

// keep writes a call down. The lock is held.
func (h *history) keep(c call) {
	h.calls++
	if h.file != nil {
		c.At = uptime()
		_ = h.file.Encode(&c)
	}
}

// jobHistory is what was said of a job.
type jobHistory struct {
	id, origin string // the origin's name
	count      int
	cancelled  float64 // uptime when the cancellation was acknowledged; 0 = it was not
	asked      bool    // to be cancelled, acknowledged or not
	state      string
	ended      int
	members    []string // IDs of the nodes that keep its record; none: the origin alone
	results    map[uint32]recorded
	stories    map[uint32][]v1.Step // of tasks that were placed more than once, as told when the job was over
	over       bool

	once    bool              // its tasks run at most once
	said    map[uint32]string // what its tasks printed, if that was read when it was over
	changed bool              // nodes that keep its record were replaced
}

// recorded is how a task was said to have ended.
type recorded struct {
	attempt, node, cause string
	exit                 int32
}

func newHistory() *history { return &history{jobs: map[string]*jobHistory{}} }

func (h *history) violate(format string, args ...any) {
	if len(h.violations) < 100 {
		h.violations = append(h.violations, fmt.Sprintf(format, args...))
	}
}

// submitted notes that a submission was acknowledged.
func (h *history) submitted(id, origin string, count int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(call{Call: "submit", By: origin, Job: id})
	h.jobs[id] = &jobHistory{id: id, origin: origin, count: count, results: map[uint32]recorded{}}
	h.order = append(h.order, id)
}

// asking notes that a cancellation is asked for; cancelled that it was acknowledged.
func (h *history) asking(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jobs[id].asked = true
}

func (h *history) cancelled(id, by string, at float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(call{Call: "cancel", By: by, Job: id})
	if j := h.jobs[id]; j.cancelled == 0 {
		j.cancelled = at
	}
}

// list returns the jobs in the order of submission.
func (h *history) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.order...)
}

// job returns a copy of what was said of a job, without its results.
func (h *history) job(id string) jobHistory {
	h.mu.Lock()
	defer h.mu.Unlock()
	j := *h.jobs[id]
	j.results = nil
	return j
}

// terminal are the states that a job keeps.
func terminal(state string) bool {
	return state == v1.JobDone || state == v1.JobFailed || state == v1.JobCancelled
}

// saw checks what a node says of a job. A job that runs may be pending again, when the node of its only placed task has
// died; tasks that have ended stay so, and so does the end of the job.
func (h *history) saw(by string, j *v1.Job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(call{Call: "describe", By: by, Job: j.ID, State: j.State, Ended: j.Ended})
	k := h.jobs[j.ID]
	switch {
	case k == nil:
		return
	case j.Count != k.count:
		h.violate("job %s: %d tasks at %s, submitted with %d", short(j.ID), j.Count, by, k.count)
	case terminal(k.state) && j.State != k.state:
		h.violate("job %s: was %s, is %s at %s", short(j.ID), k.state, j.State, by)
	case j.Ended < k.ended:
		h.violate("job %s: %d tasks had ended, %d have at %s", short(j.ID), k.ended, j.Ended, by)
	case k.cancelled != 0 && j.State != v1.JobCancelled && !terminal(k.state):
		h.violate("job %s: its cancellation was acknowledged, it is %s at %s", short(j.ID), j.State, by)
	}
	if len(j.Members) > 0 {
		k.changed = k.changed || len(k.members) > 0 && !slices.Equal(k.members, j.Members)
		k.members = j.Members
	}
	k.state, k.ended, k.over = j.State, max(k.ended, j.Ended), j.Over()
}

// sawTask checks what a node says of a task.
func (h *history) sawTask(by, job string, t *v1.Task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.jobs[job]
	if k == nil {
		return
	}
	old, ended := k.results[t.Index]
	if t.Result == nil {
		if ended {
			h.violate("job %s task %d: had ended (%v), has no result at %s", short(job), t.Index, old, by)
		}
		return
	}
	r := recorded{t.Attempt, t.Node, t.Result.Cause, t.Result.Exit}
	if ended && old != r {
		h.twice++
		h.violate("job %s task %d: was recorded as %v, is %v at %s", short(job), t.Index, old, r, by)
		return
	}
	k.results[t.Index] = r
}

// told keeps the stories of tasks that were placed more than once.
func (h *history) told(job string, stories []v1.TaskStory) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.jobs[job]
	for i := range stories {
		if s := &stories[i]; !strings.HasSuffix(s.Task.Attempt, ".1") {
			if k.stories == nil {
				k.stories = map[uint32][]v1.Step{}
			}
			k.stories[s.Task.Index] = goOn(k.stories[s.Task.Index], s.Steps)
		}
	}
}

// goOn is a story as it was told before, as far as it is older than what is told now: a node that was started again has
// forgotten what came before.
func goOn(before, now []v1.Step) []v1.Step {
	if len(now) == 0 {
		return before
	}
	older := slices.IndexFunc(before, func(s v1.Step) bool { return !s.At.Before(now[0].At) })
	if older < 0 {
		older = len(before)
	}
	return append(before[:older:older], now...)
}

// vanished notes that a node that has to know a job does not.
func (h *history) vanished(id, by string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(call{Call: "describe", By: by, Job: id, Error: err.Error()})
	h.violate("job %s: was acknowledged, and %s does not know it: %v", short(id), by, err)
}

func short(id string) string { return id[:min(len(id), 8)] }
