package testnet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// Labels of whatever belongs to a testnet.
const (
	folderLabel = "skep.testnet.dir"
	nodeLabel   = "skep.testnet.node"
	imageLabel  = "skep.testnet"
)

// Bounds of asking the engine.
const (
	pingTime   = 2 * time.Second
	engineTime = 30 * time.Second
	buildTime  = 3 * time.Minute
)

// nodePort is where nodes listen, each in a container with an address of its own.
const nodePort = 7420

// containers are nodes that run in containers on a network of their own.
type containers struct {
	t *Net
	c *client.Client
}

// newContainers returns the machines of a testnet; it does not connect.
func newContainers(t *Net) (*containers, error) {
	c, err := client.New(client.FromEnv)
	if err != nil {
		return nil, fmt.Errorf("docker: %w", err)
	}
	return &containers{t, c}, nil
}

// Engine says why there can be no containers here; nil means that an engine answers.
func Engine(ctx context.Context) error {
	d, err := newContainers(nil)
	if err != nil {
		return err
	}
	defer d.c.Close()
	ctx, stop := context.WithTimeout(ctx, pingTime)
	defer stop()
	if host := d.c.DaemonHost(); !strings.HasPrefix(host, "unix://") {
		return fmt.Errorf("docker: the engine at %s is not on this machine, and nodes share folders with it", host)
	}
	p, err := d.c.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if err != nil {
		return fmt.Errorf("docker: %w", err)
	}
	if p.OSType != "" && p.OSType != "linux" {
		return fmt.Errorf("docker: the engine runs containers of %s: want linux", p.OSType)
	}
	return nil
}

// key is a part of the names of what belongs to the testnet: two folders may hold testnets of one name.
func (d *containers) key() string {
	h := sha256.Sum256([]byte(d.t.dir))
	return "skep-" + d.t.Name() + "-" + hex.EncodeToString(h[:3])
}

func (d *containers) name(n *Node) string { return d.key() + "-" + n.Name }

func (d *containers) labels() map[string]string { return map[string]string{folderLabel: d.t.dir} }

func (d *containers) ours() client.Filters {
	return client.Filters{}.Add("label", folderLabel+"="+d.t.dir)
}

// prepare makes the image and the network, and gives each node an address that it keeps.
func (d *containers) prepare(ctx context.Context) error {
	if err := d.checkLinks(); err != nil {
		return err
	}
	if err := d.image(ctx); err != nil {
		return err
	}
	subnet, err := d.network(ctx)
	if err != nil {
		return err
	}
	ip := subnet.Addr().Next() // the gateway
	for i := range d.t.state.Nodes {
		if ip = ip.Next(); !subnet.Contains(ip.Next()) {
			return fmt.Errorf("docker: network %s is too small for %d nodes", subnet, len(d.t.state.Nodes))
		}
		d.t.state.Nodes[i].IP, d.t.state.Nodes[i].Port = ip.String(), nodePort
	}
	return nil
}

// imageTries is how often an image is made again that is gone when a container is made.
const imageTries = 5

// start starts a node's container, which is made when it is not there yet.
func (d *containers) start(ctx context.Context, n *Node) error {
	ctx, stop := context.WithTimeout(ctx, engineTime)
	defer stop()
	_, err := d.c.ContainerCreate(ctx, *d.recipe(n))
	// Other testnets that go down take the image with them.
	for try := 0; try < imageTries && errdefs.IsNotFound(err) && d.t.madeImage(); try++ {
		if err := d.image(ctx); err != nil {
			return err
		}
		_, err = d.c.ContainerCreate(ctx, *d.recipe(n))
	}
	if err != nil && !errdefs.IsConflict(err) { // it is there already
		return fmt.Errorf("docker: make container: %w", err)
	}
	if _, err := d.c.ContainerStart(ctx, d.name(n), client.ContainerStartOptions{}); err != nil {
		return fmt.Errorf("docker: start container: %w", err)
	}
	return nil
}

