package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"
)

const (
	showAfter = 500 * time.Millisecond // work that takes less is not shown
	quietTime = 300 * time.Millisecond // without output, before the line comes back
	lineEvery = 30 * time.Second       // between two lines in a log
)

// mode is where the progress is shown.
type mode uint8

const (
	none  mode = iota
	bars       // a line that is drawn again
	lines      // a line now and then
)

// modeOf returns how progress is shown on an error stream.
func modeOf(w io.Writer, quiet bool, term string) (mode, *os.File) {
	f, ok := w.(*os.File)
	if !ok || quiet {
		return none, nil
	}
	if cwriter.IsTerminal(int(f.Fd())) {
		if term == "" || term == "dumb" { // it cannot draw in place
			return lines, f
		}
		return bars, f
	}
	st, err := f.Stat()
	if err == nil && (st.Mode().IsRegular() || st.Mode()&os.ModeSocket != 0) {
		return lines, f
	}
	return none, nil
}

// Display shows the progress of one piece of work after the other. Its methods may be called at the same time; Close
// ends it.
type Display struct {
	mode mode
	file *os.File
	now  func() time.Time

	mu       sync.Mutex
	began    time.Time
	state    State
	estimate estimate
	bar      *bar        // nil = not on the screen
	again    *time.Timer // shows it when the terminal is quiet
	midline  bool        // what was printed last does not end a line
	printed  time.Time   // when something was
	told     time.Time   // when the last line was printed
	closed   bool
}

// Open returns a display for work that begins now; w is the error stream, and term the kind of the terminal, as in
// $TERM.
func Open(w io.Writer, quiet bool, term string) *Display {
	d := &Display{now: time.Now}
	d.mode, d.file = modeOf(w, quiet, term)
	d.began = d.now()
	d.told = d.began
	return d
}

// Interval is how often it is worth asking how far work is that somebody else does; 0 = never.
func (d *Display) Interval() time.Duration {
	switch d.mode {
	case bars:
		return time.Second
	case lines:
		return lineEvery
	}
	return 0
}

// Show shows a state.
func (d *Display) Show(s State) {
	if d.mode == none {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	share, known := s.share()
	if known {
		d.estimate.note(now, s.What, share)
	}
	d.state = s
	switch {
	case d.closed:
	case d.mode == lines:
		d.print(now)
	case s.Idle:
		d.hide()
	case d.bar != nil:
		d.bar.set(s, d.estimate)
	default:
		d.showWhenQuiet(now)
	}
}

// print prints a line, if one is due.
func (d *Display) print(now time.Time) {
	if d.state.Idle || now.Sub(d.told) < lineEvery {
		return
	}
	d.told = now
	_, known := d.state.share()
	left := time.Duration(0)
	if known {
		left = d.estimate.left(now)
	}
	text := d.state.line(left, 200)
	if d.state.What != "" {
		text = d.state.What + ": " + text
	}
	fmt.Fprintln(d.file, "skep: "+text)
}

// showWhenQuiet puts the bar on the screen, now or when nothing has been printed for a while.
func (d *Display) showWhenQuiet(now time.Time) {
	if d.midline || d.state.Idle || d.bar != nil {
		return
	}
	wait := max(showAfter-now.Sub(d.began), quietTime-now.Sub(d.printed))
	if wait <= 0 {
		d.bar = newBar(d.file, d.now, d.state, d.estimate)
		return
	}
	if d.again == nil {
		d.again = time.AfterFunc(wait, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.again = nil
			if !d.closed {
				d.showWhenQuiet(d.now())
			}
		})
	}
}

// hide takes the bar off the screen.
func (d *Display) hide() {
	if d.bar != nil {
		d.bar.remove()
		d.bar = nil
	}
}

// Hide takes the bar off the screen, until the next state.
func (d *Display) Hide() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hide()
}

// Close takes the bar off the screen for good. It may be called twice.
func (d *Display) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.hide()
	if d.again != nil {
		d.again.Stop()
	}
}

// Writer returns a writer to w that makes room first, if w is a terminal and there are bars.
func (d *Display) Writer(w io.Writer) io.Writer {
	f, ok := w.(*os.File)
	if d.mode != bars || !ok || !cwriter.IsTerminal(int(f.Fd())) {
		return w
	}
	return writer{d, f}
}

type writer struct {
	d *Display
	f *os.File
}

// Write writes what is printed beside the bar.
func (w writer) Write(p []byte) (int, error) {
	d := w.d
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hide()
	n, err := w.f.Write(p)
	if n > 0 {
		d.midline, d.printed = p[n-1] != '\n', d.now()
		if !d.closed {
			d.showWhenQuiet(d.printed)
		}
	}
	return n, err
}
