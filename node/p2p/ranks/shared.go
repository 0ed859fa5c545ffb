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
)

// Shared is what ranks of an attempt on this node share.
type Shared struct {
	Pod   *sandbox.Pod
	As    process.Account // that their folders are prepared for
	Hosts []byte          // their /etc/hosts
	Env   []string        // the variables by which ranks find each other, NAME=VALUE

	leave    func()          // ends the network
	giveBack func(left bool) // after leave; left: processes or files of theirs may be left
}

// Maker makes what ranks share.
type Maker struct {
	Self      grid.NodeID
	Processes *process.Runner
	Mesh      *mesh.Mesh // nil = there is no network for ranks
	Log       *slog.Logger
}

// Make makes it for the ranks of an attempt that are here, with at most so many bytes in /dev/shm.
func (m *Maker) Make(l mesh.Layout, memory int64) (*Shared, error) {
	pod, as, giveBack, err := m.Processes.NewPod(memory)
	if err != nil {
		return nil, fmt.Errorf("network of a gang: %w", err)
	}
	device, err := network.Open(pod, l.Local(m.Self))
	if err != nil {
		giveBack(false)
		return nil, err
	}
	member, err := m.Mesh.Join(l, device)
	if err != nil {
		device.Close()
		giveBack(false)
		return nil, err
	}
	leave := func() {
		member.Close()
		pod.Close()
		m.Log.Debug("the network of a gang has ended here", "attempt", l.ID.String(), "packets",
			fmt.Sprintf("%+v", member.Counts()))
	}
	return &Shared{Pod: pod, As: as, Hosts: network.Hosts(len(l.Nodes)), Env: network.Env(l.ID, len(l.Nodes)),
		leave: leave, giveBack: giveBack}, nil
}

func (m *Maker) probe() error {
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
	return network.Probe(pod)
}