// What nodes need in a container for boxes around their tasks, which have none of it: to mount, to count what tasks
// have open, and a whole /proc. NET_ADMIN is for cuts.
var (
	capabilities = []string{"NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE"}
	unconfined   = []string{"seccomp=unconfined", "apparmor=unconfined"}
)

// recipe says what a node's container is like.
func (d *containers) recipe(n *Node) *client.ContainerCreateOptions {
	labels := d.labels()
	labels[nodeLabel] = n.Name
	binds := []string{d.t.home(n) + ":" + nodeMount}
	if s := d.t.state.Spec.Shared; s != "" {
		binds = append(binds, s+":"+s)
	}
	init := true
	host := &container.HostConfig{Binds: binds, CapAdd: capabilities, SecurityOpt: unconfined, Init: &init,
		NetworkMode: container.NetworkMode(d.key()),
		MaskedPaths: []string{}, ReadonlyPaths: []string{}} // systempaths=unconfined, as the engine is told
	if n.MaxCPUs < float64(runtime.NumCPU()) { // the engine refuses to bound by more than there are
		host.NanoCPUs = int64(n.MaxCPUs * 1e9)
	}
	host.Memory, host.MemorySwap = n.MaxMemory, n.MaxMemory
	ip, _ := netip.ParseAddr(n.IP)
	return &client.ContainerCreateOptions{
		Name: d.name(n),
		Config: &container.Config{Image: d.t.state.Image, Hostname: n.Name, Labels: labels,
			Entrypoint: []string{"/bin/busybox", "sh", "-c"},
			Cmd:        []string{nodeCommand}, User: fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())},
		HostConfig: host,
		NetworkingConfig: &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{
			d.key(): {IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: ip}}}},
	}
}

// nodeMount is where a node's folder is inside its container; nodeCommand is what runs there. The log is a file, so
// that it is at one place in every kind of testnet and outlives the container.
const (
	nodeMount   = "/node"
	nodeCommand = "exec /bin/skep --data-dir " + nodeMount + "/" + dataName + " up >>" + nodeMount + "/" + logName +
		" 2>&1"
)

func (d *containers) states(ctx context.Context) (map[string]State, error) {
	ctx, stop := context.WithTimeout(ctx, engineTime)
	defer stop()
	l, err := d.c.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: d.ours()})
	if err != nil {
		return nil, fmt.Errorf("docker: list containers: %w", err)
	}
	m := map[string]State{}
	for _, c := range l.Items {
		switch c.State {
		case container.StateRunning:
			m[c.Labels[nodeLabel]] = Running
		case container.StatePaused:
			m[c.Labels[nodeLabel]] = Paused
		default:
			m[c.Labels[nodeLabel]] = Stopped
		}
	}
	return m, nil
}

func (d *containers) kill(ctx context.Context, n *Node) error { return d.signal(ctx, n, "SIGKILL") }

func (d *containers) terminate(ctx context.Context, n *Node) error {
	return d.signal(ctx, n, "SIGTERM")
}

func (d *containers) signal(ctx context.Context, n *Node, s string) error {
	ctx, stop := context.WithTimeout(ctx, engineTime)
	defer stop()
	_, err := d.c.ContainerKill(ctx, d.name(n), client.ContainerKillOptions{Signal: s})
	if err != nil && strings.Contains(err.Error(), "paused") { // some engines do not kill what is paused
		if _, perr := d.c.ContainerUnpause(ctx, d.name(n), client.ContainerUnpauseOptions{}); perr == nil {
			_, err = d.c.ContainerKill(ctx, d.name(n), client.ContainerKillOptions{Signal: s})
		}
	}
	if err != nil {
		return fmt.Errorf("docker: %w", err)
	}
	return nil
}

func (d *containers) pause(ctx context.Context, n *Node, on bool) (err error) {
	ctx, stop := context.WithTimeout(ctx, engineTime)
	defer stop()
	if on {
		_, err = d.c.ContainerPause(ctx, d.name(n), client.ContainerPauseOptions{})
	} else {
		_, err = d.c.ContainerUnpause(ctx, d.name(n), client.ContainerUnpauseOptions{})
	}
	if err != nil {
		return fmt.Errorf("docker: %w", err)
	}
	return nil
}
