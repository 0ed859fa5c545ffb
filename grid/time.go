package grid

import (
	"math"
	"time"
)

// Time is the reading of a driver's clock in nanoseconds. It never goes back, goes on in suspend, starts anywhere, and
// means nothing on another node: nothing on the wire is a Time.
type Time int64

// Never is later than every time.
const Never Time = math.MaxInt64

// Add returns t + d, and Never where that would overflow.
func (t Time) Add(d time.Duration) Time {
	if d > 0 && t > Never-Time(d) {
		return Never
	}
	return t + Time(d)
}

// Sub returns t − u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Seconds converts a duration in seconds, as rates and completion times are computed, to a Duration; NaN and what a
// Duration cannot hold become the longest one.
func Seconds(s float64) time.Duration {
	if !(s < float64(math.MaxInt64)/1e9) {
		return math.MaxInt64
	}
	if s < 0 {
		return 0
	}
	return time.Duration(s * 1e9)
}
