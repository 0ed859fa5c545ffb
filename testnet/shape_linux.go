package testnet

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// shape tells the kernel's traffic control what to do to what a container sends. The tool is this machine's: it is run
// in the network namespace of the container.
func (d *containers) shape(ctx context.Context, n *Node, s Shape) error {
	ctx, stop := context.WithTimeout(ctx, engineTime)
	defer stop()
	i, err := d.c.ContainerInspect(ctx, d.name(n), client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("docker: %w", err)
	}
	if i.Container.State == nil || i.Container.State.Pid == 0 {
		return fmt.Errorf("its container does not run")
	}
	tc := func(args ...string) (string, error) {
		return inNetwork(i.Container.State.Pid, exec.CommandContext(ctx, "tc", args...))
	}
	if s == (Shape{}) {
		if said, err := tc("qdisc", "show", "dev", device); err == nil && !strings.Contains(said, "netem") &&
			!strings.Contains(said, "tbf") {
			return nil
		}
		if said, err := tc("qdisc", "del", "dev", device, "root"); err != nil {
			return fmt.Errorf("tc: %w: %s", err, said)
		}
		return nil
	}
	said, err := tc(append([]string{"qdisc", "replace", "dev", device, "root"}, s.discipline()...)...)
	switch {
	case err == nil:
		return nil
	case strings.Contains(said, "qdisc kind is unknown"):
		return fmt.Errorf("latency and loss need the kernel's netem (module sch_netem), which is not here; --rate alone " +
			"needs only tbf")
	}
	return fmt.Errorf("tc in the container's network, for which one must be root: %w: %s", err, said)
}

// discipline is the queueing discipline that makes a shape, in the words of tc.
func (s Shape) discipline() []string {
	if s.Latency == 0 && s.Loss == 0 {
		return []string{"tbf", "rate", fmt.Sprint(8*s.Rate) + "bit", "burst", fmt.Sprint(max(s.Rate/50, 16<<10)), "latency",
			"400ms"}
	}
	w := []string{"netem", "limit", "10000"}
	if s.Latency > 0 {
		w = append(w, "delay", fmt.Sprintf("%dus", s.Latency/time.Microsecond))
	}
	if s.Loss > 0 {
		w = append(w, "loss", fmt.Sprintf("%.4f%%", 100*s.Loss))
	}
	if s.Rate > 0 {
		w = append(w, "rate", fmt.Sprint(8*s.Rate)+"bit")
	}
	return w
}

// checkLinks says before anything runs why links cannot be made.
func (d *containers) checkLinks() error {
	if len(d.t.state.Spec.Links) == 0 {
		return nil
	}
	if unix.Geteuid() != 0 {
		return fmt.Errorf("links: of %s: only root may set what the network of a container does", d.t.state.Spec.Links[0].Of)
	}
	if _, err := exec.LookPath("tc"); err != nil {
		return fmt.Errorf("links: of %s: %w: install iproute2", d.t.state.Spec.Links[0].Of, err)
	}
	return nil
}

// inNetwork runs a program of this machine in the network namespace of a process.
func inNetwork(pid int, cmd *exec.Cmd) (said string, err error) {
	done := make(chan struct{})
	go func() { // on a thread that is in that namespace from now on, and ends with this goroutine
		defer close(done)
		runtime.LockOSThread()
		var fd int
		if fd, err = unix.Open(fmt.Sprintf("/proc/%d/ns/net", pid), unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return
		}
		defer unix.Close(fd)
		if err = unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
			return
		}
		var out []byte
		out, err = cmd.CombinedOutput()
		said = strings.TrimSpace(string(out))
	}()
	<-done
	return said, err
}
