package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skep/grid"
	"skep/internal/indices"
	"skep/node"
	"skep/node/listing"
	"skep/node/p2p/blob"
	"skep/node/p2p/joblist"
)

// fake is a driver with a real node, whose tasks end when a test says so.
type fake struct {
	t       *testing.T
	mu      sync.Mutex
	n       *node.Node
	now     grid.Time
	self    grid.NodeID
	name    string
	store   *blob.Store
	runs    []grid.AttemptID
	watch   map[grid.JobID][]chan struct{}
	peers   map[grid.NodeID]*fake
	conns   chan net.Conn
	done    chan struct{}
	ended   sync.Once
	print   [2]string       // what every task prints while it runs
	mute    error           // error of asking for that
	srv     *Server         // of serve
	silent  []grid.NodeID   // peers that do not answer
	told    *joblist.Result // in place of what the peers tell
	dialled []grid.NodeID   // by Dial
	reads   int64           // bytes of its standard input that every task reads
}

func newFake(t *testing.T, id byte, name string) *fake {
	t.Helper()
	return newFakeWith(t, id, name, func(*node.Config) {})
}

// newFakeWith is newFake with another configuration.
func newFakeWith(t *testing.T, id byte, name string, change func(*node.Config)) *fake {
	t.Helper()
	store, err := blob.Open(t.TempDir(), grid.GiB)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, now: 1e9, self: grid.NodeID{id}, name: name, store: store, watch: map[grid.JobID][]chan struct{}{},
		peers: map[grid.NodeID]*fake{}, conns: make(chan net.Conn, 8), done: make(chan struct{})}
	c := node.Defaults()
	c.Self, c.Boot, c.Seed, c.Name, c.Members = f.self, 1, 7, name, 1
	c.Capacity = grid.Resources{CPU: 4 * grid.CPU, Memory: grid.GiB}
	c.Labels = []grid.Label{{Key: "os", Value: "linux"}, {Key: grid.StdinLabel, Value: grid.FeatureValue}}
	change(&c)
	if f.n, err = node.New(c, f.Wall()); err != nil {
		t.Fatal(err)
	}
	f.step(grid.Event{Kind: grid.EvStart})
	t.Cleanup(func() { f.Close(); store.Close() })
	return f
}

// Stdin reads as many bytes as the fake's tasks read; all of it if that is more than there are.
func (f *fake) Stdin(_ context.Context, _ grid.TaskID, in io.Reader) (all bool, err error) {
	n, err := io.Copy(io.Discard, io.LimitReader(in, f.reads))
	return n < f.reads, err
}

// Exec opens a session that sends back what it gets, behind the task's name.
func (f *fake) Exec(_ context.Context, t grid.TaskID) (io.ReadWriteCloser, error) {
	if f.mute != nil {
		return nil, &grid.NodeError{Node: f.self, Err: f.mute}
	}
	ours, theirs := net.Pipe()
	go func() {
		defer theirs.Close()
		io.WriteString(theirs, t.String()+" ")
		io.Copy(theirs, theirs)
	}()
	return ours, nil
}

// connect connects two fakes.
func (f *fake) connect(g *fake) {
	for _, p := range [][2]*fake{{f, g}, {g, f}} {
		p[0].peers[p[1].self] = p[1]
		p[0].step(grid.Event{Kind: grid.EvPeerUp, Peer: p[1].self, RTT: time.Millisecond, Kinds: grid.AllKinds,
			Features: grid.AllFeatures})
		ad := &grid.Ad{Node: p[1].self, Seq: grid.Seq{Boot: 1, N: 1}, Name: p[1].name, Speed: 1, Availability: 1,
			Engines:  []string{grid.EngineProcess},
			Capacity: grid.Resources{CPU: 2 * grid.CPU}, Free: grid.Resources{CPU: grid.CPU},
			Labels: []grid.Label{{Key: "os", Value: "plan9"}}}
		p[0].step(grid.Event{Kind: grid.EvMessage, Peer: p[1].self, Msg: &grid.Message{Kind: grid.KindDigest,
			Digest: []grid.AdEntry{{Ad: ad}}}})
	}
}

// step steps the node, and returns the answer to the caller.
func (f *fake) step(ev grid.Event) (answer *string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stepLocked(ev, 0)
}

func (f *fake) stepLocked(ev grid.Event, depth int) (answer *string) {
	var fx grid.Effects
	f.now += 1e6
	f.n.Step(f.now, &ev, &fx)
	for _, s := range fx.Starts {
		f.runs = append(f.runs, s.Attempt)
	}
	for _, id := range fx.Changed {
		for _, ch := range f.watch[id.Job] {
			select {
			case ch <- struct{}{}:
			default:
			}
		}
	}
	for i := range fx.Replies {
		answer = &fx.Replies[i].Err
	}
	for _, w := range fx.Wakes { // timers of placing a task fire at once
		switch w.Timer.Kind {
		case grid.TimerSearch, grid.TimerRetry, grid.TimerPoll, grid.TimerOffer:
			if depth < 20 {
				f.now = max(f.now, w.At)
				f.stepLocked(grid.Event{Kind: grid.EvWake, Timer: w.Timer}, depth+1)
			}
		}
	}
	return answer
}

