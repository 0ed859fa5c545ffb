package p2p

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/multiformats/go-multiaddr"
	"go.uber.org/goleak"

	"skep/exec/sandbox"
	"skep/grid"
	"skep/internal/crash"
	"skep/node"
	"skep/node/p2p/internal/rig"
)

func TestMain(m *testing.M) {
	crash.Main(map[string]func(string) error{"start": startTwice})
	// Tests that may run beside others wait more than they compute.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { os.RemoveAll(exposedFolder()); os.Exit(code) }),
		// process-wide helpers of libraries, started once and never stopped
		goleak.IgnoreTopFunction("github.com/libp2p/go-flow-metrics.(*sweeper).runActive"),
	)
}

// exposedFolder is a folder that the tasks of all members see and may write to.
var exposedFolder = sync.OnceValue(func() string {
	home, err := os.UserCacheDir() // not in /tmp: each task has its own
	if err == nil {
		err = os.MkdirAll(home, 0o755)
	}
	var dir string
	if err == nil {
		dir, err = os.MkdirTemp(home, "skep-p2p-")
	}
	if err == nil {
		err = os.Chmod(dir, 0o777|os.ModeSticky)
	}
	if err != nil {
		panic(err)
	}
	return dir
})

// sharedFolder returns a new folder by which a test and its tasks communicate.
func sharedFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(exposedFolder(), "")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// member is a driver with a fake node.
type member struct {
	*Driver
	fake *fakeNode
	cfg  Config
	t    testing.TB
}

// openMember opens a member on loopback; change may alter its configuration.
func openMember(t testing.TB, dir string, change func(*Config), join ...string) *member {
	t.Helper()
	m, err := tryOpenMember(t, dir, change, join...)
	if err != nil {
		t.Fatalf("open %s: %v", dir, err)
	}
	return m
}

func tryOpenMember(t testing.TB, dir string, change func(*Config), join ...string) (*member, error) {
	y := newFakeNode()
	cfg := Config{DataDir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Join: join, Name: filepath.Base(dir)}
	cfg.Node.Speed = 1
	cfg.Boxes.Expose = []sandbox.Expose{{Path: exposedFolder(), Writable: true}}
	if os.Getenv("SKEP_TEST_LOG") != "" {
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("me",
			filepath.Base(dir))
	}
	cfg.Fatal = func(err error) { t.Errorf("node cannot go on: %v", err) }
	cfg.newNode = func(c node.Config, _ grid.Wall) (stepper, error) {
		y.cfg = c
		return y, nil
	}
	if change != nil {
		change(&cfg)
	}
	d, err := Open(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	m := &member{Driver: d, fake: y, cfg: cfg, t: t}
	t.Cleanup(m.close)
	return m, nil
}

// reopenAt opens a member again at the address where it listened. A connection of another test may have the port for a
// while, since the system gives out the same ones.
func reopenAt(t testing.TB, dir, addr string) (m *member) {
	t.Helper()
	rig.Await(t, dir+" opens at "+addr, func() bool {
		var err error
		m, err = tryOpenMember(t, dir, func(c *Config) { c.Listen = []string{addr} })
		if err != nil && !strings.Contains(err.Error(), "address already in use") {
			t.Fatalf("open %s: %v", dir, err)
		}
		return err == nil
	})
	return m
}

func (m *member) close() {
	ctx, cancel := context.WithTimeout(context.Background(), rig.Timeout)
	defer cancel()
	if err := m.Close(ctx); err != nil && err != ErrClosed {
		m.t.Errorf("close: %v", err)
	}
}

func (m *member) token() string {
	m.t.Helper()
	text, err := m.Token()
	if err != nil {
		m.t.Fatal(err)
	}
	return text
}

// do makes the node's next step call f.
func (m *member) do(f func(fx *grid.Effects)) {
	m.fake.mu.Lock()
	m.fake.todo = append(m.fake.todo, f)
	m.fake.mu.Unlock()
	m.inbox.Event(func(ev *grid.Event) { ev.Kind = grid.EvWake })
}

// waitUp waits until all members see each other up.
func waitUp(t testing.TB, all ...*member) {
	t.Helper()
	for _, a := range all {
		for _, b := range all {
			if a != b {
				rig.Await(t, a.cfg.Name+" hears that "+b.cfg.Name+" is up", func() bool { return a.fake.isUp(b.self) })
			}
		}
	}
}

// openPair opens two members that see each other up.
func openPair(t testing.TB) (a, b *member) {
	t.Helper()
	a = openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	b = openMember(t, filepath.Join(t.TempDir(), "b"), nil, a.token())
	waitUp(t, a, b)
	return a, b
}

// listenAddr returns the address that the member listens on.
func (m *member) listenAddr() string {
	for _, a := range m.transport.Host().Network().ListenAddresses() {
		if _, err := a.ValueForProtocol(multiaddr.P_TCP); err == nil {
			return a.String()
		}
	}
	m.t.Fatal("does not listen")
	return ""
}

// job returns the ID of a job of this member.
func (m *member) job(nonce byte) grid.JobID {
	return grid.JobID{Origin: m.self, Nonce: [10]byte{nonce}}
}

// run submits a job and waits for the result of its task 0.
func (m *member) run(nonce byte, spec *grid.JobSpec) *grid.Result {
	m.t.Helper()
	id := m.job(nonce)
	if err := m.Submit(context.Background(), id, spec); err != nil {
		m.t.Fatal(err)
	}
	return m.result(grid.TaskID{Job: id})
}

func (m *member) result(t grid.TaskID) *grid.Result {
	m.t.Helper()
	var r *grid.Result
	rig.Await(m.t, "the end of task "+t.String(), func() bool {
		v, _ := m.fake.Task(t)
		r = v.Result
		return r != nil
	})
	return r
}

// workDir returns the folder that holds the folders of attempts.
func (m *member) workDir() string { return filepath.Join(m.cfg.DataDir, "work") }
