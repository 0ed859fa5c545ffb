package p2p

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/runner"
	"skep/node/p2p/transport"
	"skep/node/p2p/wire"
)

// streamed returns the spec of a task with a streamed standard input.
func streamed(script string) *grid.JobSpec {
	s := rig.Sh(script)
	s.Stdin = grid.StdinStream
	s.Needs.Labels = []grid.LabelNeed{grid.FeatureNeed(grid.StdinLabel)}
	return s
}

// endless is an input without end, which counts what is read of it.
type endless struct{ n atomic.Int64 }

func (e *endless) Read(b []byte) (int, error) {
	e.n.Add(int64(len(b)))
	return len(b), nil
}

// everywhere calls f with the task at another node and here.
func everywhere(t *testing.T, f func(t *testing.T, a *member, nonce byte)) {
	a, _ := openPair(t)
	for i, local := range []bool{false, true} {
		a.fake.mu.Lock()
		a.fake.local = local
		a.fake.mu.Unlock()
		t.Run(map[bool]string{false: "elsewhere", true: "here"}[local], func(t *testing.T) { f(t, a, byte(i+1)) })
	}
}

// submitStreamed submits a task and returns its ID.
func (m *member) submitStreamed(t *testing.T, nonce byte, script string) grid.TaskID {
	t.Helper()
	id := m.job(nonce)
	if err := m.Submit(t.Context(), id, streamed(script)); err != nil {
		t.Fatal(err)
	}
	return grid.TaskID{Job: id}
}

func TestStdinIsStreamedToItsEnd(t *testing.T) {
	everywhere(t, func(t *testing.T, a *member, nonce byte) {
		task := a.submitStreamed(t, nonce, "wc -c")
		all, err := a.Stdin(t.Context(), task, io.LimitReader(new(endless), 3_000_001))
		if !all || err != nil {
			t.Errorf("all %v, %v: want all of it sent", all, err)
		}
		if r := a.result(task); r.Exit != 0 || strings.TrimSpace(string(r.Stdout.Inline)) != "3000001" {
			t.Errorf("result %+v, %q: want the count of all bytes", r, r.Stdout.Inline)
		}
	})
}

func TestStdinOfATaskThatReadsOneByte(t *testing.T) {
	everywhere(t, func(t *testing.T, a *member, nonce byte) {
		task := a.submitStreamed(t, nonce, "head -c 1 >/dev/null; exit 3")
		if all, err := a.Stdin(t.Context(), task, new(endless)); all || err != nil {
			t.Errorf("all %v, %v: want the sender told that the task reads no more", all, err)
		}
		if r := a.result(task); r.Cause != grid.Exited || r.Exit != 3 {
			t.Errorf("result %+v: want the task's own code", r)
		}
	})
}

// A task that would take a cut input for a whole one is stopped, and its end says why.
func TestStdinThatBreaksOffStopsTheTask(t *testing.T) {
	everywhere(t, func(t *testing.T, a *member, nonce byte) {
		task := a.submitStreamed(t, nonce, "cat; echo took it for the end")
		cut := io.MultiReader(strings.NewReader("half"), errReader{})
		if all, err := a.Stdin(t.Context(), task, cut); all || err == nil {
			t.Errorf("all %v, %v: want an error", all, err)
		}
		r := a.result(task)
		if r.Cause != grid.Cancelled || r.Exit != grid.ExitSkep || !strings.Contains(r.Error, "broke off before its end") ||
			strings.Contains(string(r.Stdout.Inline), "took it") {
			t.Errorf("result %+v, %q: want it stopped, with the reason", r, r.Stdout.Inline)
		}
	})
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("the client is gone") }

// maxHeld bounds what is read of an input that its task does not read: the pipe, a piece at each node, and the window
// of a stream.
const maxHeld = 8 << 20

