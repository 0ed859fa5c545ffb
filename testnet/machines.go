package testnet

import (
	"context"
	"fmt"
)

// State is what a node's process is doing.
type State string

// States of a node's process.
const (
	Running State = "running"
	Paused  State = "paused"
	Stopped State = "stopped" // there is none
)

// machines run nodes, one way or another.
type machines interface {
	// prepare makes what all nodes need and fills in where each will be reached.
	prepare(ctx context.Context) error

	// level returns what `skep isolation --output json` prints where nodes run. It is called after prepare.
	level(ctx context.Context) ([]byte, error)

	// start starts a node that does not run and returns when its process is there.
	start(ctx context.Context, n *Node) error

	// states returns what each node is doing, by its name; those that never ran may be absent.
	states(ctx context.Context) (map[string]State, error)

	// kill ends a node at once, as a crash would; terminate asks it to leave. Both return before it is gone.
	kill(ctx context.Context, n *Node) error
	terminate(ctx context.Context, n *Node) error

	// pause stops a node's process where it stands, or lets it go on.
	pause(ctx context.Context, n *Node, on bool) error

	// block makes a running node deaf and mute to others, and to nobody else.
	block(ctx context.Context, n *Node, others []*Node) error

	// unplug takes a running node off the network, so that its end shows as nothing but silence. It lasts until the
	// node is started again.
	unplug(ctx context.Context, n *Node) error

	// shape makes the network slow for what a running node sends; the zero shape ends that.
	shape(ctx context.Context, n *Node, s Shape) error

	// clear removes whatever runs, also what nobody remembers.
	clear(ctx context.Context) error
}

// engine chooses the machines of the testnet's kind.
func (t *Net) engine() (err error) {
	switch t.state.Kind {
	case Containers:
		t.m, err = newContainers(t)
	case Processes:
		t.m = &processes{t}
	default:
		err = fmt.Errorf("testnet: kind %.40q: want %s or %s", t.state.Kind, Containers, Processes)
	}
	return err
}
