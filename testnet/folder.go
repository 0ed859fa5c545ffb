package testnet

import (
	"context"
	"errors"
	"os"
)

// Down ends all nodes and removes everything that belongs to the testnet. It may be called for whatever an
// interrupted Up left behind.
func (t *Net) Down(ctx context.Context) error {
	if err := t.m.clear(ctx); err != nil {
		return err // the folder stays, so that Down can be called again
	}
	return os.RemoveAll(t.dir)
}

// Remove ends the testnet in a folder and whatever of that name an interrupted Up left behind, also where the folder
// itself is gone. ErrNone: nothing was there.
func Remove(ctx context.Context, dir, name string) error {
	t, err := Open(dir)
	if err == nil {
		return t.Down(ctx)
	}
	if !errors.Is(err, ErrNone) && !errors.Is(err, errUnread) {
		return err
	}
	_, serr := os.Stat(dir)
	left := serr == nil
	for _, kind := range []string{Processes, Containers} { // it broke off before its kind was written down
		if kind == Containers && Engine(ctx) != nil {
			continue
		}
		t := &Net{dir: dir, state: state{Name: name, Kind: kind}}
		if err := t.engine(); err != nil {
			return err
		}
		states, err := t.m.states(ctx)
		if err != nil {
			return err
		}
		left = left || len(states) > 0
		if err := t.m.clear(ctx); err != nil {
			return err
		}
	}
	if !left {
		return err
	}
	return os.RemoveAll(dir)
}
