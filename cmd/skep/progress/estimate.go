package progress

import "time"

// minObserved is how long work is watched before its end is estimated.
const minObserved = 2 * time.Second

// estimate estimates when work ends, from the mean rate since it was first seen: what was done before took an unknown
// time.
type estimate struct {
	began time.Time
	first float64 // share that was done then
	share float64
	what  string
}

// note takes the share that is done. Other work, or less than before, begins anew.
func (e *estimate) note(now time.Time, what string, share float64) {
	if e.began.IsZero() || what != e.what || share < e.share {
		*e = estimate{began: now, first: share, what: what}
	}
	e.share = share
}

// left returns the time until the end; 0 if it is not known.
func (e *estimate) left(now time.Time) time.Duration {
	spent, done := now.Sub(e.began), e.share-e.first
	if spent < minObserved || done <= 0 || e.share >= 1 {
		return 0
	}
	left := float64(spent) * (1 - e.share) / done
	return time.Duration(min(left, float64(1000*time.Hour)))
}
