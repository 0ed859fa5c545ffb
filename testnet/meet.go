package testnet

import (
	"context"
	"fmt"
	"time"

	v1 "skep/node/api/v1"
)

// Meet waits until each node that runs is connected to all others that do, or to enough of them.
func (t *Net) Meet(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, meetTime)
	defer stop()
	states, err := t.m.states(ctx)
	if err != nil {
		return err
	}
	up := 0
	for _, s := range states {
		if s == Running {
			up++
		}
	}
	for i := range t.state.Nodes {
		n := &t.state.Nodes[i]
		if states[n.Name] != Running {
			continue
		}
		for want := min(up-1, enough); t.connected(ctx, n) < want; {
			select {
			case <-ctx.Done():
				return fmt.Errorf("node %s does not find the others: %w; see skep testnet logs %s", n.Name, context.Cause(ctx),
					n.Name)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

// connected returns how many others a node is connected to; 0 where it does not answer.
func (t *Net) connected(ctx context.Context, n *Node) (k int) {
	c, err := t.Client(n)
	if err != nil {
		return 0
	}
	defer c.Close()
	l, err := c.Nodes(ctx)
	if err != nil {
		return 0
	}
	for _, p := range l.Nodes {
		if p.State == v1.NodeConnected {
			k++
		}
	}
	return k
}
