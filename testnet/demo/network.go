package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"skep/node/api/v1"
)

// network are all of them.
type network struct {
	dir     string
	list    []*member
	program v1.File
	done    chan struct{} // closed to end the thread that starts them
	once    sync.Once
}

// start starts the nodes and returns when all are connected. With an error it returns those that were started.
func start(ctx context.Context, o *Options) (*network, error) {
	ns := &network{done: make(chan struct{})}
	var err error
	if ns.dir, err = os.MkdirTemp("", "skep-demo-"); err != nil {
		return ns, err
	}
	if o.NoBoxes {
		if err := os.Chmod(ns.dir, 0o711); err != nil { // tasks may run as other users, who must reach their folders
			return ns, err
		}
	}
	starts := ns.starter()
	join := filepath.Join(ns.dir, "token")
	for i, n := range plan() {
		n.dir = filepath.Join(ns.dir, n.name)
		ns.list = append(ns.list, n)
		args := n.args(ns.dir, o.NoBoxes)
		if i > 0 {
			args = append(args, "--join-file", join)
		}
		if err := ns.start(ctx, starts, n, o.Binary, args); err != nil {
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
func (ns *network) starter() func(*exec.Cmd) error {
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

// awaitConnected waits until each node is connected to all others.
func (ns *network) awaitConnected(ctx context.Context) error {
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

// print prints the nodes.
func (ns *network) print(w io.Writer) {
	for _, n := range ns.list {
		fmt.Fprintf(w, "  %-8s %s  part of a core: %s", n.name, n.id[:8], strings.Join(n.shares, ", "))
		if len(n.labels) > 0 {
			fmt.Fprintf(w, "  label %s", strings.Join(n.labels, ", "))
		}
		fmt.Fprintln(w)
	}
}

// name returns a node's name.
func (ns *network) name(id string) string {
	for _, n := range ns.list {
		if n.id == id {
			return n.name
		}
	}
	return id[:min(8, len(id))]
}

// upload sends the program of the tasks to each node.
func (ns *network) upload(ctx context.Context, binary string) error {
	f, err := os.Open(binary)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	ns.program = v1.File{Path: "skep-demo", Blob: hex.EncodeToString(h.Sum(nil)), Size: size, Exec: true}
	for _, n := range ns.list {
		if err := n.client.PutBlob(ctx, ns.program.Blob, size, io.NewSectionReader(f, 0, size)); err != nil {
			return fmt.Errorf("program to node %s: %w", n.name, err)
		}
	}
	return nil
}

// stop stops every node and removes the folder.
func (ns *network) stop() {
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
