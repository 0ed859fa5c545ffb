package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"skep/node/api/client"
	"skep/node/api/v1"
)

// demoNode is one node of the demonstration: a child process.
type demoNode struct {
	name   string
	shares []string
	labels []string
	id     string
	dir    string
	cmd    *exec.Cmd
	client *client.Client
}

// demoNodes are all of them.
type demoNodes struct {
	dir     string
	list    []*demoNode
	program v1.File
	done    chan struct{} // closed to end the thread that starts them
	once    sync.Once
}

// startDemo starts the nodes and returns when all are connected. With an error it returns those that were started.
func startDemo(ctx context.Context, level isolationLevel) (*demoNodes, error) {
	ns := &demoNodes{done: make(chan struct{})}
	var err error
	if ns.dir, err = os.MkdirTemp("", "skep-demo-"); err != nil {
		return ns, err
	}
	self, err := os.Executable()
	if err != nil {
		return ns, err
	}
	if level.none {
		if err := os.Chmod(ns.dir, 0o711); err != nil { // tasks may run as other users, who must reach their folders
			return ns, err
		}
	}
	starts := ns.starter()
	join := filepath.Join(ns.dir, "token")
	for i, n := range demoPlan() {
		n.dir = filepath.Join(ns.dir, n.name)
		ns.list = append(ns.list, n)
		args := n.args(ns.dir, level)
		if i > 0 {
			args = append(args, "--join-file", join)
		}
		if err := ns.start(ctx, starts, n, self, args); err != nil {
			return ns, fmt.Errorf("node %s: %w", n.name, err)
		}
		if i == 0 {
			t, err := n.client.Token(ctx)
			if err != nil {
				return ns, err
			}
			if err := os.WriteFile(join, []byte(t.Token), 0o600); err != nil {
				return ns, err
			}
		}
	}
	return ns, ns.awaitConnected(ctx)
}

// starter returns a function that starts commands on a thread that lives as long as the demonstration: on Linux the
// nodes are killed with it.
func (ns *demoNodes) starter() func(*exec.Cmd) error {
	work := make(chan *exec.Cmd)
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		for {
			select {
			case c := <-work:
				result <- c.Start()
			case <-ns.done:
				return
			}
		}
	}()
	return func(c *exec.Cmd) error {
		work <- c
		return <-result
	}
}

// start starts a node and returns when it prints READY.
func (ns *demoNodes) start(ctx context.Context, starts func(*exec.Cmd) error, n *demoNode, self string, args []string) error {
	cmd := exec.Command(self, args...)
	cmd.SysProcAttr = childAttr()
	cmd.Env = cleanEnv(os.Environ())
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := starts(cmd); err != nil {
		return err
	}
	n.cmd = cmd
	ready := make(chan bool, 1)
	go func() {
		s := bufio.NewScanner(out)
		for s.Scan() {
			if strings.HasPrefix(s.Text(), "READY ") {
				ready <- true
			}
		}
		close(ready)
	}()
	select {
	case ok := <-ready:
		if !ok {
			cmd.Wait()
			n.cmd = nil
			return fmt.Errorf("ended before it was ready: %s", strings.TrimSpace(said.String()))
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	if n.client, err = client.Open(n.dir); err != nil {
		return err
	}
	self1, err := n.client.Node(ctx, "self")
	n.id = self1.ID
	return err
}

// cleanEnv removes settings of a node from an environment.
func cleanEnv(env []string) []string {
	var out []string
	for _, v := range env {
		if !strings.HasPrefix(v, "SKEP_") {
			out = append(out, v)
		}
	}
	return out
}

// awaitConnected waits until each node is connected to all others.
func (ns *demoNodes) awaitConnected(ctx context.Context) error {
	for _, n := range ns.list {
		for {
			l, err := n.client.Nodes(ctx)
			if err != nil {
				return err
			}
			connected := 0
			for _, p := range l.Nodes {
				if p.State == v1.NodeConnected {
					connected++
				}
			}
			if connected >= len(ns.list)-1 {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("node %s is connected to %d of %d others: %w", n.name, connected, len(ns.list)-1, ctx.Err())
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

// printNodes prints the nodes.
func (ns *demoNodes) printNodes(w io.Writer) {
	for _, n := range ns.list {
		fmt.Fprintf(w, "  %-8s %s  part of a core: %s", n.name, short(n.id), strings.Join(n.shares, ", "))
		if len(n.labels) > 0 {
			fmt.Fprintf(w, "  label %s", strings.Join(n.labels, ", "))
		}
		fmt.Fprintln(w)
	}
}

// name returns a node's name.
func (ns *demoNodes) name(id string) string {
	for _, n := range ns.list {
		if n.id == id {
			return n.name
		}
	}
	return short(id)
}

// stop stops every node and removes the folder.
func (ns *demoNodes) stop() {
	ns.once.Do(func() {
		var wg sync.WaitGroup
		for _, n := range ns.list {
			if n.cmd != nil {
				wg.Go(n.end)
			}
		}
		wg.Wait()
		close(ns.done)
		if ns.dir != "" {
			os.RemoveAll(ns.dir)
		}
	})
}

// end asks a node to leave and, if it does not, kills its group.
func (n *demoNode) end() {
	n.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(leaveTimeout, func() { killGroup(n.cmd.Process.Pid) })
	defer kill.Stop()
	var exit *exec.ExitError
	if err := n.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		killGroup(n.cmd.Process.Pid)
	}
	if n.client != nil {
		n.client.Close()
	}
}
