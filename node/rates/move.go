package rates

import "time"

// moveCost is what moving a task to another node costs, as measured: a time for what both nodes do about it, besides
// the round trip to that node, and a time for each byte that the node has to fetch [thesis of doc.go, 3.5.2: the cost
// belongs to the machine that the task moves to].
type moveCost struct {
	fixed   float64 // seconds, decayed mean; 0 = not measured
	perByte float64 // seconds, decayed mean; 0 = not measured
}

const (
	maxOverhead = 60.0 // seconds, of all but the round trip

	// firstOverhead, plus twice what was measured, bounds what one result can teach: the value depends on the run time
	// that the worker reports.
	firstOverhead = 0.1 // seconds

	maxPerByte = 1e-5 // seconds: a node that gets 100 kB a second
)

// Overhead is the expected cost in seconds of moving a task with inputs of a size to a node with a round trip. It is 0
// if rates are given.
func (e *Estimator) Overhead(rtt time.Duration, bytes float64) float64 {
	if e.given {
		return 0
	}
	return e.move.fixed + rtt.Seconds() + min(e.move.perByte*bytes, maxOverhead)
}

// Moved updates the cost of moving a task: the time between choice and result beyond waiting and running at the worker,
// seconds. What exceeds the round trip is charged to the bytes, if there are any. A worker may have had them already:
// the mean tells how often that is so.
func (e *Estimator) Moved(seconds float64, rtt time.Duration, bytes float64) {
	if e.given {
		return
	}
	beyond := min(max(seconds-rtt.Seconds(), 0), maxOverhead)
	if bytes > 0 {
		x := min(max(beyond-e.move.fixed, 0)/bytes, maxPerByte)
		if e.move.perByte == 0 {
			e.move.perByte = x
		}
		e.move.perByte += meanWeight * (x - e.move.perByte)
		return
	}
	beyond = min(beyond, 2*e.move.fixed+firstOverhead)
	if e.move.fixed == 0 {
		e.move.fixed = beyond
		return
	}
	e.move.fixed += meanWeight * (beyond - e.move.fixed)
}
