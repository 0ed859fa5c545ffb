package mesh

import "math"

// Network is the resources that messages share, and the way from each host to each other one.
type Network struct {
	Capacity []*Trace  // bytes a second, by resource
	Path     [][]int   // resources, by host from × hosts + host to
	Latency  []float64 // seconds, so too
	Hosts    int

	SlowStart *SlowStart // nil: messages leave as fast as links allow
}

// flow is a message while it leaves its sender.
type flow struct {
	from, to int // ranks
	tag      int
	left     float64 // bytes
	rate     float64 // bytes a second
	path     []int
	latency  float64

	connection *connection // nil: without slow start
	stalled    bool        // it takes nothing of its path
}

// flows are all messages that are being sent.
type flows struct {
	net    *Network
	active []flow
	count  []int // of flows by resource
	at     float64
	until  float64 // when a capacity changes, a flow has to wait or goes on, or the first one ends

	connections map[[2]int]*connection // by hosts
}

func newFlows(n *Network, now float64) *flows {
	return &flows{net: n, count: make([]int, len(n.Capacity)), at: now, until: math.Inf(1),
		connections: map[[2]int]*connection{}}
}

// start adds a flow; share has to follow.
func (f *flows) start(x flow) {
	f.active = append(f.active, x)
	f.occupy(&x, 1)
}

// advance moves all flows on to a time at which no rate has changed before.
func (f *flows) advance(now float64) {
	for k := range f.active {
		x := &f.active[k]
		x.left -= x.rate * (now - f.at)
		if x.connection != nil {
			x.connection.sent(x.rate*(now-f.at), now)
		}
	}
	f.at = now
}

// ended takes the flows out that have ended, in the order in which they were started.
func (f *flows) ended(dst []flow) []flow {
	f.drop(func(x *flow) bool {
		if x.left > 1e-9*x.rate { // a nanosecond
			return false
		}
		dst = append(dst, *x)
		return true
	})
	return dst
}

// drop takes out flows that have ended or go nowhere any more.
func (f *flows) drop(gone func(*flow) bool) {
	kept := f.active[:0]
	for k := range f.active {
		x := &f.active[k]
		if !gone(x) {
			kept = append(kept, *x)
			continue
		}
		if !x.stalled {
			f.occupy(x, -1)
		}
	}
	f.active = kept
}

// occupy adds a flow to those of its path, or takes it off.
func (f *flows) occupy(x *flow, by int) {
	for _, r := range x.path {
		f.count[r] += by
	}
}

// stall takes the flows off their paths whose windows are used up, and puts those back that go on.
func (f *flows) stall() {
	for k := range f.active {
		x := &f.active[k]
		if x.connection == nil {
			continue
		}
		x.connection.turn(f.at, x.rate)
		switch waits := x.connection.waits; {
		case waits && !x.stalled:
			f.occupy(x, -1)
		case !waits && x.stalled:
			f.occupy(x, 1)
		}
		x.stalled = x.connection.waits
	}
}

// share gives each flow its rate.
func (f *flows) share() {
	f.until = math.Inf(1)
	f.stall()
	for k := range f.active {
		x := &f.active[k]
		if x.stalled {
			x.rate, f.until = 0, min(f.until, x.connection.until(f.at, 0))
			continue
		}
		x.rate = math.Inf(1)
		if len(x.path) == 0 { // within a host it takes no time
			x.left, x.rate = 0, 1
		}
		for _, r := range x.path {
			capacity, until := f.net.Capacity[r].Value(f.at)
			x.rate = min(x.rate, capacity/float64(f.count[r]))
			f.until = min(f.until, until)
		}
		f.until = min(f.until, f.at+x.left/x.rate)
		if x.connection != nil {
			f.until = min(f.until, x.connection.until(f.at, x.rate))
		}
	}
}
