package machine

import (
	"context"
	"time"

	"skep/requirement"
)

// hourInterval is how often the wall clock is read: so late an hour may begin, also after the clock was set.
const hourInterval = 10 * time.Second

// WatchHour reports the hour of the day, by the machine's wall clock and time zone, at once and whenever it changes,
// until ctx ends.
func WatchHour(ctx context.Context, report func(requirement.Hour)) {
	tick := time.NewTicker(hourInterval)
	defer tick.Stop()
	for last := (requirement.Hour{}); ; {
		if h := hourOf(time.Now()); h != last {
			last = h
			report(h)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func hourOf(t time.Time) requirement.Hour {
	return requirement.Hour{Known: true, OfDay: uint8(t.Hour()), Day: uint8(t.Weekday())}
}
