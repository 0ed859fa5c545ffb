package top

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

var update = flag.Bool("update", false, "write testdata anew")

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// fakeNode answers what a test says.
type fakeNode struct {
	nodes   []v1.Node
	here    []v1.ListedJob
	grid    []v1.ListedJob
	silent  []string
	err     error // of every answer
	asked   []string
	frames  map[uint32][]v1.Frame // what tasks print
	open    int                   // streams
	explain string
}

func (f *fakeNode) Nodes(context.Context) (v1.NodeList, error) {
	f.asked = append(f.asked, "nodes")
	return v1.NodeList{Nodes: f.nodes}, f.err
}

func (f *fakeNode) List(_ context.Context, q *client.ListQuery) (v1.JobPage, error) {
	if q.Grid {
		f.asked = append(f.asked, "grid")
		return v1.JobPage{Jobs: f.grid, Silent: f.silent}, f.err
	}
	f.asked = append(f.asked, "here")
	return v1.JobPage{Jobs: f.here}, f.err
}

func (f *fakeNode) Cancel(_ context.Context, ref string) (v1.Job, error) {
	f.asked = append(f.asked, "cancel "+ref)
	return v1.Job{ID: ref, State: v1.JobCancelled}, f.err
}

func (f *fakeNode) Explain(context.Context, string) (string, error) { return f.explain, f.err }

func (f *fakeNode) Logs(_ context.Context, _ string, task uint32) (Stream, error) {
	if f.err != nil {
		return nil, f.err
	}
	f.open++
	return &fakeStream{f, f.frames[task]}, nil
}

type fakeStream struct {
	of     *fakeNode
	frames []v1.Frame
}

func (s *fakeStream) Next() (v1.Frame, *v1.Event, error) {
	if len(s.frames) == 0 {
		return v1.Frame{}, nil, io.EOF
	}
	f := s.frames[0]
	s.frames = s.frames[1:]
	return f, nil, nil
}

func (s *fakeStream) Close() error { s.of.open--; return nil }

// screen is a view that a test drives: commands run at once, and time passes when the test says so.
type screen struct {
	*Model
	t *testing.T
}

func newScreen(t *testing.T, f *fakeNode, width, height int) *screen {
	age := func(d time.Duration) string { return fmt.Sprintf("%.0fs", d.Seconds()) }
	m := New(t.Context(), f, Text{Age: age, Clean: func(s string) string { return grid.Clean(s, len(s)) }}, noon)
	m.wait = func() tea.Cmd { return nil }
	s := &screen{m, t}
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	s.do(m.Init())
	return s
}

// do runs a command and what follows from it.
func (s *screen) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			s.do(c)
		}
	default:
		s.send(msg)
	}
}

func (s *screen) send(msg tea.Msg) {
	_, cmd := s.Update(msg)
	s.do(cmd)
}

// press presses keys.
func (s *screen) press(keys ...string) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		switch k {
		case "up":
			msg = tea.KeyPressMsg{Code: tea.KeyUp}
		case "down":
			msg = tea.KeyPressMsg{Code: tea.KeyDown}
		case "right":
			msg = tea.KeyPressMsg{Code: tea.KeyRight}
		case "tab":
			msg = tea.KeyPressMsg{Code: tea.KeyTab}
		case "esc":
			msg = tea.KeyPressMsg{Code: tea.KeyEscape}
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "end":
			msg = tea.KeyPressMsg{Code: tea.KeyEnd}
		}
		if msg.String() != k {
			s.t.Fatalf("key %q is %q", k, msg.String())
		}
		s.send(msg)
	}
}

// pass lets seconds pass.
func (s *screen) pass(seconds int) {
	for range seconds {
		s.send(tickMsg(s.now.Add(time.Second)))
	}
}

// lines returns the lines of the screen without what is not text.
func (s *screen) lines() []string { return strings.Split(ansi.Strip(s.View().Content), "\n") }

