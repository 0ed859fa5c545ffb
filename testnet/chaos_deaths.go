package testnet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	v1 "skep/node/api/v1"
)

// Rerun is a task that ran on a node when that died, and began again.
type Rerun struct {
	Job     string   `json:"job"`
	Task    uint32   `json:"task"`
	Died    string   `json:"died"` // the node's name
	Silent  bool     `json:"silent,omitempty"`
	At      float64  `json:"uptime_seconds"` // of the death
	Origin  string   `json:"origin"`
	All     float64  `json:"seconds"`           // from the death until it began again
	Seconds float64  `json:"seconds_from_last"` // from the last death of a node that had it
	Hit     []string `json:"also_hit,omitempty"`
	Story   []string `json:"story,omitempty"` // what the origin tells, in seconds after the death
}

// before is how long before a node's death a task must have begun at most to have been running there, in seconds: the
// longest take two, and 40 where nodes die for good one after the other.
func (c *ChaosConfig) before() float64 {
	if c.Deaths > 0 {
		return 60
	}
	return 5
}

// auditDeaths measures how long it took until what ran on a dead node ran again.
func (x *chaos) auditDeaths(r *Report, log *runLog) {
	var clear, all []float64
	for _, d := range x.deaths {
		for _, runs := range log.tasks {
			u := runningAt(runs, &d, x.c.before())
			if u == nil || x.h.jobs[u.key.job] == nil || x.h.jobs[u.key.job].asked || x.h.jobs[u.key.job].once {
				continue
			}
			var next *run
			for _, v := range runs {
				if v.begun > d.at && v != u && (next == nil || v.begun < next.begun) {
					next = v
				}
			}
			if next == nil {
				r.NotAgain++
				continue
			}
			a := x.rerun(u, next, &d)
			r.Reruns = append(r.Reruns, a)
			all = append(all, a.All)
			if len(a.Hit) == 0 {
				clear = append(clear, a.Seconds)
			}
		}
	}
	slices.SortFunc(r.Reruns, func(a, b Rerun) int {
		return cmp.Or(cmp.Compare(len(a.Hit), len(b.Hit)), cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Job, b.Job),
			cmp.Compare(a.Task, b.Task))
	})
	r.Orphans, r.OrphansClear = len(all), len(clear)
	r.P95, r.Longest = percentile(clear, 0.95), percentile(clear, 1)
	r.P95All, r.LongestAll = percentile(all, 0.95), percentile(all, 1)
}

// rerun tells what became of a task from a death until it began again. The wait counts from the last death of a node
// that had it, and names whoever had to see to the task and could not for another reason.
func (x *chaos) rerun(u, next *run, d *death) Rerun {
	j := x.h.jobs[u.key.job]
	a := Rerun{Job: u.key.job, Task: u.key.index, Died: d.name, Silent: d.silent, At: d.at, Origin: j.origin,
		All: next.begun - d.at}
	type gift struct {
		to string
		at float64
	}
	var gifts []gift
	for _, s := range j.stories[u.key.index] {
		at := x.since(s.At)
		if at < d.at-x.c.before() || at > next.begun+1 {
			continue
		}
		a.Story = append(a.Story, tell(at-d.at, &s))
		if at > d.at && at < next.begun && s.What == "accepted" {
			gifts = append(gifts, gift{s.Name, at})
		}
	}
	from := d.at
	for _, g := range gifts {
		for i := range x.deaths {
			if e := &x.deaths[i]; e.name == g.to && e.at >= g.at && e.at < next.begun {
				from = max(from, e.at)
			}
		}
	}
	a.Seconds = next.begun - from
	if x.wasHarmed(j.origin, from, next.begun) {
		a.Hit = append(a.Hit, "its origin "+j.origin)
	}
	for _, g := range gifts {
		if g.at > from && x.wasHarmed(g.to, g.at, next.begun) {
			a.Hit = append(a.Hit, "who had it next, "+g.to)
		}
	}
	if was, _, _ := strings.Cut(u.key.attempt, "."); !strings.HasPrefix(next.key.attempt, was+".") {
		a.Hit = append(a.Hit, "its owner: the job was taken over")
	}
	if x.withoutMajority(j, from, next.begun) {
		a.Hit = append(a.Hit, "a majority of those who keep its job")
	}
	return a
}

// withoutMajority reports whether at some moment no majority of a job's members was unharmed.
func (x *chaos) withoutMajority(j *jobHistory, from, until float64) bool {
	at := []float64{from}
	for _, h := range x.harms {
		if h.from > from && h.from < until {
			at = append(at, h.from)
		}
	}
	for _, t := range at {
		harmed := 0
		for i := range x.t.state.Nodes {
			if n := &x.t.state.Nodes[i]; slices.Contains(j.members, n.ID) && x.wasHarmed(n.Name, t, t) {
				harmed++
			}
		}
		if 2*harmed > len(j.members) {
			return true
		}
	}
	return false
}

// runningAt returns the run that was going on at a death, if nothing else of the task was.
func runningAt(runs []*run, d *death, before float64) *run {
	var u *run
	for _, v := range runs {
		if v.begun > d.at {
			continue
		}
		if v.end > 0 && v.ended <= d.at {
			return nil
		}
		if u == nil || v.begun > u.begun {
			u = v
		}
	}
	if u == nil || u.node != d.node || u.end > 0 || u.begun < d.at-before {
		return nil
	}
	return u
}

// wasHarmed reports whether something was done to a node in a time.
func (x *chaos) wasHarmed(name string, from, until float64) bool {
	return slices.ContainsFunc(x.harms, func(h *harm) bool {
		return h.node == name && h.from <= until && (h.until == 0 || h.until > from)
	})
}

func percentile(xs []float64, p float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	slices.Sort(xs)
	return xs[min(len(xs)-1, int(math.Ceil(p*float64(len(xs))))-1)]
}

// tell is a step of a task's story, some seconds after a death.
func tell(t float64, s *v1.Step) string {
	text := fmt.Sprintf("%+7.2f s  %s", t, s.What)
	for _, w := range []string{s.Name, s.Reason, s.Detail} {
		if w != "" {
			text += " " + w
		}
	}
	if s.Asked > 0 {
		text += fmt.Sprintf(" (of %d asked; expected %.1f s)", s.Asked, s.ECT)
	}
	return text
}

// since is a moment in seconds of the machine's uptime.
func (x *chaos) since(at time.Time) float64 { return uptime() - time.Since(at).Seconds() }
