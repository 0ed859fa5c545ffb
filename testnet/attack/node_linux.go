package attack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// target is the node that is attacked: a process of the built program.
type target struct {
	skep, data, home string
	cmd              *exec.Cmd
	ended            chan struct{}
	log              lockedBuffer
}

// readyTime bounds a start.
const readyTime = 90 * time.Second

// startTarget starts a node and waits until it is ready.
func startTarget(skep, data, home string, args ...string) (*target, error) {
	n := &target{skep: skep, data: data, home: home, ended: make(chan struct{})}
	n.cmd = exec.Command(skep, slices.Concat([]string{"--data-dir", data, "up", "--listen", "/ip4/127.0.0.1/tcp/0",
		"--no-mdns"}, args)...)
	n.cmd.Env = n.env("SKEP_DRAIN=300ms")
	n.cmd.Stderr = &n.log
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan bool, 1)
	go func() {
		defer close(n.ended)
		for s := bufio.NewScanner(out); s.Scan(); {
			if strings.HasPrefix(s.Text(), "READY ") {
				ready <- true
			}
		}
		n.cmd.Wait()
	}()
	select {
	case <-ready:
		return n, nil
	case <-n.ended:
	case <-time.After(readyTime):
		n.stop()
	}
	return nil, fmt.Errorf("the node does not come up:\n%s", n.log.String())
}

// env is that of the node and of its clients: no settings of somebody's own node.
func (n *target) env(more ...string) (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SKEP_") && !strings.HasPrefix(v, "HOME=") {
			env = append(env, v)
		}
	}
	return append(append(env, "HOME="+n.home, "SKEP_NODE_CANARY=1"), more...)
}

func (n *target) alive() bool {
	select {
	case <-n.ended:
		return false
	default:
		return true
	}
}

func (n *target) stop() {
	n.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-n.ended:
	case <-time.After(20 * time.Second):
		n.cmd.Process.Kill()
		<-n.ended
	}
}

// client runs the program as a client of the node; it returns what it prints and its exit code.
func (n *target) client(ctx context.Context, dir string, args ...string) (string, int, error) {
	cmd := exec.CommandContext(ctx, n.skep, append([]string{"--data-dir", n.data}, args...)...)
	cmd.Dir, cmd.Env = dir, n.env()
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &tail{b: &stderr}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return string(out), exit.ExitCode(), fmt.Errorf("exit code %d: %s", exit.ExitCode(),
			strings.TrimSpace(stderr.String()))
	}
	return string(out), 0, err
}

// level asks the node what it claims.
func (n *target) level(ctx context.Context) (string, error) {
	out, _, err := n.client(ctx, n.home, "node", "describe", "self", "--output", "json")
	if err != nil {
		return "", err
	}
	var said struct{ Isolation string }
	err = json.Unmarshal([]byte(out), &said)
	return said.Isolation, err
}

// attempts are the folders of attempts that are there.
func (n *target) attempts() []string {
	found, _ := filepath.Glob(filepath.Join(n.data, "work", "*", "work"))
	return found
}

// lockedBuffer is a buffer that several goroutines use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// tail keeps the last of what is written.
type tail struct{ b *bytes.Buffer }

const tailSize = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.b.Write(p)
	if t.b.Len() > 2*tailSize {
		t.b.Next(t.b.Len() - tailSize)
	}
	return len(p), nil
}
