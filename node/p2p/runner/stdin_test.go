package runner

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/security/noise"

	"skep/exec/process"
	"skep/grid"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/wire"
)

// A task whose standard input nobody sends does not wait for ever.
func TestStdinThatNeverComesEndsTheTask(t *testing.T) {
	was := stdinWait
	stdinWait = 20 * time.Millisecond
	t.Cleanup(func() { stdinWait = was })
	r, l := openRunner(t)
	spec := rig.Sh("cat")
	spec.Stdin = grid.StdinStream
	r.Start(grid.Start{Attempt: attemptID(1), Spec: spec})
	rig.Await(t, "its end", func() bool { return l.count(grid.EvEnded) == 1 })
	res := l.last(grid.EvEnded).Result
	if res.Exit != grid.ExitSkep || !strings.Contains(res.Error, "no standard input came in 20ms") {
		t.Errorf("result %+v: want the reason", res)
	}
}

// An input that has ended is not missed, however long the task runs after it, nor is one that the task did not want.
func TestStdinThatEndedIsNotMissed(t *testing.T) {
	was := stdinWait
	stdinWait = 50 * time.Millisecond
	t.Cleanup(func() { stdinWait = was })
	r, l := openRunner(t)
	spec := rig.Sh("cat >/dev/null; sleep 0.2; exit 4")
	spec.Stdin = grid.StdinStream
	id := attemptID(1)
	r.Start(grid.Start{Attempt: id, Spec: spec})
	if all, err := r.SendStdin(t.Context(), self, id, strings.NewReader("x")); !all || err != nil {
		t.Errorf("all %v, %v", all, err)
	}
	if _, err := r.SendStdin(t.Context(), self, id, strings.NewReader("y")); !errors.Is(err, errStdinTaken) {
		t.Errorf("a second one: %v: want it refused", err)
	}
	rig.Await(t, "its end", func() bool { return l.count(grid.EvEnded) == 1 })
	if res := l.last(grid.EvEnded).Result; res.Exit != 4 {
		t.Errorf("result %+v: want the task's own code", res)
	}
	if _, err := r.SendStdin(t.Context(), self, attemptID(2), io.MultiReader()); !errors.Is(err, ErrStdinUnknown) {
		t.Errorf("of an attempt that is not here: %v", err)
	}
}

// streamedSpec is the spec of a task that reads a stream.
func streamedSpec(script string) *grid.JobSpec {
	s := rig.Sh(script)
	s.Stdin = grid.StdinStream
	return s
}

// A client that is lost while its task waits for its turn has sent nothing, so that it may come back.
func TestSenderLostBeforeTheStartIsReplaced(t *testing.T) {
	r, l := openRunner(t)
	id, spec := attemptID(1), streamedSpec("cat")
	r.workSaved(&grid.WorkRecord{ID: id, Spec: spec}, false)
	ctx, lose := context.WithCancel(t.Context())
	lost := make(chan error, 1)
	go func() {
		_, err := r.SendStdin(ctx, self, id, strings.NewReader("lost"))
		lost <- err
	}()
	lose()
	if err := <-lost; !errors.Is(err, context.Canceled) {
		t.Errorf("the first sender: %v", err)
	}
	r.Start(grid.Start{Attempt: id, Spec: spec})
	if all, err := r.SendStdin(t.Context(), self, id, strings.NewReader("x")); !all || err != nil {
		t.Errorf("the second sender: all %v, %v", all, err)
	}
	rig.Await(t, "its end", func() bool { return l.count(grid.EvEnded) == 1 })
	if res := l.last(grid.EvEnded).Result; res.Exit != 0 || string(res.Stdout.Inline) != "x" {
		t.Errorf("result %+v, %q: want what the second sent", res, res.Stdout.Inline)
	}
}

// fakeStream is a stream whose reads come from in, and whose CloseWrite returns only when it is reset.
type fakeStream struct {
	network.Stream
	in            io.Reader
	closed, reset chan struct{}
}

func newFakeStream(in io.Reader) *fakeStream {
	return &fakeStream{in: in, closed: make(chan struct{}), reset: make(chan struct{})}
}

func (s *fakeStream) Read(b []byte) (int, error)     { return s.in.Read(b) }
func (*fakeStream) Write(b []byte) (int, error)      { return len(b), nil }
func (*fakeStream) Close() error                     { return nil }
func (*fakeStream) SetReadDeadline(time.Time) error  { return nil }
func (*fakeStream) SetWriteDeadline(time.Time) error { return nil }
func (s *fakeStream) Reset() error                   { close(s.reset); return nil }
func (s *fakeStream) CloseWrite() error              { close(s.closed); <-s.reset; return nil }

// fakePeers opens one stream.
type fakePeers struct {
	Peers
	st network.Stream
}

func (p fakePeers) Open(context.Context, grid.NodeID, string) (network.Stream, error) {
	return p.st, nil
}

// afterClose is a reader that begins when the stream's other side was closed.
type afterClose struct {
	s  *fakeStream
	in io.Reader
}

func (a *afterClose) Read(b []byte) (int, error) {
	<-a.s.closed
	return a.in.Read(b)
}

// The worker's last word may come before the call that closed the stream has returned.
func TestStdinIsAllSentHoweverEarlyThatIsTold(t *testing.T) {
	st := newFakeStream(nil)
	st.in = io.MultiReader(bytes.NewReader([]byte{wire.StatusOK}), &afterClose{st, bytes.NewReader([]byte{wire.StatusOK})})
	r := &Runner{cfg: Config{Self: self, Peers: fakePeers{st: st}}}
	all, err := r.SendStdin(t.Context(), grid.NodeID{77}, attemptID(1), strings.NewReader("x"))
	if !all || err != nil {
		t.Errorf("all %v, %v: want all of it sent", all, err)
	}
}

