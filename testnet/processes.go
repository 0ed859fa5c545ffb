package testnet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"skep/exec/process"
)

// marker is the variable by which a node's process is recognised: it names the node's folder.
const marker = "SKEP_TESTNET_NODE"

// processes are nodes that run as processes on loopback, each on a port of its own.
type processes struct{ t *Net }

// Ports of nodes are below those that systems give to outgoing connections, or a node that was killed might find its
// own taken.
const (
	firstPort = 20000
	lastPort  = 32000
)

// prepare chooses a free port for each node.
func (p *processes) prepare(context.Context) error {
	for _, l := range p.t.state.Spec.Links {
		return fmt.Errorf("links: of %s: %w", l.Of, errLoopback)
	}
	var held []net.Listener // until all are chosen
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	port := firstPort + rand.IntN(lastPort-firstPort)
	for i := range p.t.state.Nodes {
		n := &p.t.state.Nodes[i]
		for tries := 0; ; tries++ {
			if port++; port > lastPort {
				port = firstPort
			}
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err == nil {
				held = append(held, l)
				break
			}
			if tries > lastPort-firstPort {
				return fmt.Errorf("no free port of %d to %d: %w", firstPort, lastPort, err)
			}
		}
		n.IP, n.Port = "127.0.0.1", port
	}
	return nil
}

// start starts a node that outlives this program.
func (p *processes) start(_ context.Context, n *Node) error {
	log, err := os.OpenFile(p.t.Log(n), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.t.binary(), "--data-dir", p.t.Folder(n), "up")
	cmd.Env = append(without(os.Environ(), "SKEP_"), marker+"="+p.t.home(n))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // should this program outlive the node
	return started(p.t.home(n), cmd.Process.Pid)
}

// without leaves out the variables with a prefix: they may be settings of somebody's own node.
func without(env []string, prefix string) (out []string) {
	for _, v := range env {
		if !strings.HasPrefix(v, prefix) {
			out = append(out, v)
		}
	}
	return out
}

// child is a node's process.
type child struct {
	pid    int
	paused bool
}

func (p *processes) states(context.Context) (map[string]State, error) {
	found, err := children(p.nodes())
	m := map[string]State{}
	for home, list := range found {
		m[filepath.Base(home)] = Running
		if list[0].paused {
			m[filepath.Base(home)] = Paused
		}
	}
	return m, err
}

// nodes is the folder in which all nodes have theirs.
func (p *processes) nodes() string { return filepath.Join(p.t.dir, "nodes") }

// signal sends a signal to whatever runs of a node.
func (p *processes) signal(n *Node, s syscall.Signal) error {
	found, err := children(p.nodes())
	if err != nil {
		return err
	}
	for _, c := range found[p.t.home(n)] {
		if err := syscall.Kill(c.pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

func (p *processes) kill(_ context.Context, n *Node) error { return p.signal(n, syscall.SIGKILL) }

func (p *processes) terminate(_ context.Context, n *Node) error { return p.signal(n, syscall.SIGTERM) }

func (p *processes) pause(_ context.Context, n *Node, on bool) error {
	if on {
		return p.signal(n, syscall.SIGSTOP)
	}
	return p.signal(n, syscall.SIGCONT)
}

// errLoopback says why some things cannot be done.
var errLoopback = errors.New("processes share this machine's loopback, which cannot be cut or slowed for some of " +
	"them: want a testnet of containers")

// A process is never asked to be cut off or slowed: see errLoopback.
func (p *processes) block(context.Context, *Node, []*Node) error { return nil }

func (p *processes) unplug(context.Context, *Node) error { return errLoopback }

func (p *processes) shape(context.Context, *Node, Shape) error { return nil }

// clear kills all nodes and the tasks that they ran.
func (p *processes) clear(ctx context.Context) error {
	if err := p.t.sweepUntilQuiet(ctx, processQuiet, p.killAll); err != nil {
		return err
	}
	homes, err := os.ReadDir(p.nodes())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, h := range homes {
		if _, err := process.Reap(filepath.Join(p.nodes(), h.Name(), dataName, "work")); err != nil {
			return err
		}
	}
	return nil
}

// killAll kills all nodes, waits for their end, and reports whether there were any.
func (p *processes) killAll(ctx context.Context) (found bool, err error) {
	for end := time.Now().Add(goneTime); ; {
		left, err := children(p.nodes())
		if err != nil || len(left) == 0 {
			return found, err
		}
		if time.Now().After(end) {
			return true, fmt.Errorf("some nodes do not end: %v", left)
		}
		found = true
		for _, list := range left {
			for _, c := range list {
				syscall.Kill(c.pid, syscall.SIGKILL)
			}
		}
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
