package mesh

// SlowStart is how TCP sends the first bytes after a pause: as many as a window holds, then none until a round trip
// after the first of them; with each round trip the window grows by what was sent [2, sections 3.1 and 4.1]. A link
// whose window holds what it carries in a round trip does not wait any more.
type SlowStart struct {
	Window float64 // bytes, of a new connection and after a pause
	Pause  float64 // seconds without a byte after which the window is as at first
}

// connection is that from one host to another.
type connection struct {
	trip   float64 // round trip, seconds
	window float64 // bytes
	used   float64 // of them, in this round
	began  float64 // the round, seconds
	last   float64 // byte, when
	waits  bool    // the window is used up
}

// connection returns that of two hosts; nil where messages leave as fast as links allow.
func (f *flows) connection(from, to int, latency float64) *connection {
	s := f.net.SlowStart
	if s == nil {
		return nil
	}
	id := [2]int{from, to}
	c := f.connections[id]
	if c == nil {
		c = &connection{trip: 2 * latency, window: s.Window, began: f.at, last: f.at}
		f.connections[id] = c
	}
	if f.at-c.last > s.Pause {
		c.window, c.used, c.began, c.waits = s.Window, 0, f.at, false
	}
	return c
}

// sent counts bytes that have left by now.
func (c *connection) sent(bytes, now float64) {
	if bytes > 0 {
		c.used, c.last = c.used+bytes, now
	}
}

// turn begins a new round where the last one is over, and says whether the window is used up until the next: to what
// leaves in a nanosecond at the rate at which bytes have left, since no time is told apart from a much later one.
func (c *connection) turn(now, rate float64) {
	const instant = 1e-9
	if now >= c.began+c.trip-instant {
		c.window, c.used, c.began, c.waits = c.window+c.used, 0, now, false
	}
	c.waits = c.waits || c.window-c.used <= rate*instant
}

// until is when the window will be used up at a rate, or when the round is over.
func (c *connection) until(now, rate float64) float64 {
	over := c.began + c.trip
	if c.waits {
		return over
	}
	return min(over, now+(c.window-c.used)/rate)
}
