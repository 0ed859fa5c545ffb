package grid

import (
	"math"
	"time"

	"skep/requirement"
)

// Ad is what a node says about itself. It is immutable once built.
type Ad struct {
	Node         NodeID
	Seq          Seq
	Name         string
	Capacity     Resources
	Free         Resources
	Backlog      time.Duration // expected time until a task that came now would start
	Speed        float64       // of one core, relative to the reference machine of the calibration
	Availability float64       // share of time the node is up and its cores are ours, 0 … 1
	Labels       []Label       // ordered by key; os and arch among them
	Engines      []string
	Rates        []Rate   // of its busiest classes, ordered by class
	Addrs        []string // multiaddresses it may be dialled at
	Coord        Coord    // where it is in the space of round-trip times; none from older nodes
	Draining     bool
	Leaving      bool
	Full         bool   // its disk is nearly full
	Private      bool   // it takes only what is submitted to it
	Away         bool   // what runs its tasks elsewhere takes none
	Sealed       []byte // the origin's own signed bytes; made and checked by drivers, forwarded unchanged
	AdWork
}

// AdWork is what an ad says of the tasks at a node, beside Backlog.
type AdWork struct {
	Price   Bid                     // reserve price, as in Quote; 0 = none is asked
	Outbid  Bid                     // the lowest bid that runs and may be suspended, as in Quote; 0 = none is
	Waits   Counts                  // as Backlog, of a task that needs one unit of a counted resource, in seconds
	Waiting bool                    // tasks wait there, at its worker or as their owner, that others may run
	Accept  *requirement.Expression // what it requires of jobs; nil = nothing, or something that only newer nodes know
	Hour    requirement.Hour        // there, if Accept asks for it
	Sharing
}

// Sharing is how the tasks of a node share its cores.
type Sharing struct {
	Least float64 // part of its full speed at which each runs at least; 0 = a task has its cores to itself
	Bids  float64 // sum of what those that run bid, each times its cores
}

// MinLeastSpeed is the lowest Sharing.Least: whoever gives a task to such a node waits for it accordingly longer.
const MinLeastSpeed = 0.05

func (w *AdWork) check(p *problems) {
	if !w.Waits.Valid() {
		p.addf("waits %.80q: want seconds from 1 to %d for at most %d kinds", w.Waits, MaxUnits, MaxKinds)
	}
	if w.Hour.OfDay > 23 || w.Hour.Day > 6 {
		p.addf("hour %d of day %d: want 0 to 23, and 0 to 6", w.Hour.OfDay, w.Hour.Day)
	}
	if w.Price < 0 || w.Price > MaxBid {
		p.addf("price %v: want 0 or more, and at most %v", w.Price, MaxBid)
	}
	if w.Outbid < 0 || w.Outbid > MaxBid {
		p.addf("outbid %v: want 0 or more, and at most %v", w.Outbid, MaxBid)
	}
	const most = 1e12
	if w.Least != 0 && !(w.Least >= MinLeastSpeed && w.Least <= 1) || !(w.Bids >= 0 && w.Bids <= most) {
		p.addf("sharing: least speed %g, bids %g: want 0 or %g to 1, and 0 to %g", w.Least, w.Bids, MinLeastSpeed, most)
	}
}

// SpeedOf returns at what part of its full speed a task of a bid with that need would run by this, where so many cores
// are left to tasks, of which so many are free: as in package proportional, but that a task which cannot use all that
// its bid gives it leaves nothing to others, so it is that or more.
func (s *Sharing) SpeedOf(bid Bid, need, free MilliCPU, cores float64) float64 {
	if s.Least == 0 || free >= need {
		return 1
	}
	b := bid.Number()
	return min(max(cores*b/(s.Bids+b*float64(need)/float64(CPU)), s.Least), 1)
}

// Slowest is how many times as long as alone a task may take at a node.
func (s *Sharing) Slowest() float64 {
	if s.Least == 0 {
		return 1
	}
	return 1 / max(s.Least, MinLeastSpeed)
}

// Seq orders a node's ads: by its boot count, then by a count within the boot.
type Seq struct{ Boot, N uint64 }

// Less reports whether s is older than t.
func (s Seq) Less(t Seq) bool { return s.Boot < t.Boot || s.Boot == t.Boot && s.N < t.N }

// Rate is what a node knows about a class: tasks per second.
type Rate struct {
	Class string
	Alpha float64 // arrival rate of submissions at this node
	Mu    float64 // execution rate of one slot of this node; 0 = not measured here
}

// OtherClass is the class that stands for all beyond a node's busiest.
const OtherClass = "other"

// Shut reports whether the node takes no new work at all, not even what is submitted to it.
func (a *Ad) Shut() bool { return a.Draining || a.Leaving || a.Full || a.Away }

// Closed reports whether the node takes no new work of other nodes.
func (a *Ad) Closed() bool { return a.Shut() || a.Private }

// Label returns the value of a label.
func (a *Ad) Label(key string) (string, bool) {
	for i := range a.Labels {
		if a.Labels[i].Key == key {
			return a.Labels[i].Value, true
		}
	}
	return "", false
}

// AdEntry is an ad in a digest: its hop count is outside the signature.
type AdEntry struct {
	Ad   *Ad
	Hops uint8
}

// Coord is a node's place in a space in which distances are round-trip times: a point, and a height for the
// last link, which every way there and back goes through. The zero value is no place.
type Coord struct {
	At     [3]float32 // seconds
	Height float32    // seconds, above 0
	Error  float32    // of distances from here, relative; above 0
}

// Bounds of coordinates.
const (
	MaxCoord      = 10 // seconds, of each number of a place
	MaxCoordError = 2
)

// Known reports whether c is a place.
func (c *Coord) Known() bool { return c.Error > 0 }

// Distance is the expected round-trip time between two places, seconds; 0 if either is none.
func (c *Coord) Distance(d *Coord) float64 {
	if !c.Known() || !d.Known() {
		return 0
	}
	sum := 0.0
	for k := range c.At {
		x := float64(c.At[k]) - float64(d.At[k])
		sum += x * x
	}
	return math.Sqrt(sum) + float64(c.Height) + float64(d.Height)
}

// check reports what is impossible in a coordinate. Comparisons are such that what is no number fails.
func (c *Coord) check(p *problems) {
	if *c == (Coord{}) {
		return
	}
	ok := c.Height > 0 && c.Height <= MaxCoord && c.Error > 0 && c.Error <= MaxCoordError
	for _, x := range c.At {
		ok = ok && x >= -MaxCoord && x <= MaxCoord
	}
	if !ok {
		p.addf("coordinate %v, height %g, error %g: want numbers within %d s, a height above 0, and an error above 0 and "+
			"at most %d",
			c.At, c.Height, c.Error, MaxCoord, MaxCoordError)
	}
}
