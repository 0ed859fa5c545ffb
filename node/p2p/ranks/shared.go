package ranks

import (
	"errors"
	"fmt"
	"log/slog"

	"skep/exec/network"
	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
	"skep/node/p2p/mesh"
	"skep/node/p2p/ports"
)

// Shared is what ranks of an attempt on this node share.
type Shared struct {
	Pod   *sandbox.Pod
	As    process.Account // that their folders are prepared for
	Hosts []byte          // their /etc/hosts
	Env   []string        // the variables by which ranks find each other, NAME=VALUE

	rest     func(rests bool) // says whether all ranks here have run; does not block
	leave    func()           // ends the network
	giveBack func(left bool)  // after leave; left: processes or files of theirs may be left
}

// Maker makes what ranks share.
type Maker struct {
	Self      grid.NodeID
	Processes *process.Runner
	Mesh      *mesh.Mesh // nil = there is no network for ranks
	Ports     *ports.Proxies
	NoPackets bool // there is no virtual network, as on machines without TUN
	Log       *slog.Logger
}

// member is this node's part in a network.
type member interface {
	Close()
	String() string // its counts
}

// Make makes it for the ranks of an attempt that are here, with at most so many bytes in /dev/shm.
func (m *Maker) Make(l ports.Layout, memory int64) (*Shared, error) {
	pod, as, giveBack, err := m.Processes.NewPod(memory)
	if err != nil {
		return nil, fmt.Errorf("network of a gang: %w", err)
	}
	joined, err := m.join(l, pod)
	if err != nil {
		giveBack(false)
		return nil, err
	}
	leave := func() {
		joined.Close()
		pod.Close()
		m.Log.Debug("the network of a gang has ended here", "attempt", l.ID.String(), "counts", joined.String())
	}
	rest := func(bool) {}
	if x, ok := joined.(*ports.Member); ok {
		rest = x.Rest
	}
	return &Shared{Pod: pod, As: as, Hosts: network.Hosts(len(l.Nodes)),
		Env: network.Env(l.ID, len(l.Nodes), l.Ports...), rest: rest, leave: leave, giveBack: giveBack}, nil
}

// join has packets carried or, where the job names ports, connections to these.
func (m *Maker) join(l ports.Layout, pod *sandbox.Pod) (member, error) {
	if len(l.Ports) > 0 {
		own, err := network.OpenLoopback(pod, l.Local(m.Self))
		if err != nil {
			return nil, err
		}
		x, err := m.Ports.Join(l, own)
		if err != nil {
			own.Close()
			return nil, err
		}
		return x, nil
	}
	device, err := network.Open(pod, l.Local(m.Self))
	if err != nil {
		return nil, err
	}
	x, err := m.Mesh.Join(l.Layout, device)
	if err != nil {
		device.Close()
		return nil, err
	}
	return x, nil
}

// probe says why ranks can have no virtual network here, and why they cannot reach each other on ports.
func (m *Maker) probe() (packets, fixed error) {
	missing := func(pod *sandbox.Pod) error {
		if m.NoPackets {
			return errors.New("ranks of a gang cannot reach each other: it is switched off")
		}
		return network.Probe(pod)
	}
	return m.try(missing), m.try(network.ProbePorts)
}

// try tries something in a pod of its own.
func (m *Maker) try(probe func(*sandbox.Pod) error) error {
	if m.Mesh == nil {
		return errors.New("ranks of a gang cannot reach each other: this node carries no packets of theirs")
	}
	if level, _ := m.Processes.Isolation(); level < grid.IsolationStrict {
		return fmt.Errorf("ranks of a gang cannot reach each other: isolation is %v: want %v", level, grid.IsolationStrict)
	}
	pod, _, giveBack, err := m.Processes.NewPod(0)
	if err != nil {
		return fmt.Errorf("ranks of a gang cannot reach each other: %w", err)
	}
	defer giveBack(false)
	return probe(pod)
}
