package runner

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"go.uber.org/goleak"

	"skep/exec/units"
	"skep/grid"
	"skep/node/p2p/blob"
	"skep/node/p2p/internal/rig"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// loop collects events, as a loop that steps them at once.
type loop struct {
	mu     sync.Mutex
	events []grid.Event
	waits  int
}

func (l *loop) Event(fill func(*grid.Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, grid.Event{})
	fill(&l.events[len(l.events)-1])
}

func (l *loop) Wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits++
}

func (l *loop) Wake() {}

func (l *loop) count(k grid.EventKind) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.events {
		if l.events[i].Kind == k {
			n++
		}
	}
	return n
}

// last returns the last event of a kind, of which there must be one.
func (l *loop) last(k grid.EventKind) (ev grid.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.events {
		if l.events[i].Kind == k {
			ev = l.events[i]
		}
	}
	return ev
}

// end returns what has become of an attempt; nil as long as it has not ended.
func (l *loop) end(id grid.AttemptID) *grid.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.events {
		if ev := &l.events[i]; ev.Kind == grid.EvEnded && ev.Attempt == id {
			return ev.Result
		}
	}
	return nil
}

var errNobody = errors.New("nobody is connected")

// alone is a network without peers.
type alone struct{}

func (alone) Open(context.Context, grid.NodeID, string) (network.Stream, error) {
	return nil, errNobody
}
func (alone) Connected() []grid.NodeID        { return nil }
func (alone) IsConnected(grid.NodeID) bool    { return false }
func (alone) Dialable(grid.NodeID) bool       { return false }
func (alone) Offend(grid.NodeID, string, int) {}

// openRunner opens a runner of a node without peers.
func openRunner(t testing.TB) (*Runner, *loop) { return openRunnerWith(t, units.NewTable(nil, nil)) }

// openRunnerWith opens one whose tasks may have the units and processors of a table.
func openRunnerWith(t testing.TB, table *units.Table) (*Runner, *loop) {
	t.Helper()
	dir, l := t.TempDir(), new(loop)
	blobs, err := blob.Open(filepath.Join(dir, "blobs"), grid.GiB)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	cfg := Config{Self: self, DataDir: dir, Capacity: grid.Resources{CPU: 4 * grid.CPU, Memory: grid.GiB},
		MaxOutput: grid.MiB, MaxCollect: grid.MiB, MaxCheckpoint: grid.MiB,
		DiskLow: grid.MiB, Units: table,
		Log: slog.New(slog.DiscardHandler), Blobs: blobs, Loop: l, Peers: alone{}, Drop: func(string) {},
		Fatal: func(err error) { t.Error("the node ends: ", err) }}
	if err := cfg.Boxes.Defaults(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !r.closed {
			r.Close()
		}
	})
	return r, l
}

var self = grid.NodeID{9}

func attemptID(nonce byte) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: self, Nonce: [10]byte{nonce}}},
		Attempt: grid.Attempt{Epoch: 1, N: 1}}
}

func TestAttemptFromStartToEnd(t *testing.T) {
	r, l := openRunner(t)
	spec := rig.Sh("echo out; echo made > file; exit 3")
	spec.Outputs = []string{"file"}
	r.Start(grid.Start{Attempt: attemptID(1), Spec: spec})
	rig.Await(t, "its end", func() bool { return l.count(grid.EvEnded) == 1 })
	ev := l.last(grid.EvEnded)
	if res := ev.Result; ev.Attempt != attemptID(1) || res.Exit != 3 || string(res.Stdout.Inline) != "out\n" ||
		len(res.Outputs) != 1 || !r.cfg.Blobs.Has(res.Outputs[0].Blob) {
		t.Errorf("%+v: want exit 3, what it printed, and its file as a blob", res)
	}
	if l.count(grid.EvStarted) != 1 {
		t.Errorf("%d starts are told", l.count(grid.EvStarted))
	}
	rec := &grid.Record{Kind: grid.RecWork, Delete: true}
	rec.Work.ID = attemptID(1)
	r.RecordSaved(rec)
	rig.Await(t, "its folder is removed", func() bool {
		left, _ := os.ReadDir(r.dir)
		return len(left) == 0
	})
}

// A missing input makes the fetch fail, and nothing else.
func TestFetchWithoutPeersFails(t *testing.T) {
	r, l := openRunner(t)
	r.Fetch(grid.Fetch{Attempt: attemptID(1), From: grid.NodeID{1},
		Files: []grid.File{{Path: "x", Blob: grid.BlobID{1}, Size: 3}}})
	rig.Await(t, "its end", func() bool { return l.count(grid.EvFetched) == 1 })
	if ev := l.last(grid.EvFetched); ev.Err == "" || ev.Attempt != attemptID(1) {
		t.Errorf("event %+v: want an error", ev)
	}
}

