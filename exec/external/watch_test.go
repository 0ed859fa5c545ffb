package external

import (
	"slices"
	"testing"
	"time"
)

// Looks come often while something changes, seldom while nothing does or nobody answers, and never while there is
// nothing to look at.
func TestPace(t *testing.T) {
	const maxPoll, maxRetry = 5 * time.Second, 30 * time.Second
	p, now := pace{poll: time.Second, maxPoll: maxPoll, maxRetry: maxRetry}, time.Now()
	var pauses []time.Duration
	for range 12 {
		pauses = append(pauses, p.next(now, true, false))
	}
	if pauses[0] != time.Second || pauses[11] != maxPoll || !slices.IsSorted(pauses) {
		t.Errorf("pauses %v: want from 1 s to %v", pauses, maxPoll)
	}
	if d := p.next(now, true, true); d != time.Second {
		t.Errorf("after a change: %v", d)
	}
	p.next(now, false, false)
	for i := range 5 { // many who hurry do not put it off
		later := time.Duration(i) * 200 * time.Millisecond
		if d := p.hurry(now.Add(later)); d != time.Second-later {
			t.Errorf("look in %v after the %dth news: want a second after the first", d, i)
		}
	}
	p.silent = true
	for range 10 {
		p.next(now, true, false)
	}
	if d := p.hurry(now); d != maxRetry {
		t.Errorf("while nobody answers: %v, also with news: want %v", d, maxRetry)
	}
}
