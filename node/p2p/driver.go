package p2p

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skep/exec/sandbox"
	"skep/grid"
	"skep/internal/indices"
	"skep/node"
	"skep/node/listing"
	"skep/node/p2p/blob"
	"skep/node/p2p/clock"
	"skep/node/p2p/credentials"
	"skep/node/p2p/identity"
	"skep/node/p2p/inbox"
	"skep/node/p2p/joblist"
	"skep/node/p2p/lifecycle"
	"skep/node/p2p/mesh"
	"skep/node/p2p/ports"
	"skep/node/p2p/reachability"
	"skep/node/p2p/runner"
	"skep/node/p2p/store"
	"skep/node/p2p/transport"
)

// Driver runs one node. All its methods are safe for concurrent use.
type Driver struct {
	identified
	cfg  Config
	log  *slog.Logger
	wall grid.Wall

	work    *lifecycle.Group // the loop, and what measures the machine
	closing sync.Once
	closers closers // what Open set up
	started bool    // Open succeeded

	store  *store.Store
	blobs  *blob.Store
	runner *runner.Runner
	peering

	inbox    *inbox.Inbox
	node     stepper
	loop     *loop
	members  transport.Members
	watchers watchers
	copies   copies
	drops    drops
	registry *prometheus.Registry
}

// peering is what connects the node to others.
type peering struct {
	reach     *reachability.Network
	transport *transport.Transport
	keepers
	jobs       *joblist.Lists
	mesh       *mesh.Mesh
	engineLeft engineShare
	ports      *ports.Proxies
}

// identified is who a node is. It is set before anything that says so starts.
type identified struct {
	self     grid.NodeID
	boot     uint64 // how many times it has started
	instance uint64 // drawn at this start
	key      ed25519.PrivateKey
	secret   [32]byte            // of its network
	keeper   *credentials.Keeper // nil: its network has no certificates
}

// Open starts a node in its data folder and connects it to its network. If it fails, it leaves nothing behind but
// the folder with its identity; the error is one line for a person.
func Open(ctx context.Context, cfg Config) (*Driver, error) {
	if err := cfg.checkEngine(); err != nil {
		return nil, err
	}
	if err := cfg.Boxes.Engine.Look(ctx, cfg.Logger); err != nil {
		return nil, err
	}
	join, addrs, err := cfg.defaults()
	if err != nil {
		return nil, err
	}
	d := &Driver{inbox: inbox.Open(), cfg: cfg, log: cfg.Logger}
	d.work = lifecycle.New(context.WithoutCancel(ctx))
	d.wall = grid.Wall{Zero: time.Now().Add(-time.Duration(clock.Now())).Round(0)}
	if err := d.open(join, addrs); err != nil {
		d.unwind()
		return nil, err
	}
	return d, nil
}

// Self returns the node's identity.
func (d *Driver) Self() grid.NodeID { return d.self }

// Wall returns the wall time of the zero of the node's clock.
func (d *Driver) Wall() grid.Wall { return d.wall }

// Blobs returns the node's blob store.
func (d *Driver) Blobs() *blob.Store { return d.blobs }

// FetchBlob fetches a blob that some nodes should have, and returns when it is here. It may be evicted again.
func (d *Driver) FetchBlob(ctx context.Context, file *grid.File, holders []grid.NodeID) error {
	return d.runner.FetchBlob(ctx, file, holders)
}

// Isolation returns the isolation level of tasks here, and what is missing for a higher one.
func (d *Driver) Isolation() (grid.Isolation, []sandbox.Finding) { return d.runner.Isolation() }

// Addrs returns the multiaddresses at which the node may be dialled now, each ending in its /p2p identity.
func (d *Driver) Addrs() []string { return d.addrs(grid.MaxAddrs) }

func (d *Driver) addrs(most int) []string {
	addrs := d.reach.Advertised(most)
	for i := range addrs {
		addrs[i] += "/p2p/" + identity.Peer(d.self).String()
	}
	return addrs
}

