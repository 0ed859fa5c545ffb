package p2p

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/wire"
)

// Config is what a driver is told. The zero value of each field is its default.
type Config struct {
	// DataDir is the folder of the node: identity, secret, records, blobs, work. Made when absent.
	DataDir string

	// Listen are the TCP multiaddresses to listen on. Default: any port of all interfaces. A fixed port lets
	// others find the node again after a restart even if they were away too.
	Listen []string

	// Announce are TCP multiaddresses at which others can dial the node besides those of its interfaces: of a router that
	// hands on a port, of a machine in a cloud. Default: what the members that are connected find out.
	Announce []string

	// Join are join tokens, all of one network. Their addresses are dialled for ever. None: the folder's own
	// network, a new one for a new folder.
	Join []string

	// Name is what people call the node. Default: the host's name.
	Name string

	// Labels are what tasks may ask for, besides os, arch, isolation and hostname, which the driver sets; only the last
	// can be overridden.
	Labels []grid.Label

	// CPUs and Memory are what tasks may take. Default: all cores, and three quarters of the memory.
	CPUs   grid.MilliCPU
	Memory grid.Bytes

	// Members is how many nodes keep the record of a job submitted here: 1, 3 or 5. Default: the node's.
	Members int

	// Copies bounds in bytes the inputs of a job, and what one task leaves, that the other members copy; Lend what this node keeps
	// of such files for the jobs of others, and that is at most half of CacheSize. See node.Config. Default: the node's.
	Copies, Lend grid.Bytes

	// Strikes is on how many different nodes a task submitted here may fail until it ends, 0 = its retries alone bound it; see
	// node.Config. nil = the node's.
	Strikes *int

	// Policy places tasks. Default: the node's.
	Policy string

	// Bounds are how long tasks of classes may run here; see node.Bound. Default: the node's.
	Bounds []node.Bound

	// Rule spreads ads; see gossip.Rules. Default: the node's.
	Rule string

	// Forward is how searches go from node to node, Walkers how many walks one sends at once, and Reverse lets the nodes
	// that one came by learn from it; see discovery.Config. Default: the node's.
	Forward string
	Walkers int
	Reverse bool

	// MDNS looks for nodes of the same network on the local network.
	MDNS bool

	// CacheSize bounds the blobs on disk in bytes, those that jobs need included: what finds no place beside these is not taken.
	// Default 10 GiB. Less means more fetching, and less that jobs may leave; more means less free disk.
	CacheSize grid.Bytes

	// MaxOutput bounds each of stdout and stderr of a task in bytes. Default 64 MiB; the rest is dropped and counted.
	MaxOutput grid.Bytes

	// MaxCollect bounds the collected output files of one task together in bytes. Default 4 GiB.
	MaxCollect grid.Bytes

	// DiskLow is the free space in bytes below which the node takes no tasks; at half of it, 512 MiB at most, the task with
	// the most files is ended. Default 256 MiB. Less lets tasks that write fast fill the disk before that is seen.
	DiskLow grid.Bytes

	// Allow, if not empty, are the only nodes to talk to.
	Allow []grid.NodeID

	// Share is the part of the time, more than 0 to 1, that tasks of a class may run; "*" stands for every
	// class that is not named. Default 1. For machines of different fitness on one machine: tests and
	// demonstrations.
	Share map[string]float64

	// Boxes says how tasks are kept from the machine and from each other.
	Boxes Boxes

	// Version is this build's, told to peers and set as label skep.version. May be empty.
	Version string

	// Logger takes what an operator should know. Default: nowhere.
	Logger *slog.Logger

	// Fatal is called once when the node cannot go on: records could not be saved, and nothing may follow that. Default: say
	// so on stderr and exit with 125.
	Fatal func(error)

	// Tap sees every event before its step, on the loop's goroutine; for recording. The event is dead after.
	Tap func(now grid.Time, ev *grid.Event)

	// Recorder, if not nil, is told all that decides what the node does, and what it does.
	Recorder Recorder

	// Node holds the pure node's other settings; the zero value is node.Defaults(). What the driver knows
	// (Self, Boot, Capacity, …) it fills in, and the calibrated Speed where that is 0.
	Node node.Config

	newNode func(node.Config, grid.Wall) (stepper, error) // of tests
}

