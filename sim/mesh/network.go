package mesh

import "math"

// Network is the resources that messages share, and the way from each host to each other one.
type Network struct {
	Capacity []*Trace  // bytes a second, by resource
	Path     [][]int   // resources, by host from × hosts + host to
	Latency  []float64 // seconds, so too
	Hosts    int
}

// flow is a message while it leaves its sender.
type flow struct {
	from, to int // ranks
	tag      int
	left     float64 // bytes
	rate     float64 // bytes a second
	path     []int
	latency  float64
}

// flows are all messages that are being sent.
type flows struct {
	net    *Network
	active []flow
	count  []int // of flows by resource
	at     float64
	until  float64 // when a capacity changes, or the first flow ends
}

func newFlows(n *Network, now float64) *flows {
	return &flows{net: n, count: make([]int, len(n.Capacity)), at: now, until: math.Inf(1)}
}

// start adds a flow; share has to follow.
func (f *flows) start(x flow) {
	f.active = append(f.active, x)
	for _, r := range x.path {
		f.count[r]++
	}
}

// advance moves all flows on to a time at which no rate has changed before.
func (f *flows) advance(now float64) {
	for k := range f.active {
		f.active[k].left -= f.active[k].rate * (now - f.at)
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
		for _, r := range x.path {
			f.count[r]--
		}
	}
	f.active = kept
}

// share gives each flow its rate.
func (f *flows) share() {
	f.until = math.Inf(1)
	for k := range f.active {
		x := &f.active[k]
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
	}
}
