package p2p

import (
	"context"
	"fmt"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/exec/units"
	"skep/grid"
	"skep/node"
	"skep/node/p2p/clock"
	"skep/node/p2p/joblist"
	"skep/node/p2p/mesh"
	"skep/node/p2p/ports"
	"skep/node/p2p/reachability"
	"skep/node/p2p/runner"
	"skep/node/p2p/secrets"
	"skep/node/p2p/transport"
)

// openRunner gets ready to run tasks.
func (d *Driver) openRunner() (err error) {
	c := &d.cfg
	c.Boxes.Engine.Away = d.engineLeft.setAway
	if x := c.Boxes.Engine.Child; x != nil {
		x.Parent, x.Report = d.Network(), d.engineLeft.report
	}
	d.secrets, err = secrets.Open(secrets.Config{Self: d.self, DataDir: c.DataDir, Peers: otherNodes{d}, Log: d.log,
		Drop: d.drops.add, Now: clock.Now})
	if err != nil {
		return err
	}
	table := units.NewTable(c.kinds, units.CPUs())
	d.mesh = mesh.New(d.work.Context(), mesh.Config{Self: d.self, Peers: otherNodes{d}, Log: d.log, Drop: d.drops.add})
	d.onClose(d.mesh.Close)
	d.ports = ports.New(d.work.Context(), ports.Config{Self: d.self, Peers: otherNodes{d}, Log: d.log, Drop: d.drops.add})
	d.onClose(d.ports.Close)
	d.runner, err = runner.Open(d.work.Context(), runner.Config{
		Self: d.self, Name: c.name(), DataDir: c.DataDir, Capacity: c.capacity(),
		MaxOutput: c.MaxOutput, MaxCollect: c.MaxCollect,
		MaxCheckpoint: max(c.Node.DepositLimit, node.Defaults().DepositLimit), // owners may have other limits
		DiskLow:       c.DiskLow, Share: c.Share, Boxes: c.Boxes, Units: table,
		Network: runner.Network{Mesh: d.mesh, Ports: d.ports}, Secrets: d.secrets, Log: d.log, Blobs: d.blobs,
		Loop: d.inbox, Peers: otherNodes{d}, Drop: d.drops.add, Fatal: c.Fatal,
	})
	if err == nil {
		d.onClose(d.runner.Close)
	}
	return err
}

// openNetwork creates the host and everything that uses it; nothing is dialled or served yet.
func (d *Driver) openNetwork(tokenAddrs []string) (err error) {
	d.onClose(d.work.Wait) // after the transport is closed: nobody waits for the loop any more
	c := &d.cfg
	d.jobs = joblist.New(d.self, d.Read, otherNodes{d})
	d.reach, err = reachability.New(d.work.Context(), reachability.Config{
		Self: d.self, Secret: d.secret, Announce: c.Announce, Data: d.store.Datastore(), MDNS: c.MDNS,
		Log: d.log, Event: d.inbox.Event, MayRelay: d.mayRelay(),
	})
	if err != nil {
		return err
	}
	if err := d.openWatch(); err != nil {
		return err
	}
	if err := d.openGenerations(); err != nil {
		return err
	}
	listen := readPorts(d.work.Context(), d.store.Datastore())
	err = listen.open(c.Listen, func(listen []string) (err error) {
		d.transport, err = transport.Open(d.work.Context(), transport.Config{
			Self: d.self, Boot: d.boot, Instance: d.instance, Instances: d.copies.watch, Generations: d.generations,
			Key: d.key, Secret: d.secret, Version: c.Version, Listen: listen, Allow: c.Allow,
			Control: c.control, Services: d.services(), Contacts: d.reach, Addrs: d.reach.Addrs(),
			Log: d.log, Inbox: d.inbox, Members: &d.members, Drop: d.drops.add, Credentials: d.credentials(),
		})
		return err
	})
	if err != nil {
		return err
	}
	d.onClose(d.transport.Close)
	d.onClose(d.reach.Close)
	d.onClose(d.copies.watch.Close)
	if err := listen.save(d.work.Context(), d.store.Datastore(), c.Listen,
		d.transport.Host().Network().ListenAddresses()); err != nil {
		return fmt.Errorf("ports: %w", err)
	}
	d.copies.watch.Attach(d.transport)
	d.generations.Attach(d.transport)
	return d.reach.Attach(d.transport, tokenAddrs)
}

