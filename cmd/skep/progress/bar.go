package progress

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	refresh  = 200 * time.Millisecond
	steps    = 1000 // of a whole bar
	barWidth = 30   // columns, where there is room
	leastBar = 12   // columns that text leaves to it

	// Columns of a terminal below which there is no bar, or no word of what work it is.
	leastForBar  = 40
	leastForWhat = 60
)

// bar is the line on the screen.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar
	now       func() time.Time

	mu       sync.Mutex // the library draws on a goroutine of its own
	state    State
	estimate estimate
	columns  int // of the terminal, when the line was drawn last
}

// newBar puts a bar on a terminal.
func newBar(to *os.File, now func() time.Time, s State, e estimate) *bar {
	b := &bar{now: now, state: s, estimate: e}
	b.container = mpb.New(mpb.WithOutput(to), mpb.WithRefreshRate(refresh))
	style := mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]").Build()
	draw := mpb.BarFillerFunc(func(w io.Writer, st decor.Statistics) error {
		if b.hasBar() {
			st.AvailableWidth-- // some terminals go to the next line after the last column
			return style.Fill(w, st)
		}
		return nil
	})
	// A total of 0 at first, or the bar would be complete, and go, once all is done.
	b.bar = b.container.MustAdd(0, draw, mpb.BarWidth(barWidth), mpb.PrependDecorators(decor.Any(b.what)),
		mpb.AppendDecorators(decor.Any(b.text)))
	b.bar.SetTotal(steps, false)
	b.fill(&s)
	return b
}

// set changes what the bar shows, from the next refresh on.
func (b *bar) set(s State, e estimate) {
	b.mu.Lock()
	b.state, b.estimate = s, e
	b.mu.Unlock()
	b.fill(&s)
}

func (b *bar) fill(s *State) {
	share, _ := s.share()
	b.bar.SetCurrent(int64(share * steps))
}

// remove takes it off the screen and returns when that has happened.
func (b *bar) remove() {
	b.bar.Abort(true)
	b.container.Wait()
}

// hasBar reports whether the line has more than text.
func (b *bar) hasBar() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, known := b.state.share()
	return known && b.columns >= leastForBar
}

// what is the text on the line's left. It is drawn first.
func (b *bar) what(st decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.columns = st.AvailableWidth; b.columns < leastForWhat {
		return ""
	}
	return runewidth.Truncate(b.state.What, 20, "…")
}

// text is the text on the line's right: what there is room for beside the bar.
func (b *bar) text(st decor.Statistics) string {
	room := st.AvailableWidth - 3 // the spaces around the bar, and the last column
	if b.hasBar() {
		room -= leastBar
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	left := time.Duration(0)
	if _, known := b.state.share(); known {
		left = b.estimate.left(b.now())
	}
	return b.state.line(left, room)
}
