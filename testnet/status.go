package testnet

import (
	"context"
	"slices"
	"sync"
	"time"

	v1 "skep/node/api/v1"
)

// Status is what a testnet is doing.
type Status struct {
	Name  string       `json:"name"`
	Kind  string       `json:"kind"`
	Ready bool         `json:"ready"`
	Level string       `json:"isolation,omitempty"` // of tasks
	Nodes []NodeStatus `json:"nodes"`
	Cut   [][]string   `json:"cut,omitempty"`
}

// NodeStatus is what a node is doing. All but the first four are as it says itself, and absent where it does not
// answer.
type NodeStatus struct {
	Name    string  `json:"name"`
	ID      string  `json:"id"`
	State   State   `json:"state"`
	Folder  string  `json:"data_dir"`
	Answers bool    `json:"answers"`
	Peers   int     `json:"peers"`       // connected
	Known   int     `json:"nodes_known"` // others in its view
	Running int     `json:"tasks_running"`
	Queued  int     `json:"tasks_queued"`
	Pending int     `json:"tasks_pending"` // of its own jobs, that look for a node
	Jobs    int     `json:"jobs"`
	ViewAge float64 `json:"view_age_seconds"` // median age of its news of others
	Slow    *Shape  `json:"slow,omitempty"`
}

// askTime bounds asking a node.
const askTime = 2 * time.Second

// Status asks every node.
func (t *Net) Status(ctx context.Context) (*Status, error) {
	states, err := t.m.states(ctx)
	if err != nil {
		return nil, err
	}
	s := &Status{Name: t.Name(), Kind: t.Kind(), Ready: t.state.Ready, Level: t.Isolation(), Cut: t.state.Cut,
		Nodes: make([]NodeStatus, len(t.state.Nodes))}
	var all sync.WaitGroup
	for i := range t.state.Nodes {
		n, st := &t.state.Nodes[i], &s.Nodes[i]
		*st = NodeStatus{Name: n.Name, ID: n.ID, State: states[n.Name], Folder: t.Folder(n)}
		if st.State == "" {
			st.State = Stopped
		}
		if shape := t.shapeOf(n); shape != (Shape{}) {
			st.Slow = &shape
		}
		if st.State == Running {
			all.Go(func() { t.ask(ctx, n, st) })
		}
	}
	all.Wait()
	return s, nil
}

// ask fills in what a node says.
func (t *Net) ask(ctx context.Context, n *Node, st *NodeStatus) {
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	c, err := t.Client(n)
	if err != nil {
		return
	}
	defer c.Close()
	stats, err := c.Stats(ctx)
	if err != nil {
		return
	}
	l, err := c.Nodes(ctx)
	if err != nil {
		return
	}
	st.Answers, st.Running, st.Queued, st.Pending, st.Jobs = true, stats.Running, stats.Queued, stats.Pending, stats.Jobs
	var ages []float64
	for _, p := range l.Nodes {
		if p.State == v1.NodeConnected {
			st.Peers++
		}
		if p.State != v1.NodeSelf {
			ages = append(ages, p.Age)
		}
	}
	st.Known = len(ages)
	if len(ages) > 0 {
		slices.Sort(ages)
		st.ViewAge = ages[len(ages)/2]
	}
}
