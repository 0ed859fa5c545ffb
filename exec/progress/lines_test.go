package progress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]grid.Progress{
		"progress 3 10":                   {Done: 3, Total: 10},
		"progress 3 10 half way  there":   {Done: 3, Total: 10, Text: "half way  there"},
		"  progress\t0.5 1\r":             {Done: 0.5, Total: 1},
		"progress 7 0 files":              {Done: 7, Text: "files"},
		"progress 12 10":                  {Done: 12, Total: 10},
		"progress 1 2 a\x1b[2Jb\u202ec":   {Done: 1, Total: 2, Text: "a?[2Jb?c"},
		"progress 1 2 \xff":               {Done: 1, Total: 2, Text: "?"},
		"progress 1000000000000000 1 big": {Done: grid.MaxProgress, Total: 1, Text: "big"},
		"progress 1 2 " + strings.Repeat("ä", 200): {Done: 1, Total: 2,
			Text: strings.Repeat("ä", grid.MaxProgressText/2)},
	} {
		if got, ok := parse(line); !ok || got != want {
			t.Errorf("%q: %+v, %v: want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "progress", "progress 1", "progress 1 x", "progress x 1", "progress -1 2",
		"progress 1e3 2", "progress inf 2", "progress nan 2", "progress 0x1 2", "progress . 2", "progress 1.2.3 4",
		"Progress 1 2", "progress: 1 2", "progress 1/2", "progress 1000000000000001 1"} {
		if got, ok := parse(line); ok {
			t.Errorf("%q is taken for %+v", line, got)
		}
	}
}

// clock drives lines by hand.
type clock struct {
	t   *testing.T
	now time.Time
	lines
}

// write adds what a task writes, after some time, and returns what is told at once.
func (c *clock) write(after time.Duration, text string) *grid.Progress {
	c.now = c.now.Add(after)
	c.add(c.now, []byte(text))
	return c.look()
}

func (c *clock) look() *grid.Progress {
	p, tell, _ := c.due(c.now)
	if !tell {
		return nil
	}
	return &p
}

func newClock(t *testing.T) *clock { return &clock{t: t, now: time.Now()} }

// What is said more often than once a second is told once, and the last of it is not forgotten.
func TestOneReportASecond(t *testing.T) {
	c := newClock(t)
	if p := c.write(0, "progress 1 9\nprogress 2 9\n"); p == nil || p.Done != 2 {
		t.Errorf("the first lines: %+v, want the last of them at once", p)
	}
	for i := range 9 {
		if p := c.write(100*time.Millisecond, "progress "+string('0'+rune(i))+" 9\n"); p != nil {
			t.Errorf("after %d00 ms: %+v, want nothing", i+1, p)
		}
	}
	if _, _, next := c.due(c.now); next.Sub(c.now) != 100*time.Millisecond {
		t.Errorf("the next report is due in %v, want 100 ms", next.Sub(c.now))
	}
	c.now = c.now.Add(100 * time.Millisecond)
	if p := c.look(); p == nil || p.Done != 8 {
		t.Errorf("after a second: %+v, want the last line", p)
	}
	if _, tell, next := c.due(c.now.Add(time.Hour)); tell || !next.IsZero() {
		t.Errorf("a task that says nothing more: told %v, due at %v, want neither", tell, next)
	}
}

func TestWhatIsNoProgressIsCounted(t *testing.T) {
	c := newClock(t)
	if p := c.write(0, "hello\nprogress 1 2 a\n\n"); p == nil || p.Done != 1 || p.Rejected != 2 {
		t.Errorf("%+v, want the progress and 2 lines rejected", p)
	}
	if p := c.write(time.Second, "progress 2 2 "+strings.Repeat("x", 600)+"\n"); p == nil || p.Done != 1 ||
		p.Rejected != 3 {
		t.Errorf("after a line that is too long: %+v, want what was said before and 3 rejected", p)
	}
	c.write(time.Second, "prog")
	if p := c.write(0, "ress 2 2\nprogress 9"); p == nil || p.Done != 2 {
		t.Errorf("a line in two parts: %+v", p)
	}
}

// A line about a checkpoint counts once, in its turn, and only with a greater number; it says no progress. Of many the
// newest few are told, and not at once.
func TestCheckpoints(t *testing.T) {
	c := newClock(t)
	closed := func(after time.Duration, text, want string) {
		t.Helper()
		c.write(after, text)
		steps, _ := c.dueClosed(c.now)
		if got := fmt.Sprint(steps); got != want {
			t.Errorf("after %q: %s, want %s", text, got, want)
		}
	}
	closed(0, "checkpoint 7\nprogress 1 2\n", "[7]")
	closed(0, "checkpoint 8\n", "[]")
	if _, next := c.dueClosed(c.now); next.Sub(c.now) != closedEvery {
		t.Errorf("the next are due in %v, want %v", next.Sub(c.now), closedEvery)
	}
	closed(closedEvery, "", "[8]")
	closed(closedEvery, "checkpoint 8\ncheckpoint 3\n", "[]")
	closed(closedEvery, "check", "[]")
	closed(closedEvery, "point 9\r\n", "[9]")
	closed(closedEvery, "checkpoint 10\ncheckpoint 11\ncheckpoint 12\ncheckpoint 13\ncheckpoint 14\n", "[11 12 13 14]")
	if c.last.Done != 1 || c.last.Rejected != 2 {
		t.Errorf("%+v: want the progress, and two lines rejected", c.last)
	}
	for _, line := range []string{"checkpoint", "checkpoint 0", "checkpoint -1", "checkpoint 1.5", "checkpoint 0x20",
		"checkpoint 20 x", "checkpoint +20", "Checkpoint 20", "checkpoint 1000000000000001",
		"checkpoint 99999999999999999999", "checkpoint 20" + strings.Repeat(" ", 600)} {
		closed(closedEvery, line+"\n", "[]")
	}
}

// A flood costs no more than the bound, and the task is heard again afterwards.
func TestFlood(t *testing.T) {
	c := newClock(t)
	flood := strings.Repeat("progress 1 2\n", 1000)
	for range 1000 {
		c.write(0, flood)
	}
	if c.parsed > maxParsed+len(flood) {
		t.Errorf("%d bytes were looked at in a second, want about %d", c.parsed, maxParsed)
	}
	if p := c.write(time.Second, "2 2\nprogress 2 2\n"); p == nil || p.Done != 2 || p.Rejected != 1 {
		t.Errorf("after a flood: %+v, want the whole line, and the cut one rejected", p)
	}
}
