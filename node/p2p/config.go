package p2p

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/exec/units"
	"skep/grid"
	"skep/node"
	"skep/node/p2p/runner"
	"skep/node/p2p/wire"
)

// Config holds a driver's settings. The zero value of each field is its default.
type Config struct {
	// DataDir is the node's data folder: identity, secret, records, blobs, work folders. It is created if it does
	// not exist.
	DataDir string

	// Listen holds the TCP multiaddresses to listen on. Default: any port of all interfaces. Instead of any port it is
	// that of the last run if it is free: others find the node again after a restart even if they were down too.
	Listen []string

	// Announce holds TCP multiaddresses, besides those of the interfaces, at which others can dial the node: of a
	// router that forwards a port, of a machine in a cloud. Default: what connected members find out.
	Announce []string

	// Join holds join tokens, all of one network. Their addresses are dialled for ever. Empty: the network of the
	// data folder, a new one for a new folder.
	Join []string

	// Name is the node's display name. Default: the host's name.
	Name string

	// Labels can be required by tasks. The driver adds os, arch, isolation and hostname; only hostname can be
	// overridden.
	Labels []grid.Label

	// CPUs and Memory bound what tasks may take. Default: all cores, and three quarters of the memory.
	CPUs   grid.MilliCPU
	Memory grid.Bytes

	Counted

	// MDNS searches for nodes of the same network on the local network.
	MDNS bool

	Space

	Trust

	// Share is the part of the time, more than 0 to 1, that tasks of a class may run; "*" stands for every class
	// not named. Default 1. It makes machines of different fitness on one machine, for tests and demonstrations.
	Share map[string]float64

	// Boxes says how tasks are isolated from the machine and from each other.
	Boxes runner.Boxes

	// Version is the version of this build, told to peers and set as label skep.version. May be empty.
	Version string

	// Logger takes messages for the operator. Default: discarded.
	Logger *slog.Logger

	// Fatal is called once when the node cannot go on: records could not be saved, so no effect may follow.
	// Default: report on stderr and exit with 125.
	Fatal func(error)

	// Recorder, if not nil, records all inputs that decide what the node does, and its effects.
	Recorder Recorder

	// Node holds the pure node's settings; the zero value is node.Defaults(). The driver fills in what it knows
	// (Self, Boot, Capacity, …), and the calibrated Speed where that is 0. Its DepositQuota is at most half of CacheSize.
	Node node.Config

	forTests
}

// Trust is who is talked to, and what is believed.
type Trust struct {
	// Allow, if not empty, lists the only nodes to talk to.
	Allow []grid.NodeID

	// RootKey is the root key of the network: the node founds a network with certificates, if its data folder is in none
	// yet, and is an issuer of it. Default: the node is what it was.
	RootKey ed25519.PrivateKey

	ticket *wire.Ticket // of Join

	// Sign says of which jobs submitted here the ends are signed. Default SignAuto.
	Sign Signing
}

// forTests is what tests replace; nil: as for every node.
type forTests struct {
	newNode func(node.Config, grid.Wall) (stepper, error)
	control protocol.ID      // of control streams, in tests; "" = this version's
	age     func() grid.Time // clock by which this process and a copy compare their ages
	life    time.Duration    // of certificates that the node gives
}

// Space bounds what is on disk. The zero value of each field is its default.
type Space struct {
	// CacheSize bounds the blobs on disk in bytes, including those that jobs need; what does not fit beside these
	// is refused. Default 10 GiB. Less means more fetching and less room for the outputs of jobs; more means less
	// free disk.
	CacheSize grid.Bytes

	// MaxOutput bounds each of stdout and stderr of a task in bytes. Default 64 MiB; the rest is dropped and
	// counted.
	MaxOutput grid.Bytes

	// MaxCollect bounds the sum of the collected output files of one task in bytes. Default 4 GiB.
	MaxCollect grid.Bytes

	// DiskLow is the free disk space in bytes below which the node takes no tasks; below half of it, at most 512
	// MiB, the task with the largest folder is ended. Default 256 MiB. With less, tasks that write fast fill the
	// disk before it is noticed.
	DiskLow grid.Bytes
}

// Counted says which counted resources the node has. The zero value is its default.
type Counted struct {
	// Resources declares units by kind, 0 to grid.MaxUnits of each, of at most grid.MaxKinds kinds. What it says of a
	// kind that the machine is found to have takes the place of that, and may not be more. Default: what is found.
	Resources map[string]int64

	// Find finds the resources of the machine. Default: units.Find("/").
	Find func() []units.Kind

	kinds  []units.Kind
	counts grid.Counts
}

// resolve finds out what the node has.
func (c *Counted) resolve() (err error) {
	find := c.Find
	if find == nil {
		find = func() []units.Kind { return units.Find("/") }
	}
	if c.kinds, c.counts, err = units.Resolve(find(), c.Resources); err != nil {
		return fmt.Errorf("resource %w", err)
	}
	return nil
}

// stepper is the part of the pure node that the loop uses.
type stepper interface {
	Restore(*grid.Record)
	Step(grid.Time, *grid.Event, *grid.Effects)
}

// defaults sets the defaults, checks c, and returns the secret and the addresses of the tokens.
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
	if setDefault(&c.Sign, SignAuto); c.Sign.Check() != nil {
		return nil, nil, c.Sign.Check()
	}
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
	if !c.Boxes.Engine.Elsewhere() { // else the units of this machine are none of its tasks'
		if err := c.resolve(); err != nil {
			return nil, nil, err
		}
	}
	capacity, err := c.capacityFound()
	if err != nil {
		return nil, nil, err
	}
	c.CPUs, c.Memory = capacity.CPU, capacity.Memory
	if err := c.Boxes.Defaults(); err != nil {
		return nil, nil, err
	}
	for class, share := range c.Share {
		if !(share > 0 && share <= 1) {
			return nil, nil, fmt.Errorf("share %g of class %q: want more than 0 and at most 1", share, class)
		}
	}
	return c.tokens()
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// capacity returns what tasks may take.
func (c *Config) capacity() grid.Resources {
	return grid.Resources{CPU: c.CPUs, Memory: c.Memory, Counts: c.counts}
}

// name returns the node's name, by default the machine's.
func (c *Config) name() string {
	name := c.Name
	if name == "" {
		name, _ = os.Hostname()
	}
	return grid.Clean(name, grid.MaxName)
}