// end ends the first of the running tasks.
func (f *fake) end(r *grid.Result) {
	f.t.Helper()
	f.mu.Lock()
	if len(f.runs) == 0 {
		f.mu.Unlock()
		f.t.Fatal("no task runs")
	}
	id := f.runs[0]
	f.runs = f.runs[1:]
	f.mu.Unlock()
	f.step(grid.Event{Kind: grid.EvStarted, Attempt: id})
	f.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: r})
}

func (f *fake) Self() grid.NodeID              { return f.self }
func (f *fake) Addrs() []string                { return []string{"/ip4/192.0.2.1/tcp/7420"} }
func (f *fake) Token() (string, error)         { return "skep1-token", nil }
func (f *fake) Wall() grid.Wall                { return grid.Wall{Zero: time.Unix(1_700_000_000, 0)} }
func (f *fake) Registry() *prometheus.Registry { return prometheus.NewRegistry() }
func (f *fake) Blobs() *blob.Store             { return f.store }
func (f *fake) Dropped() map[string]uint64     { return map[string]uint64{"forged": 2} }

func (f *fake) Submit(_ context.Context, id grid.JobID, spec *grid.JobSpec) error {
	return f.call(grid.Event{Kind: grid.EvSubmit, Caller: 1, Job: id, Spec: spec})
}

func (f *fake) Cancel(_ context.Context, id grid.JobID, tasks indices.Set) error {
	return f.call(grid.Event{Kind: grid.EvCancel, Caller: 1, Job: id, Tasks: tasks})
}

func (f *fake) Retry(_ context.Context, id grid.JobID, tasks indices.Set) error {
	return f.call(grid.Event{Kind: grid.EvRetry, Caller: 1, Job: id, Tasks: tasks})
}

func (f *fake) Drain(_ context.Context, within time.Duration) error {
	return f.call(grid.Event{Kind: grid.EvDrain, Caller: 1, Within: within})
}

func (f *fake) Undrain(context.Context) error {
	return f.call(grid.Event{Kind: grid.EvUndrain, Caller: 1})
}

func (f *fake) call(ev grid.Event) error {
	a := f.step(ev)
	if a == nil {
		return errors.New("the node did not answer")
	}
	if *a != "" {
		return errors.New(*a)
	}
	return nil
}

func (f *fake) Read(_ context.Context, g func(*node.Node, grid.Time)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	g(f.n, f.now)
	return nil
}

// Jobs lists the jobs of the fake and of its peers.
func (f *fake) Jobs(ctx context.Context, q *listing.Query) (*joblist.Result, error) {
	if f.told != nil {
		return f.told, nil
	}
	r := &joblist.Result{Asked: len(f.peers), Silent: f.silent}
	var answers []listing.Answer
	for _, g := range append([]*fake{f}, slices.Collect(maps.Values(f.peers))...) {
		a := listing.Answer{By: g.self}
		g.Read(ctx, func(n *node.Node, now grid.Time) {
			n.Kept(now, func(j *node.JobView, mayAct bool) {
				if row := joblist.RowOf(j, mayAct); q.Tells(&row) {
					row.OriginName = g.name
					a.Rows = append(a.Rows, row)
				}
			})
		})
		answers = append(answers, a)
	}
	r.Jobs, r.More = listing.Merge(q, f.self, answers)
	return r, nil
}

func (f *fake) Watch(id grid.JobID) (<-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ch := make(chan struct{}, 1)
	f.watch[id] = append(f.watch[id], ch)
	return ch, func() {}
}

func (f *fake) Output(ctx context.Context, w io.Writer, t grid.TaskID, stderr bool, offset int64, follow bool) error {
	text := f.print[0]
	if stderr {
		text = f.print[1]
	}
	if text == "" {
		return f.mute
	}
	_, err := io.WriteString(w, text[min(offset, int64(len(text))):])
	return cmp.Or(f.mute, err)
}

func (f *fake) FetchBlob(context.Context, *grid.File, []grid.NodeID) error {
	return errors.New("nobody has it")
}

func (f *fake) Dial(ctx context.Context, id grid.NodeID) (net.Conn, error) {
	f.mu.Lock()
	f.dialled = append(f.dialled, id)
	f.mu.Unlock()
	p := f.peers[id]
	if p == nil {
		return nil, errors.New("no connection to it")
	}
	a, b := net.Pipe()
	select {
	case p.conns <- provedConn{b, f.self}:
		return a, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// provedConn is a connection whose other end is known to be a node.
type provedConn struct {
	net.Conn
	from grid.NodeID
}

func (p provedConn) RemoteAddr() net.Addr { return &net.UnixAddr{Name: p.from.String()} }

func (f *fake) Listener() net.Listener { return f }

// Accept implements net.Listener.
func (f *fake) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (f *fake) Close() error {
	f.ended.Do(func() { close(f.done) })
	return nil
}

// Addr implements net.Listener.
func (f *fake) Addr() net.Addr { return &net.UnixAddr{Name: f.name} }
