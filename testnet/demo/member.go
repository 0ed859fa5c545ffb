package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"skep/grid"
	"skep/node/api/client"
)

// member is one node of the demonstration: a child process.
type member struct {
	name   string
	shares []string
	labels []string
	id     string
	dir    string
	cmd    *exec.Cmd
	client *client.Client
}

// plan defines the nodes. Shares are parts of a core.
func plan() []*member {
	return []*member{
		{name: "ash", shares: []string{"primes=1", "*=0.25"}},
		{name: "birch", shares: []string{"matrix=1", "*=0.25"}, labels: []string{"accel=yes"}},
		{name: "cedar", shares: []string{"hash=1", "*=0.25"}},
		{name: "dogwood", shares: []string{"*=0.5"}, labels: []string{"accel=yes"}},
		{name: "elm", shares: []string{"*=0.2"}},
	}
}

// args returns the command line of a node. The common folder dir is hidden from tasks.
func (n *member) args(dir string, noBoxes bool) []string {
	args := []string{"up", "--data-dir", n.dir, "--name", n.name, "--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns",
		"--cpus", "1",
		"--log-level", "warn", "--hide", dir}
	if noBoxes {
		args = append(args, "--isolation", grid.IsolationNone.String())
	}
	for _, s := range n.shares {
		args = append(args, "--share", s)
	}
	for _, l := range n.labels {
		args = append(args, "--label", l)
	}
	return args
}

// start starts a node and returns when it prints READY.
func (ns *network) start(ctx context.Context, starts func(*exec.Cmd) error, n *member, binary string,
	args []string) error {
	cmd := exec.Command(binary, args...)
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
	self, err := n.client.Node(ctx, "self")
	n.id = self.ID
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

// leaveWithin bounds a node's leaving.
const leaveWithin = 10 * time.Second

// end asks a node to leave and, if it does not, kills its group.
func (n *member) end() {
	n.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(leaveWithin, func() { killGroup(n.cmd.Process.Pid) })
	defer kill.Stop()
	var exit *exec.ExitError
	if err := n.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		killGroup(n.cmd.Process.Pid)
	}
	if n.client != nil {
		n.client.Close()
	}
}

// killGroup kills a child and its group.
func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
