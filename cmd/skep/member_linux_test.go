package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"skep/node/api/client"
)

// member is a running node.
type member struct {
	skep, dir, join string
	args            []string
	enter           []string // command that starts the node's program in another namespace; empty: none
	cmd             *exec.Cmd
	log             *spool
	stderr          spool // its standard error
}

// startMember starts a node, waits for READY, and gets its token.
func startMember(tb testing.TB, skep, join string, args ...string) *member {
	tb.Helper()
	m := &member{skep: skep, dir: dataFolder(tb), log: &spool{},
		args: append([]string{"--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns"}, args...)}
	if join != "" {
		m.args = append(m.args, "--join", join)
	}
	m.start(tb)
	return m
}

// start starts the node in its folder, possibly again.
func (m *member) start(tb testing.TB) {
	tb.Helper()
	passable(tb, filepath.Dir(m.dir))
	line := slices.Concat(m.enter, []string{m.skep, "--data-dir", m.dir, "up"}, m.args)
	m.cmd = exec.Command(line[0], line[1:]...)
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	m.cmd.Stderr = m.log
	m.cmd.Env = append(os.Environ(), "SKEP_DRAIN=300ms") // most tests leave tasks running
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { m.stop() })
	ready := make(chan bool, 1)
	go func() {
		s := bufio.NewScanner(io.TeeReader(out, &m.stderr))
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			if strings.HasPrefix(s.Text(), "READY ") {
				ready <- true
			}
		}
	}()
	select {
	case <-ready:
	case <-time.After(time.Minute):
		tb.Fatalf("the node is not ready after a minute:\n%s", m.log)
	}
	c, err := client.Open(m.dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	t, err := c.Token(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	m.join = t.Token
}

// kill kills the node.
func (m *member) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}

func (m *member) stop() {
	if m.cmd.ProcessState != nil {
		return
	}
	_ = m.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() { _ = m.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		_ = m.cmd.Process.Kill()
		<-done
	}
}

func (m *member) run(tb testing.TB, stdin string, args ...string) string {
	tb.Helper()
	cmd := exec.Command(m.skep, append([]string{"--data-dir", m.dir}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("skep %v: %v\n%s\nnode:\n%s", args, err, &stderr, m.log)
	}
	return string(out)
}

// startGrid starts n nodes and waits until all are connected.
func startGrid(tb testing.TB, skep string, n int, args ...string) []*member {
	tb.Helper()
	ms := []*member{startMember(tb, skep, "", args...)}
	for len(ms) < n {
		ms = append(ms, startMember(tb, skep, ms[0].join, args...))
	}
	awaitMembers(tb, ms)
	return ms
}

// awaitMembers waits until each node is connected to all others.
func awaitMembers(tb testing.TB, ms []*member) {
	tb.Helper()
	deadline := time.Now().Add(time.Minute)
	for _, m := range ms {
		for strings.Count(m.run(tb, "", "node", "list", "--output", "json"), `"name"`) < len(ms) {
			if time.Now().After(deadline) {
				tb.Fatalf("a grid of %d did not form:\n%s", len(ms), m.log)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// metric reads a metric of the node's API.
func (m *member) metric(tb testing.TB, name string) string {
	tb.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(m.dir, client.SocketName))
	}
	c := http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	token, err := os.ReadFile(filepath.Join(m.dir, client.TokenName))
	if err != nil {
		tb.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, "http://skep/metrics", nil)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r, err := c.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	for l := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(l, name+" "); ok {
			return strings.TrimSpace(v)
		}
	}
	tb.Fatalf("there is no %s in\n%.500s", name, text)
	return ""
}

// spool is a buffer that can be read while a process writes to it.
type spool struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *spool) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// dataFolder makes a data folder for a node: on a disk, as a user's is, for measurements, and where other users can
// enter, for tasks without boxes.
func dataFolder(tb testing.TB) string {
	if _, measured := tb.(*testing.B); !measured {
		return tb.TempDir()
	}
	dir, err := os.MkdirTemp("/var/tmp", "skep")
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
