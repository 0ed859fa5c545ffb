package instance

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
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
	Instance uint64  // of this process, as it tells it in its hello
	Process  Process // where it runs
	Now      func() grid.Time
	Log      *slog.Logger

	// Later is called once if another process has the identity and this one, which has begun, is to stop. It must not
	// block.
	Later func(*Copy)
}

// Copy is one of two instances of a node that run at the same time.
type Copy struct {
	Statement
	Process Process // of this node's identity; else the zero value
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
	unproven  *unproven

	mu       sync.Mutex
	standing standing
	later    *Copy                                  // for which this instance is to stop; nil: none
	outlived []uint64                               // instances that are to stop for this one; at most maxOutlived
	copies   map[grid.NodeID]Copy                   // the last one found, by node; at most maxCopies
	checks   *lru.Cache[grid.NodeID, *rate.Limiter] // checks that a witness asks for, by witness
}

// Bounds of the checks that one witness asks for: it must not keep the others from asking. Each opens a stream to it.
const (
	checkRate    = 1 // a second
	checkBurst   = 4
	maxWitnesses = 1024
)

// maxCopies bounds the nodes of which a copy is remembered, and keepCopy for how long.
const (
	maxCopies = 256
	keepCopy  = 10 * time.Minute
)

// maxOutlived bounds the instances that are remembered to have been found the later ones; the oldest are forgotten.
const maxOutlived = 16

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
	checks, err := lru.New[grid.NodeID, *rate.Limiter](maxWitnesses)
	if err != nil {
		panic(err)
	}
	return &Watch{cfg: cfg, work: lifecycle.New(ctx), asked: make(chan struct{}), copies: make(map[grid.NodeID]Copy),
		checks: checks, unproven: newUnproven()}
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

// Begin makes this process the node, and returns the instance for which it cannot be; nil if it can.
func (w *Watch) Begin() *Copy {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.standing.begin(w.cfg.Now()) {
		return w.later
	}
	return nil
}

// Joined notes that a peer has answered that it knows no other instance of this node.
func (w *Watch) Joined() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.standing.join(w.cfg.Now())
}

// own returns what this instance says of itself now.
func (w *Watch) own() (s Statement, err error) {
	w.mu.Lock()
	s = Statement{Instance: w.cfg.Instance, Standing: w.standing.is, Age: w.standing.age(w.cfg.Now())}
	w.mu.Unlock()
	s.sealed, err = w.cfg.Process.seal(w.cfg.Key)
	return s, err
}

// yields reports whether this instance is to stop for another one, and whether it had begun.
func (w *Watch) yields(c *Copy) (stops, begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	stops = w.standing.yields(w.cfg.Now(), w.cfg.Instance, &c.Statement)
	w.outlived = slices.DeleteFunc(w.outlived, func(i uint64) bool { return i == c.Instance })
	switch {
	case !stops:
		w.outlived = append(w.outlived[max(len(w.outlived)-maxOutlived+1, 0):], c.Instance)
	case w.later == nil:
		w.later = c
	}
	return stops, w.standing.is != Starting
}

// Outlived reports whether another instance has proved that it ran, and is the one to stop.
func (w *Watch) Outlived(instance uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.outlived, instance)
}

// mayCheck reports whether a check that a witness asks for is within its bounds.
func (w *Watch) mayCheck(witness grid.NodeID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, known := w.checks.Get(witness)
	if !known {
		l = rate.NewLimiter(checkRate, checkBurst)
		w.checks.Add(witness, l)
	}
	return l.Allow()
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
func (w *Watch) heard(c *Copy) (stops bool) {
	stops, begun := w.yields(c)
	if w.note(c) && !stops {
		w.cfg.Log.Error("another process has this node's identity: its data folder was copied; that one stops, since it "+
			"is the later one", "host", c.Process.Host, "process", c.Process.Number, "addr", c.Addr, "age", c.Age, "witness",
			c.Witness.Short())
	}
	if stops && begun {
		w.laterOnce.Do(func() { w.cfg.Later(c) })
	}
	return stops
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
