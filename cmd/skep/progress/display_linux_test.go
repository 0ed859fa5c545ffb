package progress

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"skep/internal/screen"
)

func newTerminal(t *testing.T, columns int) *screen.Terminal {
	t.Helper()
	return screen.Open(t, screen.Options{Rows: 24, Columns: columns})
}

// has reports that a text has all of some words.
func has(words ...string) func(string) bool {
	return func(text string) bool {
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	}
}

// at is a display on a terminal whose work began a while ago, so that it is shown at once.
func at(x *screen.Terminal) *Display {
	d := Open(x.File, false, "xterm")
	d.began = d.began.Add(-time.Minute)
	return d
}

// isQuiet has what was printed last be long ago.
func isQuiet(d *Display) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.printed = time.Time{}
}

// The line has what matters at 80 columns, at several moments, and nothing is left of it at the end.
func TestBarOnATerminal(t *testing.T) {
	x := newTerminal(t, 80)
	fmt.Fprintln(x.File, "before")
	d := at(x)
	var later atomic.Int64 // the line is drawn by a goroutine of its own
	began := time.Now()
	d.now = func() time.Time { return began.Add(time.Duration(later.Load())) }
	job := State{What: "job abcdefgh", Unit: Tasks, Done: 0, Total: 100, Tasks: Counts{Running: 4, Waiting: 96}}
	d.Show(job)
	x.Shows("before\njob abcdefgh [  ", "] 0 of 100, 4 running, 96 waiting")
	later.Store(int64(30 * time.Second))
	job.Done, job.Tasks = 50, Counts{Running: 4, Waiting: 46, Failed: 2}
	d.Show(job)
	text := x.Shows("before\njob abcdefgh [=", ">",
		"] 50 of 100, 4 running, 46 waiting, 2 failed, 30s left")
	if n := len(strings.Split(text, "\n")); n != 2 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	fmt.Fprint(d.Writer(x.File), "printed\n")
	isQuiet(d)
	d.Show(job)
	x.Shows("before\nprinted\njob abcdefgh [=", "50 of 100")
	d.Close()
	x.Await("the end", func(text string) bool { return text == "before\nprinted" })
	d.Show(job)
	fmt.Fprint(d.Writer(x.File), "after\n")
	x.Await("what follows", func(text string) bool { return text == "before\nprinted\nafter" })
}

// What the task prints stays whole: the line is not drawn behind text that does not end a line.
func TestBarMakesWay(t *testing.T) {
	x := newTerminal(t, 80)
	d := at(x)
	defer d.Close()
	out := d.Writer(x.File)
	s := State{What: "job abcdefgh", Unit: Own, Done: 1, Total: 4, Text: "fitting"}
	d.Show(s)
	x.Shows("1 of 4, fitting")
	io.WriteString(out, "a question? ")
	x.Await("the question", func(text string) bool { return text == "a question?" })
	isQuiet(d)
	d.Show(s)
	d.mu.Lock()
	shown := d.bar != nil
	d.mu.Unlock()
	if shown {
		t.Error("the line is drawn behind a text that does not end a line")
	}
	io.WriteString(out, "yes\n")
	isQuiet(d)
	d.Show(s)
	x.Shows("a question? yes\njob abcdefgh [", "1 of 4, fitting")
}

// A narrow terminal has less of the line, and never two lines.
func TestBarIsOneLine(t *testing.T) {
	for _, columns := range []int{12, 20, 39, 40, 60, 80, 200} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			x := newTerminal(t, columns)
			d := at(x)
			defer d.Close()
			s := State{What: "job abcdefgh", Unit: Tasks, Done: 12, Total: 100,
				Tasks: Counts{Running: 14, Waiting: 71, Failed: 3}, Text: strings.Repeat("w", 300)}
			d.Show(s)
			text := x.Shows("12 of 100")
			if strings.Contains(text, "\n") || runewidth.StringWidth(text) >= columns {
				t.Errorf("in %d columns:\n%s", columns, text)
			}
			if columns >= 40 && !has("[", ">", "]", "3 failed")(text) || columns >= 60 && !has("job abcdefgh [")(text) {
				t.Errorf("in %d columns: %s", columns, text)
			}
		})
	}
}

func TestWhereProgressIsShown(t *testing.T) {
	x := newTerminal(t, 80)
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, c := range []struct {
		to    io.Writer
		quiet bool
		term  string
		want  mode
	}{
		{x.File, false, "xterm", bars}, {x.File, true, "xterm", none}, {x.File, false, "dumb", lines},
		{x.File, false, "", lines}, {file, false, "xterm", lines}, {file, true, "", none}, {write, false, "xterm", none},
		{null, false, "xterm", none}, {new(strings.Builder), false, "xterm", none},
	} {
		if got, _ := modeOf(c.to, c.quiet, c.term); got != c.want {
			t.Errorf("%T, quiet %v, TERM %q: mode %d, want %d", c.to, c.quiet, c.term, got, c.want)
		}
	}
}

// Bytes that are read twice count half each time.
func TestTransfer(t *testing.T) {
	d := Open(io.Discard, false, "xterm")
	x := d.Transfer("upload", 3<<20)
	io.Copy(x.Counter(0.5), strings.NewReader(strings.Repeat("x", 1<<20)))
	x.Add(1<<20, 0.5)
	if got := x.state.amount(); got != "1.0 MiB of 3.0 MiB" {
		t.Errorf("%s", got)
	}
	x.Add(9<<20, 1)
	if got := x.state.amount(); got != "3.0 MiB of 3.0 MiB" {
		t.Errorf("a file that has grown: %s", got)
	}
}

// A log gets a line in 30 s and no escape sequence.
func TestLinesInALog(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d := Open(file, false, "xterm")
	now := d.began
	d.now = func() time.Time { return now }
	for done := range 100 {
		d.Show(State{What: "job abcdefgh", Unit: Tasks, Done: float64(done), Total: 100, Tasks: Counts{Running: 1,
			Waiting: 99 - done}})
		now = now.Add(time.Second)
	}
	d.Close()
	got, err := os.ReadFile(file.Name())
	const want = "skep: job abcdefgh: 30 of 100, 1 running, 69 waiting, 70s left\n" +
		"skep: job abcdefgh: 60 of 100, 1 running, 39 waiting, 40s left\n" +
		"skep: job abcdefgh: 90 of 100, 1 running, 9 waiting, 10s left\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}
