package pull

import (
	"time"

	"skep/grid"
)

// Bounds of the exchange.
const (
	lookGap    = 50 * time.Millisecond  // changes within it are looked at together
	minTimeout = 200 * time.Millisecond // besides four round trips, for a task to come after a pull
	maxBackoff = 30 * time.Second       // from a node that gave none; it begins with the time-out and doubles
	hintGap    = 500 * time.Millisecond // between two hints to one node
	maxAsked   = 2                      // nodes asked at a time
	maxHints   = 2                      // idle nodes told at a time
	maxKnown   = 64                     // nodes whose back-off or last hint is remembered
)

// Config is what an exchange is told once.
type Config struct {
	Worker Worker
	Jobs   Jobs
	Peers  Peers
	Rand   *grid.Rand
}

// Worker is this node's own worker.
type Worker interface {
	// Idle returns the free resources if the worker takes work and none waits in its queue; else nothing.
	Idle() grid.Resources

	// Queued reports whether work waits in the queue.
	Queued() bool

	// Yields reports whether a waiting attempt would be given away to a node with free resources, where it takes so long.
	Yields(now grid.Time, free grid.Resources, there grid.Elsewhere) bool

	// Yield gives one away, and reports whether it did.
	Yield(now grid.Time, to grid.NodeID, free grid.Resources, there grid.Elsewhere, fx *grid.Effects) bool

	// NextOverdue is when the next waiting attempt will have waited for longer than predicted; Never = none will.
	NextOverdue(now grid.Time) grid.Time
}

// Jobs are the tasks that wait for their placement here.
type Jobs interface {
	// Waiting reports whether tasks wait for their placement.
	Waiting() bool

	// Grants reports whether a waiting task would be offered to a node.
	Grants(now grid.Time, to grid.NodeID) bool

	// Grant offers one, and reports whether it did.
	Grant(now grid.Time, to grid.NodeID, fx *grid.Effects) bool

	// MayMove reports whether tasks of a job owned here may leave this node.
	MayMove(id grid.JobID) bool
}

// Peers are the connected nodes.
type Peers interface {
	// WhereWorkWaits are those whose ads say so and that understand a pull; read only.
	WhereWorkWaits() []grid.NodeID

	// WithRoom are those that have free resources and no backlog, by their ads, and understand a pull; read only.
	WithRoom() []grid.NodeID

	// Pulls reports whether a node understands a refusal of a task that was pulled.
	Pulls(id grid.NodeID) bool

	// Free is what a node's ad says that it has free.
	Free(id grid.NodeID) grid.Resources

	// RunTimeAt is the time in seconds in which a node would be done with a task of a class; false = it does not fit, or
	// must not get it now.
	RunTimeAt(now grid.Time, id grid.NodeID, spec *grid.JobSpec, class string) (float64, bool)

	RTT(id grid.NodeID) time.Duration
}

// Exchange is the two sides of a node: it asks for work while it is idle, and gives work away while some waits.
type Exchange struct {
	cfg     Config
	due     bool      // something has changed since the last look
	looked  grid.Time // time of the last look
	wake    grid.Time // of the pending timer; 0 = none
	asked   []asked
	backoff memory
	hinted  memory
	nodes   []grid.NodeID // scratch
}

// asked is a pull that no task has come for yet.
type asked struct {
	node  grid.NodeID
	until grid.Time
}

// New returns a node's exchange.
func New(cfg Config) *Exchange { return &Exchange{cfg: cfg, looked: -grid.Time(lookGap)} }

// Changed has the next Settle look: work has come, has ended or waits, or a node has another ad.
func (x *Exchange) Changed() { x.due = true }

// Came records that an attempt of another node has come: more may follow at once.
func (x *Exchange) Came() {
	if len(x.asked) > 0 {
		x.backoff.forget(x.asked[0].node)
		x.asked = append(x.asked[:0], x.asked[1:]...)
	}
	x.due = true
}

// Hinted takes another node's word that work waits there.
func (x *Exchange) Hinted(now grid.Time, from grid.NodeID, fx *grid.Effects) {
	x.backoff.forget(from)
	x.ask(now, from, x.cfg.Worker.Idle(), fx)
}

// Asked answers a pull with a task, if there is one for that node.
func (x *Exchange) Asked(now grid.Time, from grid.NodeID, free grid.Resources, fx *grid.Effects) {
	if !x.cfg.Jobs.Grant(now, from, fx) {
		x.cfg.Worker.Yield(now, from, free, x.elsewhere(now, from), fx)
	}
}

// Woke handles the timer.
func (x *Exchange) Woke(now grid.Time) {
	if now >= x.wake {
		x.wake, x.due = 0, true
	}
}

