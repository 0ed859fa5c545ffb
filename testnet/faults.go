package testnet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Cut parts the network: nodes of different sides no longer hear each other. Nodes that are on no side hear all. An
// earlier cut is healed. Nodes that start later are cut off as soon as they run.
func (t *Net) Cut(ctx context.Context, sides [][]string) error {
	var seen []string
	for _, side := range sides {
		for _, name := range side {
			if _, err := t.Node(name); err != nil {
				return err
			}
			if slices.Contains(seen, name) {
				return fmt.Errorf("node %s stands twice in the cut", name)
			}
			seen = append(seen, name)
		}
	}
	if len(sides) < 2 || slices.ContainsFunc(sides, func(s []string) bool { return len(s) == 0 }) {
		return errors.New("a cut needs two sides with a node each, as in: n1 n2 '|' n3 n4")
	}
	if t.Kind() == Processes {
		return errLoopback
	}
	return t.part(ctx, sides)
}

// part makes the sides those of the cut; none heals it.
func (t *Net) part(ctx context.Context, sides [][]string) error {
	t.mu.Lock()
	t.state.Cut = sides
	err := t.save()
	t.mu.Unlock()
	if err != nil {
		return err
	}
	return t.running(ctx, func(n *Node) error { return t.m.block(ctx, n, t.across(n)) })
}

// across returns the nodes that a node cannot hear.
func (t *Net) across(n *Node) (others []*Node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.state.Cut, func(side []string) bool { return slices.Contains(side, n.Name) })
	if i < 0 {
		return nil
	}
	for j, side := range t.state.Cut {
		for _, name := range side {
			if o, err := t.Node(name); err == nil && j != i {
				others = append(others, o)
			}
		}
	}
	return others
}

// Slow gives a node a slow network; the zero shape gives it back what its group has.
func (t *Net) Slow(ctx context.Context, n *Node, s Shape) error {
	for _, p := range s.Check() {
		return errors.New(p.What)
	}
	if t.state.Slowed == nil {
		t.state.Slowed = map[string]Shape{}
	}
	if t.Kind() == Processes {
		return errLoopback
	}
	old := maps.Clone(t.state.Slowed)
	t.state.Slowed[n.Name] = s
	if s == (Shape{}) {
		delete(t.state.Slowed, n.Name)
	}
	state, err := t.stateOf(ctx, n)
	switch {
	case err == nil && state == Running:
		err = t.m.shape(ctx, n, t.shapeOf(n))
	case err == nil && state == Paused:
		err = errors.New("is paused: want one that runs")
	}
	if err != nil {
		t.state.Slowed = old
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	return t.save()
}

// shapeOf returns what the network does to what a node sends.
func (t *Net) shapeOf(n *Node) Shape {
	if s, ok := t.state.Slowed[n.Name]; ok {
		return s
	}
	for _, l := range t.state.Spec.Links {
		if l.Of == n.Group {
			return l.Shape
		}
	}
	return Shape{}
}

// Heal ends cuts and slowness and lets paused nodes go on. Nodes that do not run stay so.
func (t *Net) Heal(ctx context.Context) error {
	states, err := t.m.states(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i := range t.state.Nodes {
		n := &t.state.Nodes[i]
		if states[n.Name] == Paused {
			errs = append(errs, t.Resume(ctx, n))
		}
		if _, ok := t.state.Slowed[n.Name]; ok {
			errs = append(errs, t.Slow(ctx, n, Shape{}))
		}
	}
	if len(t.state.Cut) > 0 {
		errs = append(errs, t.part(ctx, nil))
	}
	return errors.Join(errs...)
}

// afflict gives a node that has just started, or was paused until now, what it has to suffer.
func (t *Net) afflict(ctx context.Context, n *Node, started bool) error {
	if others := t.across(n); len(others) > 0 || !started && t.Kind() == Containers {
		if err := t.m.block(ctx, n, others); err != nil {
			return err
		}
	}
	if s := t.shapeOf(n); s != (Shape{}) {
		return t.m.shape(ctx, n, s)
	}
	return nil
}

// running does something with every node that runs, one after the other. To a paused one it happens when that goes on.
func (t *Net) running(ctx context.Context, f func(*Node) error) error {
	states, err := t.m.states(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i := range t.state.Nodes {
		n := &t.state.Nodes[i]
		if states[n.Name] == Running {
			if err := t.insist(ctx, n, f); err != nil {
				errs = append(errs, fmt.Errorf("node %s: %w", n.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// insist does something with a node that runs, or has just ended or started anew while it was about to.
func (t *Net) insist(ctx context.Context, n *Node, f func(*Node) error) (err error) {
	for range 3 {
		if err = f(n); err == nil {
			return nil
		}
		if s, serr := t.stateOf(ctx, n); serr == nil && s != Running {
			return nil // it was paused or ended meanwhile; when it goes on it suffers what there is then
		}
		if pause(ctx, 200*time.Millisecond) != nil {
			return err
		}
	}
	return err
}
