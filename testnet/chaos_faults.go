package testnet

import (
	"context"
	"fmt"
	"time"
)

// death is a node's end: what ran there has to run elsewhere.
type death struct {
	node   string // its ID
	name   string
	at     float64 // uptime
	silent bool
}

// harm is a time in which a node could not do its part, in uptimes; until 0: it has not ended.
type harm struct {
	node        string // its name
	from, until float64
}

// afflictAll does what the schedule says and returns when all of it is over.
func (x *chaos) afflictAll(ctx context.Context) {
	began := time.Now()
	for _, f := range x.faults {
		if pause(ctx, f.At-time.Since(began)) != nil {
			return
		}
		x.note("%s", f)
		x.hurting.Go(func() {
			if err := x.inflict(ctx, f); err != nil && ctx.Err() == nil {
				x.trouble("%s: %v", f, err)
			}
		})
	}
	_ = pause(ctx, x.c.Duration-time.Since(began))
	x.hurting.Wait()
}

// inflict does one fault from its beginning to its end.
func (x *chaos) inflict(ctx context.Context, f Fault) error {
	switch f.Kind {
	case FaultRolling:
		for _, name := range f.Nodes {
			if err := x.restart(ctx, name); err != nil {
				return fmt.Errorf("node %s: %w", name, err)
			}
		}
		return nil
	case FaultCut:
		return x.cut(ctx, f)
	}
	n, err := x.t.Node(f.Nodes[0])
	if err != nil {
		return err
	}
	switch f.Kind {
	case FaultRestart:
		return x.restart(ctx, n.Name)
	case FaultJoin:
		return x.join(ctx, n)
	case FaultPause:
		defer x.harmed(n.Name)()
		if err := x.t.Pause(ctx, n); err != nil {
			return err
		}
		_ = pause(ctx, f.For)
		return x.t.Resume(ctx, n)
	}
	return x.kill(ctx, n, f)
}

// kill ends a node at once and starts it again after a while.
func (x *chaos) kill(ctx context.Context, n *Node, f Fault) error {
	x.farewell(ctx, n)
	over := x.harmed(n.Name)
	if f.For == 0 {
		x.mu.Lock()
		x.gone[n.Name] = true
		x.mu.Unlock()
	}
	silent := f.Kind == FaultSilent
	x.died(death{n.ID, n.Name, uptime(), silent})
	end := x.t.Kill
	if silent {
		end = x.t.PowerOff
	} else if x.c.Deaths > 0 {
		end = x.t.Destroy
	}
	if err := end(ctx, n); err != nil {
		return err
	}
	if f.For == 0 {
		return nil
	}
	defer over()
	_ = pause(ctx, f.For)
	return x.t.Start(ctx, n)
}

// restart asks a node to leave and starts it again.
func (x *chaos) restart(ctx context.Context, name string) error {
	n, err := x.t.Node(name)
	if err != nil || x.isGone(name) {
		return err
	}
	x.farewell(ctx, n)
	defer x.harmed(name)()
	if s, err := x.t.stateOf(ctx, n); err != nil || s == Stopped {
		return err // it is being started by another fault
	}
	return x.t.Restart(ctx, n)
}

func (x *chaos) cut(ctx context.Context, f Fault) error {
	rest := x.others(f.Nodes)
	for _, name := range f.Nodes {
		defer x.harmed(name)()
	}
	if err := x.t.Cut(ctx, [][]string{f.Nodes, rest}); err != nil {
		return err
	}
	_ = pause(ctx, f.For)
	return x.t.part(ctx, nil)
}

// recover ends all faults: what is dead is started, but for what shall stay so.
func (x *chaos) recover(ctx context.Context) error {
	if err := x.t.Heal(ctx); err != nil {
		return err
	}
	return x.t.each(func(n *Node) error {
		s, err := x.t.stateOf(ctx, n)
		if err != nil || s != Stopped || x.isGone(n.Name) {
			return err
		}
		return x.t.Start(ctx, n)
	})
}

// harmed notes that a node is being hurt; the answer is to be called when that is over.
func (x *chaos) harmed(name string) func() {
	x.mu.Lock()
	defer x.mu.Unlock()
	h := &harm{node: name, from: uptime()}
	x.harms = append(x.harms, h)
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		h.until = uptime()
	}
}

func (x *chaos) died(d death) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.deaths = append(x.deaths, d)
}

func (x *chaos) isGone(name string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.gone[name]
}

func (x *chaos) trouble(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.troubles = append(x.troubles, fmt.Sprintf(format, args...))
}
