package slurm

import "time"

// pace says when to look next.
type pace struct {
	poll   time.Duration
	pause  time.Duration
	due    time.Time
	silent bool // the controller does not answer
}

// idle is the pause while there are no tasks: hurry ends it.
const idle = 24 * time.Hour

// next is the pause after a look: the least one while something changes, longer and longer while nothing does.
func (p *pace) next(now time.Time, some, changed bool) time.Duration {
	switch {
	case !some:
		p.pause = idle
	case p.silent:
		p.pause = min(max(2*p.pause, p.poll), max(maxRetry, p.poll))
	case changed || p.pause == idle:
		p.pause = p.poll
	default:
		p.pause = min(max(p.pause+p.pause/4, p.poll), max(maxPoll, p.poll))
	}
	p.due = now.Add(p.pause)
	return p.pause
}

// hurry is the pause now that there is news of the node's own: what else comes in that time is looked at with it. A
// controller that does not answer is not asked more often for it.
func (p *pace) hurry(now time.Time) time.Duration {
	if !p.silent {
		p.pause = p.poll
		if at := now.Add(p.poll); p.due.After(at) {
			p.due = at
		}
	}
	return max(p.due.Sub(now), 0)
}
