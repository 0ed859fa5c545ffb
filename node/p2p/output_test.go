package p2p

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/exec/process"
	"skep/grid"
	"skep/node"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/runner"
	"skep/node/p2p/transport"
)

// syncBuffer is a bytes.Buffer for concurrent use.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestOutputIsFollowed(t *testing.T) {
	a, b := openPair(t)
	for i, local := range []bool{false, true} {
		a.fake.mu.Lock()
		a.fake.local = local
		a.fake.mu.Unlock()
		gate := filepath.Join(sharedFolder(t), "gate")
		id := a.job(byte(i + 1))
		if err := a.Submit(t.Context(), id,
			rig.Sh("echo one; until [ -e "+gate+" ]; do sleep 0.01; done; echo two; echo err >&2")); err != nil {
			t.Fatal(err)
		}
		task := grid.TaskID{Job: id}
		var out syncBuffer
		ended := make(chan error, 1)
		go func() { ended <- a.Output(t.Context(), &out, task, false, 0, true) }()
		rig.Await(t, "the first line comes while the task runs", func() bool { return out.String() == "one\n" })
		var now syncBuffer
		if err := a.Output(t.Context(), &now, task, false, 1, false); err != nil || now.String() != "ne\n" {
			t.Errorf("without follow, from offset 1: %q, %v", now.String(), err)
		}
		if err := os.WriteFile(gate, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil || out.String() != "one\ntwo\n" {
			t.Errorf("followed %q, %v: want one and two", out.String(), err)
		}
		var errs syncBuffer
		if err := a.Output(t.Context(), &errs, task, true, 0, false); err != nil || errs.String() != "err\n" {
			t.Errorf("stderr %q, %v", errs.String(), err)
		}
	}
	if n := rig.Served(b.transport.Host(), runner.OutputProtocol); n != 0 {
		t.Errorf("%d output streams left open", n)
	}
	if err := a.Output(t.Context(), io.Discard, grid.TaskID{}, false, 0, true); err == nil {
		t.Error("output of a task that was never submitted")
	}
}

// Output that no node can be asked for is an error, and not empty output.
func TestOutputOfAWorkerThatIsGone(t *testing.T) {
	a, b := openPair(t)
	begun := filepath.Join(sharedFolder(t), "begun")
	task := grid.TaskID{Job: a.job(1)}
	if err := a.Submit(t.Context(), task.Job, rig.Sh("touch "+begun+"; exec sleep 60")); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "the task runs", func() bool { _, err := os.Stat(begun); return err == nil })
	if err := a.Output(t.Context(), io.Discard, task, false, 0, false); err != nil {
		t.Errorf("of a task that has printed nothing: %v", err)
	}
	served := func(n int) func() bool {
		return func() bool { return rig.Served(b.transport.Host(), runner.OutputProtocol) == n }
	}
	rig.Await(t, "its place is free", served(0)) // or it would count for one of these
	var taken []network.Stream
	for range transport.ServesPerPeer { // all that a peer may have
		st, err := a.transport.OpenStream(t.Context(), b.self, runner.OutputProtocol)
		if err != nil {
			t.Fatal(err)
		}
		st.Write([]byte{0}) // an incomplete request
		taken = append(taken, st)
	}
	rig.Await(t, "all places are taken", served(transport.ServesPerPeer))
	rig.Await(t, "a node that is busy says so", func() bool { // a stream that is there may not have its place yet
		err := a.Output(t.Context(), io.Discard, task, false, 0, false)
		return err != nil && strings.HasSuffix(err.Error(), "is busy")
	})
	for _, st := range taken {
		st.Reset()
	}
	rig.Await(t, "all places are free", served(0))
	folders, err := os.ReadDir(b.workDir())
	if err != nil || len(folders) != 1 {
		t.Fatalf("%d work folders, %v", len(folders), err)
	}
	stdout := process.Output(filepath.Join(b.workDir(), folders[0].Name()), process.Stdout)
	if err := errors.Join(os.RemoveAll(stdout), os.Symlink(stdout, stdout)); err != nil {
		t.Fatal(err)
	}
	var from *grid.NodeError
	if err := a.Output(t.Context(), io.Discard, task, false, 0, false); !errors.As(err, &from) || from.Node != b.self ||
		!strings.HasSuffix(err.Error(), ": broke off the answer") {
		t.Errorf("of a task whose node cannot open it: %v: want the node, and a word", err)
	}
	b.close()
	for try := range 3 {
		err := a.Output(t.Context(), io.Discard, task, false, 0, false)
		if err == nil || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "backoff") {
			t.Errorf("of a task whose node is gone, try %d: %v: want a line, in words", try, err)
		}
	}
	a.do(func(*grid.Effects) {
		a.fake.tasks[task] = &node.TaskView{ID: a.fake.tasks[task].ID, State: grid.Pending, Worker: b.self, Lost: 1}
	})
	if err := a.Output(t.Context(), io.Discard, task, false, 0, false); !errors.Is(err, errLost) ||
		!errors.As(err, &from) || from.Node != b.self {
		t.Errorf("of a task that is to run again: %v: want that, and the node that lost it", err)
	}
	a.do(func(*grid.Effects) { a.fake.tasks[task] = &node.TaskView{State: grid.Placed, Lost: 1} })
	if err := a.Output(t.Context(), io.Discard, task, false, 0, false); !errors.Is(err, errWorkerUnknown) {
		t.Errorf("of a task that no node has claimed after a takeover: %v", err)
	}
}