// A task whose folder is not for its submitter is refused with the reason, and its inputs, which are nowhere here, are
// not asked for.
func TestRefusedFolderFetchesNothing(t *testing.T) {
	r, l := openRunner(t)
	spec := rig.Sh("true")
	spec.Folders = &grid.Folders{Work: "/data/shared"}
	spec.Inputs = []grid.File{{Path: "x", Blob: grid.BlobID{1}, Size: 3}}
	id := attemptID(1)
	rec := &grid.Record{Kind: grid.RecWork}
	rec.Work.ID, rec.Work.Spec = id, spec
	r.RecordSaved(rec)
	r.Fetch(grid.Fetch{Attempt: id, From: grid.NodeID{1}, Files: spec.Inputs})
	rig.Await(t, "its end", func() bool { return l.count(grid.EvFetched) == 1 })
	if ev := l.last(grid.EvFetched); ev.Err != "" || r.Fetched() != 0 {
		t.Errorf("event %+v after %d fetches: want no error and no fetch", ev, r.Fetched())
	}
	r.Start(grid.Start{Attempt: id, Spec: spec})
	rig.Await(t, "its end", func() bool { return l.count(grid.EvEnded) == 1 })
	if res := l.last(grid.EvEnded).Result; res == nil || res.Cause != grid.CannotExecute ||
		!strings.Contains(res.Error, "exposes no folder") {
		t.Errorf("%+v: want the reason of the refusal", res)
	}
}

func TestCloseStopsTasksSilently(t *testing.T) {
	r, l := openRunner(t)
	r.Start(grid.Start{Attempt: attemptID(1), Spec: rig.Sh("exec sleep 60")})
	rig.Await(t, "it runs", func() bool { return l.count(grid.EvStarted) == 1 })
	r.Close()
	if n := l.count(grid.EvEnded); n != 0 {
		t.Errorf("%d ends are told: want none, for they are not the task's own", n)
	}
	if _, err := os.Stat(r.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the work folder is still there: %v", err)
	}
}

// A node that names itself a member of a job's register, with an attempt that it offers itself, cannot read the
// output of other attempts.
func TestOutputIsNotReadableByFalseMembers(t *testing.T) {
	r, _ := openRunner(t)
	origin, rogue := grid.NodeID{7}, grid.NodeID{8}
	real := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: origin}}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	forged := real
	forged.Task.Index = 1
	s := rig.Sh("exit 0")
	s.Count = 2
	for id, members := range map[grid.AttemptID][]grid.NodeID{real: nil, forged: {origin, rogue, self}} {
		r.RecordSaved(&grid.Record{Kind: grid.RecWork, Work: grid.WorkRecord{ID: id, Spec: s, Class: "x", Lease: time.Minute,
			State: grid.WorkQueued, Members: members}})
	}
	if r.mayReadOutput(real, rogue) || !r.mayReadOutput(real, origin) || !r.mayReadOutput(forged, rogue) {
		t.Error("want the output of each attempt told to its origin and the members that it was offered with")
	}
}

func TestDepositsAreRateLimited(t *testing.T) {
	s := depositAdmission{dir: t.TempDir()}
	s.delay(grid.NodeID{1}, depositBurst)
	if d := s.delay(grid.NodeID{1}, 10*depositRate); d < 5*time.Second || d > 11*time.Second {
		t.Errorf("ten seconds' worth beyond the bound waits %v", d)
	}
	if d := s.delay(grid.NodeID{2}, depositRate); d != 0 {
		t.Errorf("another owner's waits %v", d)
	}
}

// A work folder that is a link to another folder gives no file of that one.
func TestWorkFolderSymlinkIsNotFollowed(t *testing.T) {
	r, _ := openRunner(t)
	data, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(data, filepath.Join(dir, "work")); err != nil {
		t.Fatal(err)
	}
	if files, err := r.collectFiles(&attempt{folder: folder{dir: dir}}, []string{"secret"}); err == nil || len(files) > 0 {
		t.Errorf("outputs %v, %v: want an error", files, err)
	}
}

// slowStream is a stream that gives one byte at a time.
type slowStream struct {
	network.Stream
	deadlines int
}

func (d *slowStream) Read(b []byte) (int, error) { return 1, nil }

func (d *slowStream) SetReadDeadline(time.Time) error {
	d.deadlines++
	return nil
}

func TestFetchRenewsItsDeadline(t *testing.T) {
	d := &slowStream{}
	s := &blobSource{st: d, file: &grid.File{Size: 3 * fetchPiece}}
	for range 2*fetchPiece + 1 {
		if _, err := s.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if d.deadlines != 3 {
		t.Errorf("%d deadlines for %d bytes that drip: want one for each %d", d.deadlines, s.at, fetchPiece)
	}
}