// Settle looks, at the end of a step, if anything has changed and the last look is long enough ago.
func (x *Exchange) Settle(now grid.Time, fx *grid.Effects) {
	if !x.due {
		return
	}
	free := x.cfg.Worker.Idle()
	if nothing := free.CPU > 0 && len(x.asked)+len(x.cfg.Peers.WhereWorkWaits()) == 0 ||
		free.CPU <= 0 && (len(x.cfg.Peers.WithRoom()) == 0 || !x.cfg.Worker.Queued() && !x.cfg.Jobs.Waiting()); nothing {
		x.due = false
		return
	}
	if next := x.looked.Add(lookGap); now < next {
		x.wakeAt(now, next, fx)
		return
	}
	x.due, x.looked = false, now
	if free.CPU > 0 {
		x.askSome(now, free, fx)
		return
	}
	x.hintSome(now, fx)
}

// askSome asks nodes where work waits, in random order.
func (x *Exchange) askSome(now grid.Time, free grid.Resources, fx *grid.Effects) {
	for len(x.asked) > 0 && x.asked[0].until <= now {
		x.backoff.double(x.asked[0].node, now, x.timeout(x.asked[0].node), maxBackoff)
		x.asked = append(x.asked[:0], x.asked[1:]...)
	}
	next := grid.Never
	x.nodes = append(x.nodes[:0], x.cfg.Peers.WhereWorkWaits()...)
	for k := len(x.nodes); k > 0; k-- {
		i := x.cfg.Rand.IntN(k)
		id := x.nodes[i]
		x.nodes[i] = x.nodes[k-1]
		if until := x.backoff.until(id); until > now {
			next = min(next, until)
			continue
		}
		x.ask(now, id, free, fx)
	}
	for _, a := range x.asked {
		next = min(next, a.until)
	}
	x.wakeAt(now, next, fx)
}

// ask sends a pull, if the node is idle and there is none to that node yet.
func (x *Exchange) ask(now grid.Time, id grid.NodeID, free grid.Resources, fx *grid.Effects) {
	most := min(maxAsked, int((free.CPU+grid.CPU-1)/grid.CPU))
	for _, a := range x.asked {
		if a.node == id {
			return
		}
	}
	if len(x.asked) >= most || !x.cfg.Peers.Pulls(id) {
		return
	}
	until := now.Add(x.timeout(id))
	x.asked = append(x.asked, asked{id, until})
	fx.Send(id, grid.KindPull).Poll.Needs = free
	x.wakeAt(now, until, fx)
}

func (x *Exchange) timeout(id grid.NodeID) time.Duration { return minTimeout + 4*x.cfg.Peers.RTT(id) }

// hintSome tells idle nodes that work waits here that they would be given.
func (x *Exchange) hintSome(now grid.Time, fx *grid.Effects) {
	overdue := x.cfg.Worker.NextOverdue(now)
	x.wakeAt(now, overdue, fx)
	x.nodes = append(x.nodes[:0], x.cfg.Peers.WithRoom()...)
	next := grid.Never
	for k, told := len(x.nodes), 0; k > 0 && told < maxHints; k-- {
		i := x.cfg.Rand.IntN(k)
		id := x.nodes[i]
		x.nodes[i] = x.nodes[k-1]
		if until := x.hinted.until(id); until > now {
			next = min(next, until)
			continue
		}
		if !x.cfg.Jobs.Grants(now, id) && !x.cfg.Worker.Yields(now, x.cfg.Peers.Free(id), x.elsewhere(now, id)) {
			continue
		}
		x.hinted.set(id, now.Add(hintGap))
		fx.Send(id, grid.KindWaiting)
		next = min(next, now.Add(hintGap))
		told++
	}
	x.wakeAt(now, next, fx)
}

// elsewhere is how long that node would need for a task, if the task may go there.
func (x *Exchange) elsewhere(now grid.Time, to grid.NodeID) grid.Elsewhere {
	return func(owner grid.NodeID, id grid.JobID, spec *grid.JobSpec, class string) (float64, bool) {
		if !x.cfg.Jobs.MayMove(id) || !x.cfg.Peers.Pulls(owner) {
			return 0, false
		}
		return x.cfg.Peers.RunTimeAt(now, to, spec, class)
	}
}

// wakeAt sets the timer, unless an earlier one is pending.
func (x *Exchange) wakeAt(now, at grid.Time, fx *grid.Effects) {
	if at == grid.Never || x.wake > now && x.wake <= at {
		return
	}
	x.wake = max(at, now)
	fx.Wake(x.wake, grid.TimerPull, 0)
}
