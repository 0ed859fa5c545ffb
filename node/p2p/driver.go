package p2p

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/prometheus/client_golang/prometheus"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/blob"
	"skep/node/p2p/seats"
	"skep/node/p2p/store"
	"skep/node/p2p/wire"
)

// Driver runs one node. All its methods are safe for concurrent use.
type Driver struct {
	cfg    Config
	log    *slog.Logger
	self   grid.NodeID
	boot   uint64
	key    ed25519.PrivateKey
	secret [32]byte
	wall   grid.Wall

	ctx    context.Context // until the driver closes
	cancel context.CancelFunc
	work   sync.WaitGroup // goroutines that end with ctx or with the host
	workMu sync.RWMutex   // read-locked to add to work, so that nothing is added once ctx is done

	store      *store.Store
	blobs      *blob.Store
	host       host.Host
	ownAddrs   *ownAddrs
	dialBudget *dialBudget
	relays     *relays

	node                                    stepper
	loop                                    *loop
	ads                                     *adCache
	specs                                   *specCache
	members                                 memberCache
	offences                                offenders
	peers                                   *peers
	dialer                                  *dialer
	announcer                               *announcer
	fetches                                 *fetcher
	tasks                                   *tasks
	diskMonitor                             *diskMonitor
	watchers                                watchers
	counts                                  counts
	apiListener                             *apiListener
	blobsServed, outputsServed, reachServed *seats.Seats

	closing sync.Once
	closers []func() // what Open set up, closed in reverse order
	started bool     // Open succeeded
	private bool     // the node refuses tasks of others, since it cannot isolate them
}

// Open starts a node in its data folder and connects it to its network. If it fails, it leaves nothing behind but
// the folder with its identity; the error is one line for a person.
func Open(ctx context.Context, cfg Config) (*Driver, error) {
	join, addrs, err := cfg.defaults()
	if err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, log: cfg.Logger, blobsServed: newSeats(servesPerPeer, servesAll), outputsServed: newSeats(servesPerPeer, servesAll),
		reachServed: newSeats(reachPerPeer, reachAll)}
	d.ctx, d.cancel = context.WithCancel(context.WithoutCancel(ctx))
	d.wall = grid.Wall{Zero: time.Now().Add(-time.Duration(now())).Round(0)}
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

// Registry returns the node's metrics.
func (d *Driver) Registry() *prometheus.Registry { return d.counts.registry }

// Dropped returns the number of messages, streams and ads dropped since start, by reason.
func (d *Driver) Dropped() map[string]uint64 { return d.counts.reasons() }

// Addrs returns the multiaddresses at which the node may be dialled now, each ending in its /p2p identity.
func (d *Driver) Addrs() []string { return d.addrs(grid.MaxAddrs) }

func (d *Driver) addrs(most int) []string {
	addrs := d.advertisedAddrs(most)
	for i := range addrs {
		addrs[i] += "/p2p/" + d.host.ID().String()
	}
	return addrs
}

// tokenAddrs is the number of addresses in a token: enough that one of them works, few enough to paste. Usually a
// public, a relayed and a private one.
const tokenAddrs = 3

// Token returns the token with which a machine joins the network through this node. It contains the secret.
func (d *Driver) Token() (string, error) {
	t := wire.Token{Secret: d.secret, Addrs: d.addrs(tokenAddrs)}
	if err := t.Check(); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return t.String(), nil
}

// Submit submits a job at this node, which signs it, and returns when it is saved. Submitting a known job again has
// no effect.
func (d *Driver) Submit(ctx context.Context, id grid.JobID, spec *grid.JobSpec) error {
	spec, err := d.sealSpec(id, spec)
	if err != nil {
		return err
	}
	return d.call(ctx, func(ev *grid.Event) { ev.Kind, ev.Job, ev.Spec = grid.EvSubmit, id, spec })
}

// Cancel cancels a job submitted at this node and returns when that is saved and the cancel barrier is down: no
// attempt of it can start anywhere any more. That takes at most 1.16 leases.
func (d *Driver) Cancel(ctx context.Context, id grid.JobID) error {
	return d.call(ctx, func(ev *grid.Event) { ev.Kind, ev.Job = grid.EvCancel, id })
}

// ErrClosed is returned by calls while and after the driver closes.
var ErrClosed = errors.New("the node is stopping")

// call steps an event and waits for the node's reply.
func (d *Driver) call(ctx context.Context, fill func(*grid.Event)) error {
	caller, reply := d.loop.newCaller()
	defer d.loop.dropCaller(caller)
	in := newInput()
	fill(&in.ev)
	in.ev.Caller = caller
	if err := d.loop.post(ctx, in); err != nil {
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
	case <-d.loop.done:
		return ErrClosed
	}
}

// Read calls f between two steps with the node in the state that is on disk, except for deferred records, on which
// no effect depends. f must be quick, keep nothing of what it sees but values, and call nothing of the driver.
func (d *Driver) Read(ctx context.Context, f func(n *node.Node, now grid.Time)) error {
	return d.loop.read(ctx, func(at grid.Time) {
		n, _ := d.node.(*node.Node)
		f(n, at)
	})
}

// Watch returns a channel that is signalled after something about a job has changed; several changes before it is
// read count as one. stop ends it.
func (d *Driver) Watch(id grid.JobID) (ch <-chan struct{}, stop func()) { return d.watchers.add(id) }

// Dial opens a byte stream to the API listener (Listener) of another node.
func (d *Driver) Dial(ctx context.Context, id grid.NodeID) (net.Conn, error) {
	return d.apiListener.dial(ctx, id)
}

// Listener accepts the byte streams that others open by Dial.
func (d *Driver) Listener() net.Listener { return d.apiListener }

// Close announces that the node leaves, stops the tasks, and ends. Tasks that ran here are run again, here or
// elsewhere, as their jobs allow.
func (d *Driver) Close(ctx context.Context) error {
	err := ErrClosed
	d.closing.Do(func() {
		d.log.Info("stopping")
		in := newInput()
		in.ev.Kind = grid.EvLeave
		if err = d.loop.post(ctx, in); err == nil {
			err = d.loop.read(ctx, func(grid.Time) {})
			d.peers.flush(ctx)
			d.announcer.flush(ctx)
		}
		d.unwind()
	})
	return err
}

// unwind closes what Open set up, in reverse order.
func (d *Driver) unwind() {
	d.workMu.Lock()
	d.cancel()
	d.workMu.Unlock()
	for len(d.closers) > 0 {
		last := len(d.closers) - 1
		f := d.closers[last]
		d.closers = d.closers[:last]
		f()
	}
}

// onClose has f called when the driver closes, or when Open fails.
func (d *Driver) onClose(f func()) { d.closers = append(d.closers, f) }

// beginWork adds to work, which work.Done ends; false if the driver is closing.
func (d *Driver) beginWork() bool {
	d.workMu.RLock()
	defer d.workMu.RUnlock()
	if d.ctx.Err() != nil {
		return false
	}
	d.work.Add(1)
	return true
}

// spawn runs f, which must end with ctx or with the host, in a goroutine; false if the driver is closing.
func (d *Driver) spawn(f func()) bool {
	if !d.beginWork() {
		return false
	}
	go func() {
		defer d.work.Done()
		f()
	}()
	return true
}
