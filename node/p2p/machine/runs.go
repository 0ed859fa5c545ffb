package machine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/disk"
)

const (
	runsFile         = "runs"
	runsSaveInterval = 5 * time.Minute // between two writes: so much earlier a run may seem to have ended
	leastGap         = 24 * time.Hour  // shorter ones are not listed
	mostGaps         = 64              // listed; the oldest are dropped
)

// Gap is a time in which no node ran in a data folder: from the last moment of a run to the first one of the next, by
// the wall clocks that these two had. A node keeps that of its start: where the machine's clock was set since, what the
// node records has the old one.
type Gap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// runs is what is known of the runs of nodes in a data folder.
type runs struct {
	Until time.Time `json:"until"` // of the last one, to the interval
	Gaps  []Gap     `json:"gaps,omitempty"`
}

// Gaps returns the long gaps between the runs in a data folder, oldest first, with that before a run that starts now.
// What cannot be read is no gap.
func Gaps(dir string, now time.Time) []Gap {
	r := runs{}
	b, err := os.ReadFile(filepath.Join(dir, runsFile))
	if err != nil || json.Unmarshal(b, &r) != nil {
		return nil
	}
	if !r.Until.IsZero() && now.Sub(r.Until) > leastGap {
		r.Gaps = append(r.Gaps, Gap{r.Until, now})
	}
	return r.Gaps[max(len(r.Gaps)-mostGaps, 0):]
}

// WatchRun keeps in the data folder until when a node runs there, with the gaps before, until ctx ends. A write error
// is ignored: the gap that follows seems to be longer.
func WatchRun(ctx context.Context, dir string, wall grid.Wall, gaps []Gap) {
	save := func() {
		if b, err := json.Marshal(runs{wall.At(clock.Now()).UTC(), gaps}); err == nil {
			disk.WriteFile(filepath.Join(dir, runsFile), b)
		}
	}
	defer save()
	tick := time.NewTicker(runsSaveInterval)
	defer tick.Stop()
	for {
		save()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
