package instance

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	manet "github.com/multiformats/go-multiaddr/net"
	"golang.org/x/time/rate"

	"skep/grid"
	"skep/node/p2p/lifecycle"
	"skep/node/p2p/transport"
)

// Config is what a watch needs.
type Config struct {
	Self     grid.NodeID
	Key      ed25519.PrivateKey
	Instance uint64 // of this process, as it tells it in its hello
	Process  uint32
	Host     string
	Began    func() int64 // Unix milliseconds at which this process began to be a node; 0: it has not yet
	Log      *slog.Logger

	// Later is called once if another process has the identity and this one is to stop. It must not block.
	Later func(*Copy)
}

// Copy is one of two instances of a node that run at the same time.
type Copy struct {
	Statement
	Node    grid.NodeID
	Addr    string      // IP address at which the witness sees it; empty: it is behind a relay
	Witness grid.NodeID // this node itself, of a peer's instances
	Seen    time.Time   // when it proved last that it runs
}

// Watch finds out whether another process has this node's identity, and is a witness for peers. Its methods are safe
// for concurrent use.
type Watch struct {
	cfg       Config
	work      *lifecycle.Group
	transport *transport.Transport

	asked     chan struct{} // closed once a witness has had this instance prove itself to another
	askedOnce sync.Once
	laterOnce sync.Once
	checks    *rate.Limiter // checks that a witness asks for

	mu     sync.Mutex
	copies map[grid.NodeID]Copy // the last one found, by node; at most maxCopies
}

// maxCopies bounds the nodes of which a copy is remembered, and keepCopy for how long.
const (
	maxCopies = 256
	keepCopy  = 10 * time.Minute
)

// NewID draws the number of an instance.
func NewID() uint64 {
	for {
		var b [8]byte
		rand.Read(b[:])
		id := uint64(0)
		for _, x := range b {
			id = id<<8 | uint64(x)
		}
		if id != 0 {
			return id
		}
	}
}

// New returns the watch of a process. Its work ends with ctx.
func New(ctx context.Context, cfg Config) *Watch {
	return &Watch{cfg: cfg, work: lifecycle.New(ctx), asked: make(chan struct{}), copies: make(map[grid.NodeID]Copy),
		checks: rate.NewLimiter(1, 8)}
}

// Attach tells the watch its transport, before any other method is called.
func (w *Watch) Attach(t *transport.Transport) { w.transport = t }

// Close ends the work of the watch and waits for it.
func (w *Watch) Close() {
	w.work.Cancel()
	w.work.Wait()
}

// Copies returns the nodes of which a second instance was found in the last minutes, this node among them.
func (w *Watch) Copies() map[grid.NodeID]Copy {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := make(map[grid.NodeID]Copy, len(w.copies))
	for n, c := range w.copies {
		if time.Since(c.Seen) < keepCopy {
			found[n] = c
		}
	}
	return found
}

// AwaitAsked waits until another instance had this one prove itself: then both know of each other.
func (w *Watch) AwaitAsked(ctx context.Context) {
	select {
	case <-w.asked:
	case <-ctx.Done():
	}
}

// own returns what this instance says of itself now.
func (w *Watch) own() Statement {
	return Statement{Instance: w.cfg.Instance, Began: w.cfg.Began(), Process: w.cfg.Process, Host: w.cfg.Host}
}

// note remembers a copy, and reports whether none of that node was found in the last minutes.
func (w *Watch) note(c *Copy) (news bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, known := w.copies[c.Node]
	if !known && len(w.copies) >= maxCopies {
		var oldest grid.NodeID
		for n, o := range w.copies {
			if oldest.IsZero() || o.Seen.Before(w.copies[oldest].Seen) {
				oldest = n
			}
		}
		delete(w.copies, oldest)
	}
	w.copies[c.Node] = *c
	return !known || c.Seen.Sub(before.Seen) > keepCopy
}

// heard handles the proof that another process has this node's identity, and reports whether this one is to stop.
func (w *Watch) heard(c *Copy) (later bool) {
	own := w.own()
	later = own.Later(&c.Statement)
	if w.note(c) && !later {
		w.cfg.Log.Error("another process has this node's identity: its data folder was copied; that one stops, since it "+
			"began later", "host", c.Host, "process", c.Process, "addr", c.Addr, "age", c.Age(), "witness", c.Witness.Short())
	}
	return later
}

// ipOf returns the address of a connection's other end, empty if there is a relay between.
func ipOf(c *transport.InstanceConn) string {
	if transport.Relayed(c.RemoteMultiaddr()) {
		return ""
	}
	ip, err := manet.ToIP(c.RemoteMultiaddr())
	if err != nil {
		return ""
	}
	return ip.String()
}
