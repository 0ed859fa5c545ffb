package top

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// Messages: answers of the node, and the clock.
type (
	tickMsg  time.Time
	nodesMsg struct {
		nodes []v1.Node
		err   error
	}
	jobsMsg struct {
		page v1.JobPage
		grid bool
		err  error
	}
	cancelledMsg struct {
		job v1.Job
		err error
	}
)

// Model is the state of the view. Its methods are called by one goroutine.
type Model struct {
	source Source
	text   Text
	ctx    context.Context
	now    time.Time
	size   struct{ width, height int }
	ticks  int
	asking map[string]bool // requests without an answer yet, by what they are for
	wait   func() tea.Cmd  // for the next tick

	nodes  table[v1.Node]
	jobs   table[v1.ListedJob]
	onJobs bool // the keys move in the jobs
	silent int  // nodes that did not answer the last request for the grid's jobs

	heard  time.Time // of the last answer; zero: none yet
	failed error     // of the last request, if the node did not answer it

	confirm *v1.ListedJob // to be cancelled, if the user says so
	said    string        // about the last key
	page    *page         // in place of the tables; nil = none
}

// New returns the view of a node. Its requests end with ctx.
func New(ctx context.Context, source Source, text Text, now time.Time) *Model {
	return &Model{source: source, text: text, ctx: ctx, now: now, asking: map[string]bool{}, wait: next, onJobs: true}
}

// Init begins to ask.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.ask(), m.wait()) }

func next() tea.Cmd { return tea.Tick(tick, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// ask asks for what is due, unless it is being asked for.
func (m *Model) ask() tea.Cmd {
	var all []tea.Cmd
	begin := func(what string, f func(ctx context.Context) tea.Msg) {
		if m.asking[what] {
			return
		}
		m.asking[what] = true
		all = append(all, m.request(f))
	}
	begin("nodes", func(ctx context.Context) tea.Msg {
		l, err := m.source.Nodes(ctx)
		return nodesMsg{l.Nodes, err}
	})
	jobs := func(grid bool) func(ctx context.Context) tea.Msg {
		return func(ctx context.Context) tea.Msg {
			p, err := m.source.List(ctx, &client.ListQuery{Grid: grid, Limit: mostJobs})
			return jobsMsg{p, grid, err}
		}
	}
	if m.ticks%gridEvery == 0 {
		begin("grid", jobs(true))
	} else {
		begin("here", jobs(false))
	}
	m.ticks++
	return tea.Batch(all...)
}

// request returns a command that makes a request and is given up after a while.
func (m *Model) request(f func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, patience)
		defer cancel()
		return f(ctx)
	}
}

// Update changes the view.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.size.width, m.size.height = msg.Width, msg.Height
	case tickMsg:
		m.now = time.Time(msg)
		return m, tea.Batch(m.ask(), m.wait())
	case nodesMsg:
		m.asking["nodes"] = false
		if m.answered(msg.err) {
			m.nodes.set(msg.nodes, func(n *v1.Node) string { return n.ID })
		}
	case jobsMsg:
		m.asking[map[bool]string{true: "grid", false: "here"}[msg.grid]] = false
		if m.answered(msg.err) {
			m.addJobs(&msg)
		}
	case cancelledMsg:
		switch {
		case msg.err != nil:
			m.said = "not cancelled: " + msg.err.Error()
		default:
			m.said = fmt.Sprintf("job %s is %s", v1.Short(msg.job.ID), cmp.Or(msg.job.State, "cancelled"))
		}
		return m, nil
	case textMsg, openedMsg, frameMsg:
		if m.page != nil {
			return m, m.page.update(m, msg)
		}
		if opened, ok := msg.(openedMsg); ok && opened.stream != nil {
			opened.stream.Close()
		}
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	}
	return m, nil
}

// answered notes whether the node answered.
func (m *Model) answered(err error) bool {
	if m.failed = err; err == nil {
		m.heard = m.now
	}
	return err == nil
}

// addJobs takes the jobs of an answer: all of them are those of the grid; those of the asked node alone take the places
// of what was known of them.
func (m *Model) addJobs(msg *jobsMsg) {
	list := msg.page.Jobs
	if msg.grid {
		m.silent = len(msg.page.Silent)
	} else {
		newer := map[string]bool{}
		for i := range list {
			newer[list[i].ID] = true
		}
		for _, j := range m.jobs.rows {
			if !newer[j.ID] {
				list = append(list, j)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b v1.ListedJob) int {
		return cmp.Or(rank(&a)-rank(&b), b.Submitted.Compare(a.Submitted), strings.Compare(a.ID, b.ID))
	})
	m.jobs.set(list[:min(len(list), mostJobs)], func(j *v1.ListedJob) string { return j.ID })
}

// rank puts jobs that are not over before those that are.
func rank(j *v1.ListedJob) int {
	if j.Over() {
		return 1
	}
	return 0
}
