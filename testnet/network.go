package testnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// network makes the testnet's network. The engine chooses a free subnet, but keeps addresses only where it was told the
// subnet: so it is asked twice.
func (d *containers) network(ctx context.Context) (subnet netip.Prefix, err error) {
	ctx, stop := context.WithTimeout(ctx, engineTime)
	defer stop()
	for range 5 {
		if subnet, err = d.freeSubnet(ctx); err != nil {
			return subnet, err
		}
		_, err = d.c.NetworkCreate(ctx, d.key(), client.NetworkCreateOptions{Driver: "bridge", Labels: d.labels(),
			IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet}}}})
		if err == nil || ctx.Err() != nil {
			break // else another one has taken it meanwhile
		}
	}
	if err != nil {
		return subnet, fmt.Errorf("docker: make a network: %w", err)
	}
	return subnet, nil
}

func (d *containers) freeSubnet(ctx context.Context) (subnet netip.Prefix, err error) {
	n, err := d.c.NetworkCreate(ctx, d.key()+"-try", client.NetworkCreateOptions{Driver: "bridge", Labels: d.labels()})
	if err != nil {
		return subnet, fmt.Errorf("docker: make a network: %w", err)
	}
	defer func() {
		_, rerr := d.c.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
		err = errors.Join(err, rerr)
	}()
	i, err := d.c.NetworkInspect(ctx, n.ID, client.NetworkInspectOptions{})
	if err != nil {
		return subnet, fmt.Errorf("docker: inspect a network: %w", err)
	}
	for _, c := range i.Network.IPAM.Config {
		if c.Subnet.Addr().Is4() {
			return c.Subnet.Masked(), nil
		}
	}
	return subnet, errors.New("docker: a new network has no IPv4 subnet")
}

// block drops what comes from others as it arrives, so that they wait for answers as they would for those of a machine
// that is gone. Whatever was dropped before is let in again. It is done with routing rules, which need no tool beyond
// the image's own: what comes from the others is looked up in a table of its own, before the kernel sees that it is for
// here.
func (d *containers) block(ctx context.Context, n *Node, others []*Node) error {
	script := []string{
		"ip rule | grep -q '^200:' || { ip rule add pref 200 lookup local && ip rule del pref 0 && ip route add blackhole " +
			"default table 100; } || exit 1",
		"while ip rule | grep -q '^100:'; do ip rule del pref 100 || exit 1; done",
	}
	for _, o := range others {
		script = append(script, "ip rule add from "+o.IP+" lookup 100 pref 100 || exit 1")
	}
	if err := d.inside(ctx, n, strings.Join(script, "\n")); err != nil {
		return fmt.Errorf("cut off: %w", err)
	}
	return nil
}

func (d *containers) unplug(ctx context.Context, n *Node) error {
	return d.inside(ctx, n, "ip link set "+device+" down")
}

// device is a container's network interface.
const device = "eth0"

// inside runs a command in a node's container as its root.
func (d *containers) inside(ctx context.Context, n *Node, script string) error {
	ctx, stop := context.WithTimeout(ctx, engineTime)
	defer stop()
	e, err := d.c.ExecCreate(ctx, d.name(n), client.ExecCreateOptions{User: "0:0", AttachStdout: true, AttachStderr: true,
		Cmd: []string{"/bin/busybox", "sh", "-c", script}})
	if err != nil {
		return fmt.Errorf("docker: run in container: %w", err)
	}
	a, err := d.c.ExecAttach(ctx, e.ID, client.ExecAttachOptions{})
	if err != nil {
		return fmt.Errorf("docker: run in container: %w", err)
	}
	defer a.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = a.Conn.SetDeadline(end)
	}
	said, err := io.ReadAll(io.LimitReader(a.Reader, 64<<10))
	if err != nil {
		return fmt.Errorf("docker: run in container: %w", err)
	}
	i, err := d.c.ExecInspect(ctx, e.ID, client.ExecInspectOptions{})
	if err != nil {
		return fmt.Errorf("docker: run in container: %w", err)
	}
	if i.ExitCode != 0 {
		said = bytes.Map(func(r rune) rune { // the stream's own headers are not for people
			if r < ' ' || r > '~' {
				return ' '
			}
			return r
		}, said)
		return fmt.Errorf("in its container: exit code %d: %s", i.ExitCode, bytes.TrimSpace(said))
	}
	return nil
}
