package testnet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goccy/go-yaml"
	"golang.org/x/sync/errgroup"

	"skep/node/p2p"
)

// Options are what Up is told.
type Options struct {
	Name string
	Spec Spec

	// Kind is Containers or Processes.
	Kind string

	// Why is said behind the kind to whom Note tells what goes on: why it is no other one. It may be empty.
	Why string

	// Binary is the program that nodes run. Image, if not empty, is an image that has it as /bin/skep.
	Binary, Image string

	// Later is how many of the nodes, the last ones, are not started; Start does.
	Later int

	// Settings are further settings of every node, as in its config.yaml.
	Settings map[string]string

	// Note is told what goes on. It may be nil.
	Note func(format string, args ...any)
}

// Bounds of waiting for nodes.
const (
	readyTime = 60 * time.Second // to answer
	meetTime  = 60 * time.Second // to know each other
	startAt   = 4                // nodes that start at a time
)

// enough is how many connections make a node a part of the grid.
const enough = 4

// Up makes a testnet in a folder that does not exist, and returns when its nodes know each other. What has begun is
// removed again when it fails or ctx ends; then the error is ctx's cause, joined by what could not be removed.
func Up(ctx context.Context, dir string, o Options) (t *Net, err error) {
	if err := o.Spec.check(); err != nil {
		return nil, err
	}
	if o.Note == nil {
		o.Note = func(string, ...any) {}
	}
	t = &Net{dir: dir, state: state{Name: o.Name, Kind: o.Kind, Spec: o.Spec, Image: o.Image, Nodes: o.Spec.nodes()}}
	if err := t.engine(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("testnet %s is there already (%s): remove it with: skep testnet down --net %s", o.Name, dir,
			o.Name)
	} else if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			undo, stop := context.WithTimeout(context.WithoutCancel(ctx), downTime)
			defer stop()
			if ctx.Err() != nil {
				err = context.Cause(ctx) // what was going on then does not matter
			}
			if down := t.Down(undo); down != nil {
				err = errors.Join(err, down)
			}
		}
	}()
	return t, t.up(ctx, o)
}

func (t *Net) up(ctx context.Context, o Options) error {
	if err := t.save(); err != nil { // before anything runs, so that Down knows of it
		return err
	}
	if err := copyFile(t.binary(), o.Binary); err != nil { // the original may be built anew while nodes run
		return err
	}
	if err := t.m.prepare(ctx); err != nil {
		return err
	}
	if err := t.findLevel(ctx); err != nil {
		return err
	}
	if err := t.found(o.Settings); err != nil {
		return err
	}
	if err := t.letPass(); err != nil {
		return err
	}
	if err := t.save(); err != nil {
		return err
	}
	o.Note("starting %d nodes as %s%s, %s", len(t.state.Nodes)-o.Later, t.Kind(), o.Why, t.state.Isolation.said())
	first := len(t.state.Nodes) - o.Later
	if err := t.eachOf(t.state.Nodes[:first], func(n *Node) error { return t.start(ctx, n) }); err != nil {
		return err
	}
	o.Note("waiting until they know each other")
	if err := t.Meet(ctx); err != nil {
		return err
	}
	t.state.Ready = true
	return t.save()
}

func (t *Net) binary() string { return filepath.Join(t.dir, "skep") }

// nodes returns the nodes of a spec.
func (s *Spec) nodes() (nodes []Node) {
	for _, g := range s.Groups {
		for _, name := range g.names() {
			n := Node{Name: name, Group: g.Name, CPUs: g.CPUs, Memory: g.Memory, Labels: g.Labels, MaxCPUs: g.CPUs}
			if n.CPUs == 0 {
				n.CPUs = DefaultCPUs
			}
			if n.Memory == 0 {
				n.Memory = DefaultMemory
			} else {
				n.MaxMemory = n.Memory + NodeMemory
			}
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// found makes the network: the nodes' identities, its secret, and what each node is told.
func (t *Net) found(settings map[string]string) error {
	var secret [32]byte
	rand.Read(secret[:])
	var members []p2p.Member
	for i := range t.state.Nodes {
		n := &t.state.Nodes[i]
		id, err := p2p.Prepare(t.Folder(n), secret)
		if err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
		n.ID = id.String()
		members = append(members, p2p.Member{Node: id, Addr: n.addr()})
	}
	token, err := p2p.Invite(secret, members...)
	if err != nil {
		return err
	}
	t.state.Token = token
	for i := range t.state.Nodes {
		if err := t.tell(&t.state.Nodes[i], settings); err != nil {
			return err
		}
	}
	return nil
}

// tell writes a node's settings into its data folder.
func (t *Net) tell(n *Node, settings map[string]string) error {
	listen := n.addr()
	if t.Kind() == Containers {
		listen = fmt.Sprintf("/ip4/0.0.0.0/tcp/%d", n.Port)
	}
	all := yaml.MapSlice{
		{Key: "name", Value: n.Name}, {Key: "join", Value: t.state.Token}, {Key: "listen", Value: listen},
		{Key: "mdns", Value: false},
		{Key: "cpus", Value: n.CPUs}, {Key: "memory", Value: fmt.Sprint(n.Memory)}, {Key: "label", Value: n.labels(t.Name())},
	}
	more := t.boxed()
	for k, v := range settings {
		more[k] = v
	}
	for _, k := range slices.Sorted(maps.Keys(more)) {
		all = append(all, yaml.MapItem{Key: k, Value: more[k]})
	}
	b, err := yaml.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.Folder(n), "config.yaml"), b, 0o600)
}

func (n *Node) labels(net string) map[string]string {
	m := map[string]string{"testnet": net, "group": n.Group}
	for k, v := range n.Labels {
		m[k] = v
	}
	return m
}

// each does something with all nodes, a few at a time.
func (t *Net) each(f func(*Node) error) error { return t.eachOf(t.state.Nodes, f) }

func (t *Net) eachOf(nodes []Node, f func(*Node) error) error {
	var g errgroup.Group
	g.SetLimit(startAt)
	for i := range nodes {
		g.Go(func() error { return f(&nodes[i]) })
	}
	return g.Wait()
}
