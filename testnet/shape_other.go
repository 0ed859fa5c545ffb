//go:build unix && !linux

package testnet

import (
	"context"
	"errors"
)

var errTC = errors.New("the network of a container can be slowed only where its engine's kernel is this machine's " +
	"own: on Linux")

func (d *containers) shape(_ context.Context, _ *Node, s Shape) error {
	if s == (Shape{}) {
		return nil
	}
	return errTC
}

// checkLinks says before anything runs why links cannot be made.
func (d *containers) checkLinks() error {
	if len(d.t.state.Spec.Links) > 0 {
		return errTC
	}
	return nil
}