// maxMeshStreams bounds the streams of gangs from one node: as many attempts have ranks at both.
const maxMeshStreams = 128

// services are the streams with a request and an answer.
func (d *Driver) services() []transport.Service {
	const most = transport.ServesPerPeer
	files := transport.Service{PerPeer: most, All: transport.ServesAll, Inbound: most * 3 / 2, Transfer: true}
	blobs, outputs := files, files
	blobs.Protocol, blobs.Request, blobs.Serve = runner.BlobProtocol, runner.BlobRequest, d.runner.ServeBlob
	outputs.Protocol, outputs.Request, outputs.Serve = runner.OutputProtocol, runner.OutputRequest, d.runner.ServeOutput
	inputs := transport.Service{Protocol: runner.StdinProtocol, Request: runner.StdinRequest,
		ServeLong: d.runner.ServeStdin,
		PerPeer:   most, All: transport.ServesAll, Inbound: runner.StdinPerPeer + most, Transfer: true}
	commands := transport.Service{Protocol: runner.ExecProtocol, Request: runner.ExecRequest,
		ServeLong: d.runner.ServeExec,
		PerPeer:   most, All: transport.ServesAll, Inbound: runner.ExecsPerPeer + most, Transfer: true}
	packets := transport.Service{Protocol: mesh.Protocol, Request: mesh.Request, ServeLong: d.mesh.Serve,
		PerPeer: most, All: transport.ServesAll, Inbound: maxMeshStreams, Transfer: true}
	connections := transport.Service{Protocol: ports.Protocol, Request: ports.Request, ServeLong: d.ports.Serve,
		PerPeer: most, All: transport.ServesAll, Inbound: ports.Inbound, Outbound: ports.Outbound, Transfer: true}
	kept := transport.Service{Protocol: secrets.Protocol, Request: secrets.Request, Serve: d.secrets.Serve,
		PerPeer: secrets.ServesPerPeer, All: secrets.ServesAll, Inbound: secrets.ServesPerPeer * 2,
		Cooldown: secrets.Cooldown}
	all := []transport.Service{blobs, outputs, inputs, commands, packets, connections, kept, d.reach.Service(),
		d.jobs.Service(d.work.Context()), d.copies.watch.Service(), d.generations.Service()}
	if d.keeper != nil {
		all = append(all, d.keeper.Service())
	}
	return all
}

// otherNodes are the peers as the runner and the lists of jobs see them. The network is opened after the runner.
type otherNodes struct{ d *Driver }

// Open opens a stream to a node, which is dialled if it is not connected.
func (p otherNodes) Open(ctx context.Context, n grid.NodeID, id string) (network.Stream, error) {
	return p.d.transport.OpenStream(ctx, n, protocol.ID(id))
}

// Connected returns the connected nodes.
func (p otherNodes) Connected() []grid.NodeID { return p.d.transport.Peers() }

// IsConnected reports whether there is a connection to a node.
func (p otherNodes) IsConnected(n grid.NodeID) bool { return p.d.transport.Connected(n) }

// Dialable reports whether it is worth dialling a node that is not connected.
func (p otherNodes) Dialable(n grid.NodeID) bool { return p.d.reach.Dialable(n) }

// Offend counts an offence of a peer.
func (p otherNodes) Offend(n grid.NodeID, reason string, weight int) {
	p.d.transport.Offend(n, reason, weight)
}
