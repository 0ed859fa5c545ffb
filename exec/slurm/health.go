package slurm

import (
	"context"
	"time"
)

// healthLimit bounds a look at the partition: a controller that takes longer does not answer.
const healthLimit = 20 * time.Second

// health looks at whether the partition takes jobs until Close. It goes on while the node has no tasks: what is offered
// to a node whose controller does not answer would wait there for nothing.
func (e *Engine) health() {
	away := false
	for {
		pause := e.o.Health
		if away {
			pause /= 3
		}
		select {
		case <-time.After(pause):
		case <-e.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(e.ctx, healthLimit)
		o := Options{Partition: e.cluster.Partition}
		_, err := Look(ctx, &o)
		cancel()
		if e.ctx.Err() != nil || (err != nil) == away {
			continue
		}
		if away = err != nil; away {
			e.o.Log.Warn("Slurm takes no jobs now: the node takes no tasks, and its jobs go on", "error", err)
		} else {
			e.o.Log.Info("Slurm takes jobs again")
		}
		if e.o.Away != nil {
			e.o.Away(away)
		}
	}
}
