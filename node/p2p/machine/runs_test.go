package machine

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"skep/grid"
	"skep/node/p2p/clock"
)

// Each run that begins more than a day after the one before by the wall clock leaves a gap, which later runs know too.
func TestLongGapsBetweenRunsAreKept(t *testing.T) {
	dir, ended := t.TempDir(), context.Background()
	ended, end := context.WithCancel(ended)
	end()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	run := func(after time.Duration) (gaps []Gap) {
		now = now.Add(after)
		gaps = Gaps(dir, now)
		WatchRun(ended, dir, grid.Wall{Zero: now.Add(-time.Duration(clock.Now()))}, gaps)
		return gaps
	}
	if gaps := append(run(0), run(23*time.Hour)...); len(gaps) > 0 {
		t.Errorf("before the first run, and after a short pause: %v", gaps)
	}
	first := now
	if gaps := run(240 * time.Hour); len(gaps) != 1 || !gaps[0].To.Equal(now) ||
		gaps[0].From.Sub(first).Abs() > time.Minute {
		t.Errorf("after ten days: %v", gaps)
	}
	if gaps := run(-1000 * time.Hour); len(gaps) != 1 {
		t.Errorf("after the clock was set back: %v", gaps)
	}
	if gaps := run(480 * time.Hour); len(gaps) != 2 || !gaps[1].To.Equal(now) {
		t.Errorf("after further 20 days: %v", gaps)
	}
	for range mostGaps {
		run(48 * time.Hour)
	}
	if gaps := run(0); len(gaps) != mostGaps || gaps[0].To.Sub(gaps[0].From) > 100*time.Hour {
		t.Errorf("after many: %d, the oldest %v", len(gaps), gaps[0])
	}
	if err := os.WriteFile(filepath.Join(dir, runsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if gaps := run(480 * time.Hour); len(gaps) > 0 {
		t.Errorf("of a file that cannot be read: %v", gaps)
	}
}
