package sim

import (
	"time"

	"skep/grid"
	"skep/sim/event"
)

// Offences, as the real driver counts them: it tolerates maxOffences at once and one more in each forgiveAfter, then
// ends the connection and refuses others for minBlock, doubled each time up to maxBlock.
const (
	maxOffences  = 20
	forgiveAfter = 10 * time.Second
	minBlock     = time.Minute
	maxBlock     = time.Hour
)

// offender is a peer that offended a node.
type offender struct {
	peer      int32
	allowance float64 // offences that are still tolerated
	last      grid.Time
	block     time.Duration
	until     grid.Time
}

// countOffence counts an offence of a peer against node i, and blocks the peer when it exceeds its allowance.
func (w *World) countOffence(i int32, id grid.NodeID) {
	j := w.index(id)
	if j < 0 || j == i {
		return
	}
	h := &w.hosts[i]
	var o *offender
	for k := range h.offenders {
		if h.offenders[k].peer == j {
			o = &h.offenders[k]
		}
	}
	if o == nil {
		h.offenders = append(h.offenders, offender{peer: j, allowance: maxOffences, last: w.now, block: minBlock})
		o = &h.offenders[len(h.offenders)-1]
	}
	o.allowance = min(o.allowance+w.now.Sub(o.last).Seconds()/forgiveAfter.Seconds(), maxOffences)
	o.last = w.now
	if o.allowance--; o.allowance >= 0 || w.now < o.until {
		return
	}
	o.until, o.allowance = w.now.Add(o.block), maxOffences
	o.block = min(2*o.block, maxBlock)
	w.counts.CutOff++
	w.push(w.now, kindBlock, i, 0, uint64(j))
}

// endBlocked ends a node's connection to a peer that it has blocked.
func (w *World) endBlocked(e *event.Event) {
	if name, _ := w.connect(e.Node, int32(e.Arg)); w.conns[name].up {
		w.closeConn(name)
	} else {
		w.maintainConn(name)
	}
}

// isBlocked reports whether node i refuses connections to node j.
func (w *World) isBlocked(i, j int32) bool {
	for k := range w.hosts[i].offenders {
		if o := &w.hosts[i].offenders[k]; o.peer == j && w.now < o.until {
			return true
		}
	}
	return false
}
