package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// Bounds of the text of a page: of a longer one, the oldest lines are dropped.
const (
	maxLines   = 2000
	maxLineLen = 2000 // bytes of a line
)

// Messages of a page. Each belongs to the page that asked for it, by its context.
type (
	textMsg struct {
		of   *page
		text string
		err  error
	}
	openedMsg struct {
		of     *page
		task   uint32
		stream Stream
		err    error
	}
	frameMsg struct {
		of     *page
		stream Stream
		frame  v1.Frame
		event  *v1.Event
		err    error
	}
)

// page is text about one job: its explanation, or what a task of it prints.
type page struct {
	job   v1.ListedJob
	logs  bool
	task  uint32
	lines []string
	part  [2]string // the unfinished last line of each stream
	state string    // of what is shown: what there is to wait for, or how the task ended
	below int       // lines below the last one that is shown; 0 = the newest are shown as they come

	base   context.Context
	ctx    context.Context // of the requests for what is shown now
	cancel context.CancelFunc
	stream Stream
}

func newPage(ctx context.Context, job *v1.ListedJob, logs bool) *page {
	p := &page{job: *job, logs: logs, base: ctx}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

// open begins to follow the page's task.
func (p *page) open(m *Model) tea.Cmd {
	p.state = "asking…"
	ctx, task := p.ctx, p.task
	return func() tea.Msg {
		s, err := m.source.Logs(ctx, p.job.ID, task)
		return openedMsg{p, task, s, err}
	}
}

// explain asks for the explanation.
func (p *page) explain(m *Model) tea.Cmd {
	p.state = "asking…"
	return m.request(func(ctx context.Context) tea.Msg {
		text, err := m.source.Explain(ctx, p.job.ID)
		return textMsg{p, text, err}
	})
}

// read waits for more of the output.
func (p *page) read() tea.Cmd {
	s := p.stream
	return func() tea.Msg {
		f, e, err := s.Next()
		return frameMsg{p, s, f, e, err}
	}
}

func (p *page) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case textMsg:
		if msg.of != p {
			return nil
		}
		p.state = ""
		p.say(m, msg.err)
		for line := range strings.Lines(msg.text) {
			p.add(m, strings.TrimSuffix(line, "\n"))
		}
		p.below = max(0, len(p.lines)-m.pageLines()) // from the beginning
	case openedMsg:
		switch {
		case msg.of != p || msg.task != p.task:
			if msg.stream != nil {
				msg.stream.Close()
			}
		case msg.err != nil:
			p.state = ""
			p.say(m, msg.err)
		default:
			p.state, p.stream = "", msg.stream
			return p.read()
		}
	case frameMsg:
		if msg.of != p || msg.stream != p.stream {
			return nil
		}
		return p.frame(m, &msg)
	}
	return nil
}

// frame adds a frame, and waits for the next one.
func (p *page) frame(m *Model, msg *frameMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		if p.close(); !errors.Is(msg.err, io.EOF) {
			p.say(m, msg.err)
		}
		return nil
	case msg.event != nil:
		if e := msg.event; e.Event == v1.EventError {
			p.say(m, errors.New(e.Error))
		} else if e.Task != nil && e.Task.Result != nil {
			p.state = fmt.Sprintf("%s with %d", e.Task.Result.Cause, e.Task.Result.Exit)
		}
		return p.read()
	}
	part := &p.part[0]
	if msg.frame.Kind == v1.FrameStderr {
		part = &p.part[1]
	}
	*part += string(msg.frame.Data)
	for {
		line, rest, whole := strings.Cut(*part, "\n")
		if !whole && len(line) <= maxLineLen {
			break
		}
		if len(line) > maxLineLen {
			line, rest = (*part)[:maxLineLen], (*part)[maxLineLen:]
		}
		p.add(m, line)
		*part = rest
	}
	return p.read()
}

// say adds an error as text, if there is one.
func (p *page) say(m *Model, err error) {
	if err == nil {
		return
	}
	for line := range strings.Lines(ansi.Wrap("skep: "+err.Error(), max(m.size.width, minWidth), "")) {
		p.add(m, strings.TrimSuffix(line, "\n"))
	}
}

// add adds a line.
func (p *page) add(m *Model, line string) {
	line = strings.ReplaceAll(line, "\t", "        ")
	p.lines = append(p.lines, m.text.Clean(line[:min(len(line), maxLineLen)]))
	if more := len(p.lines) - maxLines; more > 0 {
		p.lines = append(p.lines[:0], p.lines[more:]...)
	}
	if p.below > 0 && p.logs { // what is being read stays where it is
		p.below = min(p.below+1, len(p.lines))
	}
}

// all returns the lines, with those that are not finished yet.
func (p *page) all(m *Model) []string {
	lines := p.lines
	for _, part := range p.part {
		if part != "" {
			lines = append(lines[:len(lines):len(lines)], m.text.Clean(part))
		}
	}
	return lines
}

// key is what a key does on a page.
func (p *page) key(m *Model, key string) tea.Cmd {
	switch key {
	case "q", "esc", "backspace", "enter":
		p.close()
		m.page = nil
		return nil
	case "left", "right", "p", "n":
		if !p.logs || p.job.Count < 2 {
			return nil
		}
		by := map[string]int{"left": -1, "p": -1, "right": 1, "n": 1}[key]
		task := max(0, min(int(p.task)+by, p.job.Count-1, grid.MaxCount-1))
		if uint32(task) == p.task {
			return nil
		}
		p.close()
		fresh := newPage(p.base, &p.job, true)
		fresh.task = uint32(task)
		m.page = fresh
		return fresh.open(m)
	}
	if by, ok := steps(key, m.pageLines()); ok {
		most := max(0, len(p.all(m))-m.pageLines())
		p.below = max(0, min(p.below-by, most))
	}
	return nil
}

// close ends the requests of the page.
func (p *page) close() {
	p.cancel()
	if p.stream != nil {
		p.stream.Close()
		p.stream = nil
	}
}
