package testnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"skep/exec/process"
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

// Destroy ends a node at once, and removes its folder and what its tasks have left running: as a machine that burns.
func (t *Net) Destroy(ctx context.Context, n *Node) error {
	if err := t.Kill(ctx, n); err != nil {
		return err
	}
	if t.Kind() == Processes {
		if _, err := process.Reap(filepath.Join(t.Folder(n), "work")); err != nil {
			return fmt.Errorf("node %s: end its tasks: %w", n.Name, err)
		}
	}
	return os.RemoveAll(t.home(n))
}

// copyFile copies a program.
func copyFile(to, from string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}

// tail returns the last lines of a file, for an error.
func tail(name string, lines int) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