// stepper is the pure node, as far as the loop is concerned.
type stepper interface {
	Restore(*grid.Record)
	Step(grid.Time, *grid.Event, *grid.Effects)
}

// defaults fills in and checks c, and returns what the tokens say: the secret and the addresses.
func (c *Config) defaults() (secret *[32]byte, addrs []string, err error) {
	if c.DataDir == "" {
		return nil, nil, errors.New("data folder: is empty: want the path of a folder")
	}
	if len(c.Listen) == 0 {
		c.Listen = []string{"/ip4/0.0.0.0/tcp/0", "/ip6/::/tcp/0"}
	}
	setDefault(&c.CacheSize, 10*grid.GiB)
	setDefault(&c.MaxOutput, 64*grid.MiB)
	setDefault(&c.MaxCollect, 4*grid.GiB)
	setDefault(&c.DiskLow, 256*grid.MiB)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Fatal == nil {
		c.Fatal = func(err error) {
			fmt.Fprintln(os.Stderr, "skep: cannot go on:", err)
			os.Exit(grid.ExitSkep)
		}
	}
	if c.newNode == nil {
		c.newNode = func(nc node.Config, w grid.Wall) (stepper, error) { return node.New(nc, w) }
	}
	if c.Node.Window == 0 {
		seed, speed := c.Node.Seed, c.Node.Speed
		c.Node = node.Defaults()
		c.Node.Seed, c.Node.Speed = seed, speed
	}
	if err := c.Boxes.defaults(); err != nil {
		return nil, nil, err
	}
	for class, share := range c.Share {
		if !(share > 0 && share <= 1) {
			return nil, nil, fmt.Errorf("share %g of class %q: want more than 0 and at most 1", share, class)
		}
	}
	return c.tokens()
}

func (c *Config) tokens() (secret *[32]byte, addrs []string, err error) {
	for _, text := range c.Join {
		t, err := wire.ParseToken(text)
		if err != nil {
			return nil, nil, err
		}
		if secret != nil && *secret != t.Secret {
			return nil, nil, fmt.Errorf("the tokens are of networks %s and %s: want tokens of one network",
				networkName(*secret), networkName(t.Secret))
		}
		secret = &t.Secret
		addrs = append(addrs, t.Addrs...)
	}
	return secret, addrs, nil
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// labels returns the node's labels, ordered by key: the driver's own and the operator's.
func (c *Config) labels(fixed []grid.Label) ([]grid.Label, error) {
	labels := slices.Clone(fixed)
	for _, l := range c.Labels {
		if l.Key == "" || len(l.Key) > grid.MaxLabel || len(l.Value) > grid.MaxLabel || strings.ContainsAny(l.Key, "=, ") ||
			!grid.Printable(l.Key+l.Value) {
			return nil, fmt.Errorf("label %q=%q: want a key without '=', ',' and spaces, and at most %d bytes of printable text each",
				l.Key, l.Value, grid.MaxLabel)
		}
		i := slices.IndexFunc(labels, func(o grid.Label) bool { return o.Key == l.Key })
		switch {
		case i >= 0 && isFixed(l.Key):
			return nil, fmt.Errorf("label %s=%s: %s is what the machine is (%s) and cannot be set", l.Key, l.Value, l.Key, labels[i].Value)
		case i >= 0:
			labels[i] = l
		default:
			labels = append(labels, l)
		}
	}
	if len(labels) > grid.MaxLabels {
		return nil, fmt.Errorf("%d labels: want at most %d", len(labels), grid.MaxLabels)
	}
	slices.SortFunc(labels, func(a, b grid.Label) int { return strings.Compare(a.Key, b.Key) })
	return labels, nil
}

// cpuShare returns the part of the time that tasks of a class may run; 0 is all of it.
func (c *Config) cpuShare(class string) float64 {
	if s, ok := c.Share[class]; ok {
		return s
	}
	return c.Share["*"]
}

// strikes is what was set, or else the node's.
func (c *Config) strikes() int {
	if c.Strikes != nil {
		return *c.Strikes
	}
	return c.Node.Strikes
}