func TestAPIListener(t *testing.T) {
	a, b := openPair(t)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello "+r.RemoteAddr)
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(b.Listener()) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return a.Dial(ctx, b.self) }}}
	answer, err := client.Get("http://node/")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if string(text) != "hello "+a.self.String() {
		t.Errorf("answer %q: want hello and the asker's identity", text)
	}
	server.Close()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("served: %v", err)
	}
	if _, err := a.Dial(t.Context(), grid.NodeID{7}); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Errorf("dial of an unknown node: %v", err)
	}
}

func TestOnePeerCannotFillTheAPIListener(t *testing.T) {
	a, b := openPair(t)
	var open []net.Conn
	dial := func(m *member) net.Conn {
		c, err := m.Dial(t.Context(), b.self)
		if err != nil {
			t.Fatal(err)
		}
		c.Write([]byte("x")) // the stream is opened with its first byte
		return c
	}
	for range transport.ServesPerPeer {
		dial(a)
		c, err := b.Listener().Accept()
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	one := dial(a)
	one.SetReadDeadline(time.Now().Add(rig.Timeout))
	if _, err := one.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("beyond %d streams: %v: want it broken off", transport.ServesPerPeer, err)
	}
	open[0].Close()
	open[0].Close()
	dial(a)
	if c, err := b.Listener().Accept(); err != nil {
		t.Errorf("after one was closed: %v", err)
	} else {
		open[0] = c
	}
	rig.Await(t, "all places are taken again", func() bool {
		return rig.Served(b.transport.Host(), "/skep/api/1") == transport.ServesPerPeer
	})
	for _, c := range open {
		c.Close()
	}
}

func TestWatchIsCoalesced(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	ch, stop := a.Watch(a.job(1))
	other, stopOther := a.Watch(a.job(2))
	for range 5 {
		a.do(func(fx *grid.Effects) { fx.Changed = append(fx.Changed, grid.TaskID{Job: a.job(1)}) })
	}
	select {
	case <-ch:
	case <-time.After(rig.Timeout):
		t.Fatal("no signal")
	}
	if err := a.Read(t.Context(), func(*node.Node, grid.Time) {}); err != nil {
		t.Fatal(err)
	}
	if len(ch) > 1 || len(other) > 0 {
		t.Errorf("%d signals left for the job, %d for another one", len(ch), len(other))
	}
	stop()
	stopOther()
	if len(a.watchers.m) != 0 {
		t.Error("watchers are left")
	}
}
