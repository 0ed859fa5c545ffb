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

// pair is a node and a peer of it.
type pair struct{ node, peer int32 }

// offender is a peer that offended a node, as that node's driver counts it.
type offender struct {
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
	o := w.offenders[pair{i, j}]
	if o == nil {
		o = &offender{allowance: maxOffences, last: w.now, block: minBlock}
		if w.offenders == nil {
			w.offenders = make(map[pair]*offender)
		}
		w.offenders[pair{i, j}] = o
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
	o := w.offenders[pair{i, j}]
	return o != nil && w.now < o.until
}