// Submit submits a job at this node, which signs it, and returns when it is saved. Submitting a known job again has
// no effect.
func (d *Driver) Submit(ctx context.Context, id grid.JobID, spec *grid.JobSpec) error {
	if err := d.checkSubmit(); err != nil {
		return err
	}
	spec, err := d.sealSpec(ctx, id, spec)
	if err != nil {
		return err
	}
	return d.call(ctx, func(ev *grid.Event) { ev.Kind, ev.Job, ev.Spec = grid.EvSubmit, id, spec })
}

// Cancel cancels a job that this node owns, or only the named tasks of it. It returns when that is saved and the cancel
// barrier is down: no attempt of what it cancelled can start anywhere any more. That takes at most 1.16 leases.
func (d *Driver) Cancel(ctx context.Context, id grid.JobID, tasks indices.Set) error {
	return d.call(ctx, func(ev *grid.Event) { ev.Kind, ev.Job, ev.Tasks = grid.EvCancel, id, tasks })
}

// Retry has tasks of a job run again that have ended, and returns when a majority of the nodes that keep the job have
// that on disk. The job may be over: any of them can be asked then.
func (d *Driver) Retry(ctx context.Context, id grid.JobID, tasks indices.Set) error {
	return d.call(ctx, func(ev *grid.Event) { ev.Kind, ev.Job, ev.Tasks = grid.EvRetry, id, tasks })
}

// ErrClosed is returned by calls while and after the driver closes.
var ErrClosed = inbox.ErrClosed

// call steps an event and waits for the node's reply.
func (d *Driver) call(ctx context.Context, fill func(*grid.Event)) error {
	caller, reply := d.loop.callers.add()
	defer d.loop.callers.remove(caller)
	in := inbox.New()
	fill(&in.Event)
	in.Event.Caller = caller
	if err := d.inbox.Post(ctx, in); err != nil {
		return err
	}
	select {
	case text := <-reply:
		if text != "" {
			return errors.New(text)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-d.inbox.Closed():
		return ErrClosed
	}
}

// Read calls f between two steps with the node in the state that is on disk, except for deferred records, on which
// no effect depends. f must be quick, keep nothing of what it sees but values, and call nothing of the driver.
func (d *Driver) Read(ctx context.Context, f func(n *node.Node, now grid.Time)) error {
	return d.inbox.Read(ctx, func(at grid.Time) {
		n, _ := d.node.(*node.Node)
		f(n, at)
	})
}

// Jobs returns the jobs of the grid that a query selects, newest first. It takes at most 2 seconds.
func (d *Driver) Jobs(ctx context.Context, q *listing.Query) (*joblist.Result, error) {
	return d.jobs.List(ctx, q)
}

// Watch returns a channel that is signalled after something about a job has changed; several changes before it is
// read count as one. stop ends it.
func (d *Driver) Watch(id grid.JobID) (ch <-chan struct{}, stop func()) { return d.watchers.add(id) }

// Dial opens a byte stream to the API listener (Listener) of another node.
func (d *Driver) Dial(ctx context.Context, id grid.NodeID) (net.Conn, error) {
	return d.transport.DialAPI(ctx, id)
}

// Listener accepts the byte streams that others open by Dial.
func (d *Driver) Listener() net.Listener { return d.transport.APIListener() }

// Close announces that the node leaves, stops the tasks, and ends. Tasks that ran here are run again, here or
// elsewhere, as their jobs allow.
func (d *Driver) Close(ctx context.Context) error {
	err := ErrClosed
	d.closing.Do(func() {
		d.log.Info("stopping")
		in := inbox.New()
		in.Event.Kind = grid.EvLeave
		if err = d.inbox.Post(ctx, in); err == nil {
			err = d.inbox.Read(ctx, func(grid.Time) {})
			d.transport.Flush(ctx)
		}
		d.unwind()
		if err == nil && !d.loop.failed {
			if err := store.RemoveCopy(d.cfg.DataDir); err != nil {
				d.log.Warn("the copy of the database before its conversion stays", "error", err)
			}
		}
	})
	return err
}

// unwind ends all goroutines and closes what Open set up.
func (d *Driver) unwind() {
	d.work.Cancel()
	d.closers.close()
}

// onClose has f called when the driver closes, or when Open fails; who comes last is called first.
func (d *Driver) onClose(f func()) { d.closers = append(d.closers, f) }
