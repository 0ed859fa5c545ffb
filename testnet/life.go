package testnet

import (
	"context"
	"fmt"
	"time"
)

// Bounds of a node's end and of the testnet's.
const (
	leaveTime = 15 * time.Second // for a node that was asked to leave
	goneTime  = 10 * time.Second // for one that was killed
	downTime  = 2 * time.Minute
	// deadTime is how long the engine may say that a started node does not run; a busy engine is late to say that it does.
	deadTime = 10 * time.Second
)

// start starts a node and returns when it answers.
func (t *Net) start(ctx context.Context, n *Node) error {
	if err := t.m.start(ctx, n); err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	if err := t.afflict(ctx, n, true); err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	ctx, stop := context.WithTimeout(ctx, readyTime)
	defer stop()
	runs := time.Now() // when the node was last known to run
	for i := 1; ; i++ {
		if t.answers(ctx, n) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("node %s does not answer: %w; its log ends with:\n%s", n.Name, context.Cause(ctx),
				tail(t.Log(n), 5))
		case <-time.After(20 * time.Millisecond):
		}
		if i%25 != 0 {
			continue
		}
		if s, err := t.m.states(ctx); err != nil || s[n.Name] == Running {
			runs = time.Now()
		} else if time.Since(runs) > deadTime {
			return fmt.Errorf("node %s ended before it was ready; its log ends with:\n%s", n.Name, tail(t.Log(n), 5))
		}
	}
}

func (t *Net) answers(ctx context.Context, n *Node) bool {
	c, err := t.Client(n)
	if err != nil {
		return false
	}
	defer c.Close()
	ctx, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	return c.Healthy(ctx) == nil
}

// state returns what a node is doing.
func (t *Net) stateOf(ctx context.Context, n *Node) (State, error) {
	s, err := t.m.states(ctx)
	if err != nil {
		return "", err
	}
	if s[n.Name] == "" {
		return Stopped, nil
	}
	return s[n.Name], nil
}

// Runs says why a node cannot be asked anything, and what helps; nil means that its process runs.
func (t *Net) Runs(ctx context.Context, n *Node) error {
	s, err := t.stateOf(ctx, n)
	switch {
	case err != nil:
		return err
	case s == Paused:
		return fmt.Errorf("node %s is paused: skep testnet resume %s", n.Name, n.Name)
	case s == Stopped:
		return fmt.Errorf("node %s does not run: skep testnet start %s", n.Name, n.Name)
	}
	return nil
}

// gone waits until a node's process has ended.
func (t *Net) gone(ctx context.Context, n *Node, d time.Duration) (bool, error) {
	for end := time.Now().Add(d); ; {
		s, err := t.stateOf(ctx, n)
		if err != nil || s == Stopped {
			return s == Stopped, err
		}
		if time.Now().After(end) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Kill ends a node at once, as a crash of its machine would.
func (t *Net) Kill(ctx context.Context, n *Node) error {
	s, err := t.stateOf(ctx, n)
	if err != nil {
		return err
	}
	if s == Stopped {
		return fmt.Errorf("node %s does not run", n.Name)
	}
	if err := t.m.kill(ctx, n); err != nil {
		return fmt.Errorf("kill node %s: %w", n.Name, err)
	}
	ok, err := t.gone(ctx, n, goneTime)
	if err == nil && !ok {
		err = fmt.Errorf("node %s was killed %v ago and has not ended", n.Name, goneTime)
	}
	return err
}

// PowerOff ends a node as a machine that loses its power: nobody is told, no connection is closed.
func (t *Net) PowerOff(ctx context.Context, n *Node) error {
	s, err := t.stateOf(ctx, n)
	if err != nil {
		return err
	}
	if s != Running {
		return fmt.Errorf("node %s is %s: want one that is %s", n.Name, s, Running)
	}
	if err := t.m.unplug(ctx, n); err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	return t.Kill(ctx, n)
}

// Stop asks a node to leave and returns when it is gone; one that does not go is killed.
func (t *Net) Stop(ctx context.Context, n *Node) error {
	s, err := t.stateOf(ctx, n)
	if err != nil {
		return err
	}
	switch s {
	case Stopped:
		return fmt.Errorf("node %s does not run", n.Name)
	case Paused: // it could not hear
		if err := t.m.pause(ctx, n, false); err != nil {
			return err
		}
	}
	if err := t.m.terminate(ctx, n); err != nil {
		return fmt.Errorf("stop node %s: %w", n.Name, err)
	}
	ok, err := t.gone(ctx, n, leaveTime)
	if err != nil || ok {
		return err
	}
	if err := t.Kill(ctx, n); err != nil {
		return err
	}
	return fmt.Errorf("node %s did not leave within %v and was killed", n.Name, leaveTime)
}

// Start starts a node that does not run, in its old folder.
func (t *Net) Start(ctx context.Context, n *Node) error {
	s, err := t.stateOf(ctx, n)
	if err != nil {
		return err
	}
	if s != Stopped {
		return fmt.Errorf("node %s is %s: want one that does not run", n.Name, s)
	}
	if err := t.start(ctx, n); err != nil {
		return err
	}
	t.greet(ctx, n)
	return nil
}

// greetTime bounds the wait for a node that was started again to find somebody; a cut may keep it from that.
const greetTime = 3 * time.Second

// greet waits a little for a node to be connected to somebody.
func (t *Net) greet(ctx context.Context, n *Node) {
	for end := time.Now().Add(greetTime); len(t.state.Nodes) > 1 && t.connected(ctx, n) == 0 && time.Now().Before(end) &&
		ctx.Err() == nil; {
		time.Sleep(20 * time.Millisecond)
	}
}

// Restart asks a node to leave, if it runs, and starts it again.
func (t *Net) Restart(ctx context.Context, n *Node) error {
	s, err := t.stateOf(ctx, n)
	if err != nil {
		return err
	}
	if s != Stopped {
		if err := t.Stop(ctx, n); err != nil {
			return err
		}
	}
	return t.Start(ctx, n)
}

// Pause stops a node's process where it stands: its connections stay open and nothing answers.
func (t *Net) Pause(ctx context.Context, n *Node) error { return t.pause(ctx, n, Running, true) }

// Resume lets a paused node go on.
func (t *Net) Resume(ctx context.Context, n *Node) error { return t.pause(ctx, n, Paused, false) }

func (t *Net) pause(ctx context.Context, n *Node, from State, on bool) error {
	s, err := t.stateOf(ctx, n)
	if err != nil {
		return err
	}
	if s != from {
		return fmt.Errorf("node %s is %s: want one that is %s", n.Name, s, from)
	}
	if err := t.m.pause(ctx, n, on); err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	// all its threads
	for end := time.Now().Add(goneTime); s == from && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if s, err = t.stateOf(ctx, n); err != nil {
			return err
		}
	}
	if on {
		return nil
	}
	return t.afflict(ctx, n, false)
}