// A stream that is lost before the task was said to run has brought nothing.
func TestStreamLostBeforeTheAnswerIsOpenedAgain(t *testing.T) {
	r := &Runner{cfg: Config{Self: self, Peers: fakePeers{st: newFakeStream(strings.NewReader(""))}}}
	in := strings.NewReader("x")
	if _, err := r.SendStdin(t.Context(), grid.NodeID{77}, attemptID(1), in); !errors.Is(err, ErrStdinUnknown) ||
		in.Len() != 1 {
		t.Errorf("%v, %d of 1 bytes left: want it tried again", err, in.Len())
	}
}

// A task whose sender waits for a place is not stopped; one whose sender waited long ago is.
func TestStdinThatWaitsForAPlaceIsNotMissed(t *testing.T) {
	for _, row := range []struct {
		asked  time.Duration // before now
		broken bool
	}{{0, false}, {time.Second, false}, {2 * time.Minute, true}} {
		s := &stdinStream{asked: time.Now().Add(-row.asked), timer: time.NewTimer(time.Hour)}
		s.expire(time.Minute)
		if s.timer.Stop(); (s.broken != nil) != row.broken || s.taken != row.broken {
			t.Errorf("asked %v ago: broken %v, taken %v", row.asked, s.broken, s.taken)
		}
	}
}

// serveStdin serves a stream that brings an attempt its input, and returns the answer.
func serveStdin(r *Runner, id grid.AttemptID, in string, freeSeat func() bool) []byte {
	var answer bytes.Buffer
	request := wire.AppendAttempt(nil, id)
	r.ServeStdin(id.Task.Job.Origin, newFakeStream(strings.NewReader(in)), request, &answer, freeSeat)
	return answer.Bytes()
}

// Beyond StdinPerPeer streams of an origin one is told to come back, and so is one whose seat was given away; neither
// costs the task its input.
func TestStdinStreamsOfAnOriginAreBounded(t *testing.T) {
	r, l := openRunner(t)
	id := attemptID(1)
	r.Start(grid.Start{Attempt: id, Spec: streamedSpec("cat")})
	rig.Await(t, "its start", func() bool { return l.count(grid.EvStarted) == 1 })
	origin := id.Task.Job.Origin
	for range StdinPerPeer {
		if !r.feeds.add(origin) {
			t.Fatal("no place")
		}
	}
	if got := serveStdin(r, id, "x", func() bool { return true }); !bytes.Equal(got, []byte{wire.StatusBusy}) {
		t.Errorf("beyond %d streams: answer % x: want busy", StdinPerPeer, got)
	}
	if r.lookup(id).stdin.asked.IsZero() {
		t.Error("the task would be stopped for want of an input that waits for its place")
	}
	r.feeds.remove(origin)
	if got := serveStdin(r, id, "x", func() bool { return false }); len(got) > 0 {
		t.Errorf("without a seat: answer % x: want none", got)
	}
	all := []byte{wire.StatusOK, wire.StatusOK}
	if got := serveStdin(r, id, "x", func() bool { return true }); !bytes.Equal(got, all) {
		t.Errorf("with a place: answer % x: want all of it taken", got)
	}
	rig.Await(t, "its end", func() bool { return l.count(grid.EvEnded) == 1 })
	if res := l.last(grid.EvEnded).Result; string(res.Stdout.Inline) != "x" {
		t.Errorf("result %+v, %q", res, res.Stdout.Inline)
	}
}

// The pipe of a task that does not start is closed.
func TestFailedStartClosesThePipe(t *testing.T) {
	r, _ := openRunner(t)
	a := &attempt{id: attemptID(1), folder: folder{dir: t.TempDir() + "/gone"}, expanded: new(expanded)}
	p, err := r.startTask(a, grid.Start{Attempt: a.id, Spec: streamedSpec("cat")})
	if p != nil || err == nil {
		t.Fatalf("%v, %v: want an error", p, err)
	}
	if a.stdin.pipe != nil {
		t.Error("the node's end of the pipe is open")
	}
}

// A task that has all of its input is not stopped when who sent it goes away.
func TestSenderMayGoAfterTheEnd(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	var s stdinStream
	s.setPipe(write)
	s.task = new(process.Process)
	if err := s.feed(strings.NewReader("x")); !errors.Is(err, io.EOF) {
		t.Fatalf("%v: want all of it taken", err)
	}
	s.breakOff(context.Canceled)
	if err := s.ended(); err != nil {
		t.Errorf("it broke off: %v", err)
	}
}

// measured is a stream that notes how much is written at a time.
type measured struct {
	*fakeStream
	sizes []int
}

func (s *measured) Write(b []byte) (int, error) {
	s.sizes = append(s.sizes, len(b))
	return len(b), nil
}
func (s *measured) CloseWrite() error { return nil }

// What is written at a time is one message of the multiplexer, which is one of the encrypted connection.
func TestStdinMessagesFitTheConnection(t *testing.T) {
	const header = 12 // of the multiplexer
	st := &measured{fakeStream: newFakeStream(nil)}
	if err := copyToPeer(st, bytes.NewReader(make([]byte, 3*stdinPiece+7))); err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, n := range st.sizes {
		if all += n; n+header > noise.MaxPlaintextLength {
			t.Errorf("%d bytes at once: with their header they fit %d", n, noise.MaxPlaintextLength)
		}
	}
	if all != 3*stdinPiece+7 || len(st.sizes) != 7 {
		t.Errorf("%d bytes in %d messages: want %d in 7", all, len(st.sizes), 3*stdinPiece+7)
	}
}
