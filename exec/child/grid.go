package child

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// Grid is what a child grid has, as the node that is reached knows it. Only nodes count that take tasks of others, run
// programs of the parent's system and architecture, and are no gateways to other grids.
type Grid struct {
	Node    string // that is reached
	Network string // its name
	Nodes   int
	Cores   float64 // of all
	Memory  int64   // of all, bytes
	Free    float64 // cores that are free now

	// Largest is what one node has at most: a task must fit one node. Both numbers are of the same node, that of the
	// most cores and then of the most memory.
	Largest struct {
		Cores  float64
		Memory int64
	}

	Isolation grid.Isolation // the lowest of them: what each of them keeps
}

// ErrOld reports a node of the child whose version does not know what a parent needs.
var ErrOld = errors.New("the node that is reached is of a version that takes no tasks of other grids: want a newer one")

// ErrShut reports that the node that is reached takes no jobs now: it drains, or its disk is full.
var ErrShut = errors.New("the node of the child grid that is reached takes no jobs now")

// Look asks the node at api what its grid has. labels are os and arch of the parent's node.
func Look(ctx context.Context, api *client.Client, labels map[string]string) (*Grid, error) {
	v, err := api.Version(ctx)
	if err != nil {
		return nil, err
	}
	if v.Network == "" || v.Node == "" {
		return nil, ErrOld
	}
	list, err := api.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	g := &Grid{Node: v.Node, Network: v.Network}
	for i := range list.Nodes {
		if n := &list.Nodes[i]; n.ID == v.Node && (n.State == v1.NodeLeaving || n.Refuses != "") {
			return nil, fmt.Errorf("%w: %s", ErrShut, n.Refuses)
		}
		g.add(&list.Nodes[i], labels)
	}
	return g, nil
}

// mostCores bounds what a node of the child is believed to have, and the child: a node claims no more of its own.
const mostCores = grid.MaxMillis / float64(grid.CPU)

// add counts a node.
func (g *Grid) add(n *v1.Node, labels map[string]string) {
	level, err := grid.ParseIsolation(n.Isolation)
	if err != nil || n.Private && n.State != v1.NodeSelf || n.State != v1.NodeSelf && n.State != v1.NodeConnected ||
		n.Refuses != "" || n.Labels["engine"] == EngineName {
		return
	}
	for key, want := range labels {
		if n.Labels[key] != want {
			return
		}
	}
	cores, memory := min(max(n.Cores, 0), mostCores), min(max(n.Memory, 0), grid.MaxMemory)
	if g.Nodes++; g.Nodes == 1 || level < g.Isolation {
		g.Isolation = level
	}
	g.Cores, g.Memory = min(g.Cores+cores, mostCores), min(g.Memory+memory, grid.MaxMemory)
	g.Free += min(max(n.FreeCores, 0), cores)
	if l := &g.Largest; cores > l.Cores || cores == l.Cores && memory > l.Memory {
		l.Cores, l.Memory = cores, memory
	}
}

// EngineName is the value of the label engine of nodes that stand for a child grid.
const EngineName = "skep"

// fits reports why no node of the child could run a task; nil = one could.
func (g *Grid) fits(n *grid.Needs) error {
	if l := &g.Largest; n.CPU.Cores() > l.Cores || int64(n.Memory) > l.Memory && l.Memory > 0 {
		return refusal("needs %g cpu and %d MiB of memory on one node, and the largest of grid %s has %g and %d MiB",
			n.CPU.Cores(), n.Memory>>20, g.Network, l.Cores, l.Memory>>20)
	}
	return nil
}

// unanswered reports whether an error leaves open what became of a request: the node is away, or does not answer as one
// does. What a node refuses in its own words is definite.
func unanswered(err error) bool {
	var p *v1.Problem
	return err != nil && (!errors.As(err, &p) || p.Status >= 500 || p.Status == http.StatusTooManyRequests)
}

// ifSilent returns an error if it means that nobody answers; what a node answers for another one that does not says
// nothing of its other jobs.
func ifSilent(err error) error {
	if status(err) != 0 {
		return nil
	}
	return err
}

// notSent reports whether an error means that a request has not reached the node.
func notSent(err error) bool {
	var no *client.NoNodeError
	var cert *client.CertificateError
	return errors.As(err, &no) || errors.As(err, &cert)
}

// status is the status of a node's refusal; 0 = it is none.
func status(err error) int {
	var p *v1.Problem
	if errors.As(err, &p) {
		return p.Status
	}
	return 0
}

// Transient reports whether an error of Look is one that another try may not have.
func Transient(err error) bool {
	return !errors.Is(err, ErrOld) && unanswered(err)
}

// checkLoop reports a child that is the parent itself.
func (g *Grid) checkLoop(parent string) error {
	if g.Network == parent {
		return fmt.Errorf("the node at its address is of grid %s, which is this node's own: want a node of another grid",
			g.Network)
	}
	return nil
}
