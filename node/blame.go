package node

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"skep/grid"
)

// blames is how the tasks of each class ended at each node that this one gave some to: whether a node fails a class
// that others run. It rests on results alone, on nothing that anybody claims.
type blames struct {
	classes []*blamed // by name
}

// blamed is of one class.
type blamed struct {
	class string
	all   tally
	nodes []blame // by identity
	wary  int     // of these, those that are or were avoided
}

// blame is of one class at one node.
type blame struct {
	node  grid.NodeID
	own   tally
	until grid.Time // it is avoided; then one task tries it; 0 = it is like any other
	times int32     // that it was avoided, lately
	tried bool      // a task was sent to try it
	shown bool      // it was avoided at the last look
}

// tally counts ends, decayed.
type tally struct {
	good, bad float64
	at        grid.Time
}

// Bounds of what is kept, and of how long is avoided.
const (
	keepBlamed   = 64  // classes
	keepBlames   = 256 // nodes of each
	fewBad       = 3   // failures from which on a node can be avoided
	sure         = 3   // standard deviations beyond what failures elsewhere explain
	seldom       = 0.05
	firstAvoided = time.Minute
	longAvoided  = time.Hour // and after that without a failure the next time is as short as the first
)

// fade lets what was counted fade, by half in the time in which results are forgiven.
func (t *tally) fade(now grid.Time) {
	if d := now.Sub(t.at).Seconds(); d > 0 {
		w := math.Exp2(-d / forgiven)
		t.good, t.bad, t.at = t.good*w, t.bad*w, now
	}
}

func (t *tally) add(now grid.Time, good bool) {
	t.fade(now)
	if good {
		t.good++
	} else {
		t.bad++
	}
}

// elsewhere is the share of the class's tasks that fail at others; who has not been seen to fail is believed not to.
func (c *blamed) elsewhere(now grid.Time, b *blame) float64 {
	all, own := c.all, b.own // looking changes nothing, or a view would
	all.fade(now)
	own.fade(now)
	good, bad := max(all.good-own.good, 0), max(all.bad-own.bad, 0)
	return max(bad/(good+bad+1), seldom)
}

// guilty reports whether a node fails so much that what happens elsewhere does not explain it.
func (c *blamed) guilty(now grid.Time, b *blame) bool {
	p, count := c.elsewhere(now, b), b.own.good+b.own.bad
	return b.own.bad > fewBad-0.5 && b.own.bad >= count/2 && b.own.bad > count*p+sure*math.Sqrt(count*p*(1-p))
}

func (s *blames) class(name string) *blamed {
	if at, ok := s.find(name); ok {
		return s.classes[at]
	}
	return nil
}

func (s *blames) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.classes, name, func(c *blamed, name string) int { return strings.Compare(c.class, name) })
}

// blame returns what is known of a node, nil if nothing is.
func (c *blamed) blame(id grid.NodeID) *blame {
	if at, ok := c.search(id); ok {
		return &c.nodes[at]
	}
	return nil
}

func (c *blamed) search(id grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(c.nodes, id, func(b blame, id grid.NodeID) int { return b.node.Compare(id) })
}

// learn counts an end, and reports whether that changes who is avoided.
func (s *blames) learn(now grid.Time, class string, id grid.NodeID, good bool) bool {
	at, ok := s.find(class)
	if !ok {
		if len(s.classes) >= keepBlamed {
			s.forget()
			at, _ = s.find(class)
		}
		s.classes = slices.Insert(s.classes, at, &blamed{class: strings.Clone(class)})
	}
	c := s.classes[at]
	at, ok = c.search(id)
	if !ok {
		if len(c.nodes) >= keepBlames {
			c.forget()
			at, _ = c.search(id)
		}
		c.nodes = slices.Insert(grid.Room(c.nodes, few), at, blame{node: id})
	}
	return c.judge(now, &c.nodes[at], good)
}

// judge counts an end and draws the consequence.
func (c *blamed) judge(now grid.Time, b *blame, good bool) bool {
	quiet := now.Sub(b.own.at) >= longAvoided
	c.all.add(now, good)
	b.own.add(now, good)
	switch {
	case good && b.until > 0: // the task that tried it, or one that was there before
		c.wary--
		b.until, b.tried, b.own.bad = 0, false, 0
		return true
	case good || b.until == 0 && !c.guilty(now, b):
		return false
	case b.until == 0:
		if quiet {
			b.times = 0
		}
		c.wary++
	case now < b.until && !b.tried: // it had this one before
		return false
	}
	b.times++
	b.until, b.tried = now.Add(b.span()), false
	return true
}

// avoided reports whether the node is left out now: not where the class has come to fail elsewhere too.
func (c *blamed) avoided(now grid.Time, b *blame) bool {
	return now < b.until && 2*c.elsewhere(now, b) < b.own.bad/(b.own.good+b.own.bad)
}

// try notes that a task was given to a node which was avoided: no other one is, until that has ended or as long as before
// has passed.
func (b *blame) try(now grid.Time) {
	if b.until > 0 && now >= b.until {
		b.until, b.tried = now.Add(b.span()), true
	}
}

// span is how long the node is avoided now.
func (b *blame) span() time.Duration {
	return min(firstAvoided<<min(b.times-1, 10), longAvoided)
}

// forget makes room: the class of which nothing was heard for longest goes.
func (s *blames) forget() {
	out := 0
	for i, c := range s.classes {
		if c.all.at < s.classes[out].all.at {
			out = i
		}
	}
	s.classes = slices.Delete(s.classes, out, out+1)
}

func (c *blamed) forget() {
	out := 0
	for i := range c.nodes {
		if c.nodes[i].own.at < c.nodes[out].own.at {
			out = i
		}
	}
	if c.nodes[out].until > 0 {
		c.wary--
	}
	c.nodes = slices.Delete(c.nodes, out, out+1)
}

// words tells what a node is avoided for.
func (b *blame) words() string {
	return fmt.Sprintf("%.0f of %.0f failed there", max(b.own.bad, 1), max(b.own.good+b.own.bad, 1))
}