func TestStdinIsReadNoFasterThanTheTaskReads(t *testing.T) {
	everywhere(t, func(t *testing.T, a *member, nonce byte) {
		gate := filepath.Join(sharedFolder(t), "gate")
		task := a.submitStreamed(t, nonce, "until [ -e "+gate+" ]; do sleep 0.01; done; head -c 20000000 | wc -c")
		in := new(endless)
		sent := make(chan error, 1)
		go func() {
			_, err := a.Stdin(t.Context(), task, in)
			sent <- err
		}()
		held := int64(0)
		rig.Await(t, "nothing more is read", func() bool {
			was := held
			held = in.n.Load()
			return held > 0 && held == was
		})
		if held > maxHeld {
			t.Errorf("%d bytes read of an input that nobody takes: want at most %d", held, maxHeld)
		}
		if err := os.WriteFile(gate, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if r := a.result(task); r.Exit != 0 || strings.TrimSpace(string(r.Stdout.Inline)) != "20000000" {
			t.Errorf("result %+v, %q", r, r.Stdout.Inline)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
	})
}

// Only the origin of a job sends its task anything, and only once.
func TestStdinOfOthersIsRefused(t *testing.T) {
	a, b := openPair(t)
	task := a.submitStreamed(t, 1, "cat")
	rig.Await(t, "the task runs", func() bool {
		folders, _ := os.ReadDir(b.workDir())
		return len(folders) > 0
	})
	v, err := a.taskView(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	request := binaryAttempt(v.ID)
	r := newRogue(t, b)
	st, err := r.NewStream(t.Context(), identity.Peer(b.self), runner.StdinProtocol)
	if err != nil {
		t.Fatal(err)
	}
	st.Write(append(request, "forged"...))
	if got, err := io.ReadAll(st); err == nil || len(got) > 0 {
		t.Errorf("a member that did not submit the job was answered % x, %v: want the stream reset", got, err)
	}
	own := func() byte {
		st, err := a.transport.OpenStream(t.Context(), b.self, runner.StdinProtocol)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Reset() })
		var status [1]byte
		st.Write(request)
		if _, err := io.ReadFull(st, status[:]); err != nil {
			t.Fatal(err)
		}
		if status[0] == wire.StatusOK {
			st.Write([]byte("genuine"))
			defer st.CloseWrite()
		}
		return status[0]
	}
	if first, second := own(), own(); first != wire.StatusOK || second == wire.StatusOK {
		t.Errorf("first stream %d, second %d: want the first taken and the second refused", first, second)
	}
	if r := a.result(task); string(r.Stdout.Inline) != "genuine" {
		t.Errorf("the task read %q: want what its submitter sent", r.Stdout.Inline)
	}
}

// A stream holds no seat while its task runs: more tasks of one origin run than a peer may have requests.
func TestStdinOfManyTasksThatRun(t *testing.T) {
	a, b := openPair(t)
	const tasks = transport.ServesPerPeer + 1
	b.fake.mu.Lock()
	b.fake.slots = tasks
	b.fake.mu.Unlock()
	var inputs [tasks]*heldInput
	sent := make(chan error, tasks)
	for i := range inputs {
		task := a.submitStreamed(t, byte(i+1), "cat")
		in := &heldInput{begun: make(chan struct{}), end: make(chan struct{})}
		inputs[i] = in
		go func() {
			all, err := a.Stdin(t.Context(), task, in)
			if err == nil && !all {
				err = errors.New("not all was sent")
			}
			sent <- err
		}()
	}
	for i, in := range inputs {
		select {
		case <-in.begun:
		case err := <-sent:
			t.Fatalf("an input ended before it was told to: %v", err)
		case <-time.After(rig.Timeout):
			t.Fatalf("the input of task %d of %d is not read", i+1, tasks)
		}
	}
	for _, in := range inputs {
		close(in.end)
	}
	for range inputs {
		if err := <-sent; err != nil {
			t.Error(err)
		}
	}
}

// heldInput is an input that says when it is read, and is empty when end is closed.
type heldInput struct {
	once       sync.Once
	begun, end chan struct{}
}

func (h *heldInput) Read([]byte) (int, error) {
	h.once.Do(func() { close(h.begun) })
	<-h.end
	return 0, io.EOF
}

// A stream waits for a seat as long as its task does, and takes none away for longer than it must.
func TestStdinWaitsForASeat(t *testing.T) {
	a, b := openPair(t)
	var taken []network.Stream
	for range transport.ServesPerPeer {
		st, err := a.transport.OpenStream(t.Context(), b.self, runner.StdinProtocol)
		if err != nil {
			t.Fatal(err)
		}
		st.Write([]byte{0}) // an incomplete request
		taken = append(taken, st)
	}
	rig.Await(t, "all places are taken",
		func() bool { return rig.Served(b.transport.Host(), runner.StdinProtocol) == transport.ServesPerPeer })
	task := a.submitStreamed(t, 1, "cat")
	sent := make(chan error, 1)
	go func() {
		_, err := a.Stdin(t.Context(), task, strings.NewReader("late"))
		sent <- err
	}()
	rig.Await(t, "it is refused once", func() bool { return b.Dropped()["busy"] > 0 })
	for _, st := range taken {
		st.Reset()
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if r := a.result(task); string(r.Stdout.Inline) != "late" {
		t.Errorf("result %+v, %q", r, r.Stdout.Inline)
	}
	rig.Await(t, "no stream is left open",
		func() bool { return rig.Served(b.transport.Host(), runner.StdinProtocol) == 0 })
}

// binaryAttempt is an attempt as in a request.
func binaryAttempt(id grid.AttemptID) []byte {
	job := id.Task.Job
	var b bytes.Buffer
	b.Write(job.Origin[:])
	b.Write(job.Nonce[:])
	for _, n := range []uint32{id.Task.Index, id.Epoch, id.N} {
		b.Write([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	}
	return b.Bytes()
}

// A job whose standard input is one of its inputs reads all of it with every attempt, and has no file of it.
func TestStdinThatIsKept(t *testing.T) {
	everywhere(t, func(t *testing.T, a *member, nonce byte) {
		spec := streamed("cat; ls -A")
		spec.Stdin = grid.StdinInput
		spec.Inputs = []grid.File{a.put("data", []byte("a file\n"), false), a.put("stdin", []byte("kept\n"), false)}
		r := a.run(nonce, spec)
		if r.Exit != 0 || string(r.Stdout.Inline) != "kept\ndata\n" {
			t.Errorf("result %+v, %q, %q: want the kept input, and only the other file in the work folder", r,
				r.Stdout.Inline, r.Stderr.Inline)
		}
	})
}
