package ports

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/lifecycle"
)

// Times. Looking once takes some tens of microseconds; a rank can be reached that much after it has begun to listen.
const (
	lookEvery  = 100 * time.Millisecond
	retryAfter = 10 // looks between two tries to listen where it has failed
)

// Counts are the connections of an attempt at this node so far.
type Counts struct {
	Out, In uint64 // that ranks here have begun, and that have come for them
	Full    uint64 // ended at once: as many as may be were there
	Failed  uint64 // ended at once: they did not reach their rank
}

// Member is this node's part in the connections of an attempt. Its own goroutine, run, has the pod, but for Dial.
type Member struct {
	proxies *Proxies
	layout  Layout
	local   []int
	pod     Pod
	work    *lifecycle.Group
	others  map[grid.NodeID]int // fixed: number of ranks at each other node

	out, in, full, failed atomic.Uint64

	rests atomic.Bool // no rank runs here

	told      chan heard // from those who watch other nodes
	standing  map[network.Endpoint]net.Listener
	remote    map[grid.NodeID][]network.Endpoint // what listens elsewhere
	announced bool                               // that a port cannot be stood for

	mu       sync.Mutex
	here     []network.Endpoint // what listens here
	watchers map[grid.NodeID]*watcher
}

// heard is what a node has said of its ranks; none = it cannot be asked.
type heard struct {
	node grid.NodeID
	all  []network.Endpoint
}

func newMember(p *Proxies, l Layout, pod Pod) *Member {
	x := &Member{proxies: p, layout: l, local: l.Local(p.cfg.Self), pod: pod, others: map[grid.NodeID]int{},
		told: make(chan heard), standing: map[network.Endpoint]net.Listener{},
		remote: map[grid.NodeID][]network.Endpoint{}, watchers: map[grid.NodeID]*watcher{}}
	for _, n := range l.Nodes {
		if n != p.cfg.Self {
			x.others[n]++
		}
	}
	return x
}

func (x *Member) start() {
	x.work = lifecycle.New(x.proxies.work.Context())
	x.work.Go(x.run)
	for n := range x.others {
		x.work.Go(func() { x.watch(n) })
	}
}

// Close ends the membership, and closes the pod.
func (x *Member) Close() {
	x.work.Cancel()
	x.proxies.leave(x)
	x.work.Wait()
	x.pod.Close()
}

// Counts returns the connections so far.
func (x *Member) Counts() Counts {
	return Counts{Out: x.out.Load(), In: x.in.Load(), Full: x.full.Load(), Failed: x.failed.Load()}
}

// String says how many connections there were.
func (x *Member) String() string { return fmt.Sprintf("%+v", x.Counts()) }

// run looks what listens here, and listens in place of what listens elsewhere.
func (x *Member) run() {
	defer func() {
		for e := range x.standing {
			x.leave(e)
		}
	}()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var stood time.Time
	due := false
	for looks := 1; ; {
		select {
		case <-x.work.Context().Done():
			return
		case h := <-x.told:
			due = due || !slices.Equal(x.remote[h.node], h.all)
			x.remote[h.node] = h.all
			if !due || x.rests.Load() || time.Since(stood) < lookEvery { // others' lists cost no more than looking here
				continue
			}
		case <-tick.C:
			if x.rests.Load() {
				due = true // for when a rank starts again
				x.listening(nil)
				for e := range x.standing {
					x.leave(e)
				}
				continue
			}
			x.look()
			if looks++; !due && looks%retryAfter != 0 {
				continue
			}
		}
		x.stand()
		stood, due = time.Now(), false
	}
}

// Rest says whether all ranks here have run: then nothing is looked for. Connections that are there go on.
func (x *Member) Rest(rests bool) { x.rests.Store(rests) }

// look sees what listens here.
func (x *Member) look() {
	all, err := x.pod.Listening(x.layout.Ports)
	if err != nil {
		x.proxies.cfg.Log.Debug("ports of a gang", "attempt", x.layout.ID, "error", err)
		return
	}
	x.listening(all)
}

// listening tells those who watch this node if something else listens here than before.
func (x *Member) listening(all []network.Endpoint) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.Equal(all, x.here) {
		return
	}
	x.here = all
	for _, w := range x.watchers {
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
}

// stand listens in place of what listens elsewhere, and no more in place of what does not.
func (x *Member) stand() {
	wanted := map[network.Endpoint]bool{}
	for _, all := range x.remote {
		for _, e := range all {
			wanted[e] = true
		}
	}
	for e := range x.standing {
		if !wanted[e] {
			x.leave(e)
		}
	}
	if len(x.standing) == len(wanted) {
		return
	}
	atAll, err := x.pod.AtAll(x.layout.Ports)
	if err != nil {
		x.proxies.cfg.Log.Debug("ports of a gang", "attempt", x.layout.ID, "error", err)
		return
	}
	for e := range wanted {
		if x.standing[e] != nil {
			continue
		}
		if !x.proxies.shares.listen(x.layout.ID) {
			x.cannotStand(e, errTooMany)
			break
		}
		l, err := x.pod.Listen(e, atAll)
		if err != nil {
			x.proxies.shares.unlisten(x.layout.ID)
			x.cannotStand(e, err)
			continue
		}
		x.standing[e] = l
		x.work.Go(func() { x.accept(e, l) })
	}
}

// leave ends the listener in place of a rank elsewhere.
func (x *Member) leave(e network.Endpoint) {
	x.standing[e].Close()
	delete(x.standing, e)
	x.proxies.shares.unlisten(x.layout.ID)
}

// errTooMany is why nothing more listens in place of ranks elsewhere.
var errTooMany = errors.New("the jobs at this node listen on as many ports as may be")

// cannotStand says so once: a program that is written so does it with each port.
func (x *Member) cannotStand(e network.Endpoint, err error) {
	log := x.proxies.cfg.Log.Debug
	if (errors.Is(err, network.ErrAllAddresses) || err == errTooMany) && !x.announced {
		x.announced, log = true, x.proxies.cfg.Log.Warn
	}
	log("a rank of a gang cannot be reached from here", "attempt", x.layout.ID.String(), "rank", e.Rank, "port", e.Port,
		"error", err)
}

// mayAsk reports whether a node may ask so: it has the rank that asks, and this one the rank that is asked for.
func (x *Member) mayAsk(n grid.NodeID, a ask) bool {
	nodes := x.layout.Nodes
	return a.to.Port == 0 || a.from < len(nodes) && nodes[a.from] == n && slices.Contains(x.local, a.to.Rank) &&
		slices.Contains(x.layout.Ports, a.to.Port)
}