// is compares the screen with a file.
func (s *screen) is(name string) {
	s.t.Helper()
	lines := s.lines()
	if len(lines) != s.size.height {
		s.t.Errorf("%s: %d lines on a screen of %d", name, len(lines), s.size.height)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > s.size.width {
			s.t.Errorf("%s: line %d has %d columns of %d", name, i+1, w, s.size.width)
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	got, file := strings.Join(lines, "\n")+"\n", filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if got != string(want) {
		s.t.Errorf("%s:\n%swant\n%s", name, got, want)
	}
}

// has reports whether a line of the screen contains a text.
func (s *screen) has(text string) bool { return strings.Contains(strings.Join(s.lines(), "\n"), text) }

// lab is a grid of 9 nodes and 20 jobs.
func lab() *fakeNode {
	f := &fakeNode{explain: "job aaaaaaaa, class sim\n\ntask 0: running\n  0s  chose alpha\n"}
	for i := range 9 {
		n := v1.Node{ID: strings.Repeat(string(rune('a'+i)), 52), Name: fmt.Sprintf("node-%d", i), State: v1.NodeConnected,
			Cores: 16, FreeCores: float64(i) * 1.75, Backlog: float64(8-i) * 3, Speed: 0.9 + float64(i)/10, Up: 0.97,
			RTT: 0.4, Age: float64(i)}
		switch i {
		case 0:
			n.State, n.RTT, n.Name = v1.NodeSelf, 0, "alpha"
		case 3:
			n.State, n.Refuses = v1.NodeDraining, "draining"
		case 5:
			n.Name = "a-node-with-a-name-that-is-far-too-long-for-a-column"
		}
		f.nodes = append(f.nodes, n)
	}
	for i := range 20 {
		j := v1.ListedJob{OriginName: fmt.Sprintf("node-%d", i%9)}
		j.ID = strings.Repeat(string(rune('a'+i)), 16) + "-" + strings.Repeat("a", 52)
		j.Name, j.State, j.Count = fmt.Sprintf("sweep-%d", i), v1.JobDone, 100
		j.Ended, j.Submitted = 100, noon.Add(-time.Duration(i)*time.Minute)
		switch {
		case i < 3:
			j.State, j.Ended, j.Placed, j.Pending = v1.JobRunning, 10+30*i, 15, 75-30*i
		case i == 3:
			j.State, j.Ended, j.Count, j.Pending, j.Name = v1.JobPending, 0, 100_000, 100_000, "näme-that-is-too-long-日本語"
		case i == 4:
			j.State, j.Failed, j.Behind = v1.JobFailed, 7, true
		}
		f.grid = append(f.grid, j)
	}
	f.here = []v1.ListedJob{f.grid[0]}
	return f
}

func TestScreens(t *testing.T) {
	f := lab()
	s := newScreen(t, f, 80, 24)
	s.is("tables-80x24")
	s.press("down", "down", "down", "down")
	s.press("c")
	if s.confirm != nil || !s.has("job eeeeeeee is over") {
		t.Error("a job that is over can be cancelled")
	}
	s.press("up", "up", "c")
	s.is("confirm-80x24")
	s.press("x", "tab", "down", "down", "down", "down", "down", "down")
	s.is("nodes-80x24")
	s.send(tea.WindowSizeMsg{Width: 132, Height: 40})
	s.is("tables-132x40")
	s.send(tea.WindowSizeMsg{Width: 60, Height: 12})
	s.is("tables-60x12")
	s.send(tea.WindowSizeMsg{Width: 59, Height: 9})
	if got := s.View().Content; got != "skep top: want a terminal of 60 × 10 at least; q quits" {
		t.Errorf("a tiny terminal shows %q", got)
	}
}

func TestTextPages(t *testing.T) {
	f := lab()
	f.frames = map[uint32][]v1.Frame{0: {{Kind: v1.FrameStdout, Data: []byte("step 1\nst")},
		{Kind: v1.FrameStderr, Data: []byte("warning: \x1b[2J\thot\n")}, {Kind: v1.FrameStdout, Data: []byte("ep 2\nste")}},
		1: nil}
	for i := range 40 {
		f.frames[1] = append(f.frames[1], v1.Frame{Kind: v1.FrameStdout, Data: fmt.Appendf(nil, "line %d\n", i)})
	}
	s := newScreen(t, f, 80, 24)
	s.press("l")
	s.is("logs-80x24")
	s.press("right")
	if !s.has("output of task 1 of job aaaaaaaa") || !s.has("line 39") || s.has("line 17\n") {
		t.Errorf("the newest lines of task 1 are not shown:\n%s", strings.Join(s.lines(), "\n"))
	}
	s.press("up", "up")
	if s.has("\nline 38") || !s.has("\nline 37") || !s.has("(to line 38 of 40)") {
		t.Errorf("two lines up:\n%s", strings.Join(s.lines(), "\n"))
	}
	s.press("esc", "e")
	s.is("explain-80x24")
	s.press("esc")
	if s.page != nil || f.open != 0 {
		t.Errorf("%d streams are open after the page", f.open)
	}
	f.err = errors.New("the job is for whoever has its capability")
	s.press("enter")
	if !s.has("\nskep: the job is for whoever has its capability") {
		t.Errorf("why there is no output is not said:\n%s", strings.Join(s.lines(), "\n"))
	}
}

// Cancelling asks first.
func TestCancelAsksFirst(t *testing.T) {
	f := lab()
	s := newScreen(t, f, 80, 24)
	s.press("c", "n")
	s.press("c", "esc")
	s.press("y")
	for _, a := range f.asked {
		if strings.HasPrefix(a, "cancel") {
			t.Fatalf("%v: cancelled without a yes", f.asked)
		}
	}
	s.press("down", "c")
	f.grid[0], f.grid[1] = f.grid[1], f.grid[0] // a refresh between the question and the answer
	f.here = nil
	s.pass(10)
	s.press("y")
	if got := f.asked[len(f.asked)-1]; got != "cancel "+s.jobs.rows[1].ID || s.jobs.rows[1].Name != "sweep-1" {
		t.Errorf("%s: want the job that was asked about", got)
	}
	if !s.has("job bbbbbbbb is cancelled") {
		t.Errorf("what came of it is not said:\n%s", strings.Join(s.lines(), "\n"))
	}
}

func TestRequestsAreFew(t *testing.T) {
	f := lab()
	s := newScreen(t, f, 80, 24)
	f.asked = nil
	s.pass(10)
	count := map[string]int{}
	for _, a := range f.asked {
		count[a]++
	}
	if count["nodes"] != 10 || count["grid"] != 2 || count["here"] != 8 {
		t.Errorf("%v in 10 s: want nodes each second and the grid's jobs each 5", count)
	}
	s.asking["nodes"], s.asking["here"], s.asking["grid"] = true, true, true // the node takes long
	f.asked = nil
	s.pass(3)
	if len(f.asked) > 0 {
		t.Errorf("%v is asked while there is no answer", f.asked)
	}
}

// While the node does not answer, what it said last is shown, and how old that is.
func TestNodeGoesAndComesBack(t *testing.T) {
	f := lab()
	s := newScreen(t, f, 80, 24)
	f.err = errors.New("no node runs in d")
	s.pass(7)
	s.is("gone-80x24")
	f.err = nil
	f.grid[0].Name = "changed"
	f.here = f.grid[:1]
	s.pass(1)
	if s.has("does not answer") || !s.has("changed") {
		t.Errorf("the node is back:\n%s", strings.Join(s.lines(), "\n"))
	}
}

// The selection stays with its job while others come and go.
func TestSelectionStaysWithItsJob(t *testing.T) {
	f := lab()
	s := newScreen(t, f, 80, 24)
	s.press("down", "down")
	id := s.jobs.selected().ID
	fresh := f.grid[0]
	fresh.ID, fresh.Submitted = strings.Repeat("z", 69), noon.Add(time.Minute)
	f.here = append([]v1.ListedJob{fresh}, f.here...)
	s.pass(1)
	if got := s.jobs.selected().ID; got != id || s.jobs.rows[0].ID != fresh.ID {
		t.Errorf("job %.8s is selected, %.8s is first: want %.8s and the new one", got, s.jobs.rows[0].ID, id)
	}
	s.press("end")
	if !s.has(s.jobs.rows[len(s.jobs.rows)-1].ID[:8]) {
		t.Error("the last job is selected and not shown")
	}
}

func TestTerminalIsNeeded(t *testing.T) {
	if err := CheckTerminal(os.Stdin, new(strings.Builder)); err == nil || !strings.Contains(err.Error(),
		"needs a terminal for its input and output: for programs there are skep node list --output json") {
		t.Errorf("%v", err)
	}
}
