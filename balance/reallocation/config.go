package reallocation

import (
	"fmt"
	"strings"
	"time"

	"skep/balance/utility"
	"skep/grid"
)

// Config says when a machine allocates its cores anew, and by which utility. The zero value is never.
type Config struct {
	// Every is the time between two ticks; 0 = there are none, and no other events. Lower follows what comes sooner, and
	// has tasks stand still more often.
	Every time.Duration `json:",omitempty"`

	// Arrivals is the least time from an event to one that an arrival makes; 0 = arrivals make none.
	Arrivals time.Duration `json:",omitempty"`

	// Utility is the name of a function of package utility; "" = balanced.
	Utility string `json:",omitempty"`
}

// Least is the shortest time between two events.
const Least = time.Second

// usual is the utility of a configuration that names none.
const usual = "balanced"

// On reports whether cores are ever allocated anew.
func (c *Config) On() bool { return c.Every > 0 }

// SetTimes sets Every and Arrivals as a setting says them: never, TICK, or TICK,LEAST.
func (c *Config) SetTimes(s string) error {
	if s == "never" {
		c.Every, c.Arrivals = 0, 0
		return nil
	}
	tick, least, arrivals := strings.Cut(s, ",")
	x := Config{Utility: c.Utility}
	var err error
	if x.Every, err = time.ParseDuration(tick); err == nil && arrivals {
		x.Arrivals, err = time.ParseDuration(least)
	}
	if err != nil || x.Every < Least || arrivals && x.Arrivals < Least {
		return fmt.Errorf("%.40q: want never, a time of 1s or more as in 10m, or 10m,30s: then also when a task comes, "+
			"30s after the last time at the soonest", s)
	}
	*c = x
	return nil
}

// SetUtility sets Utility.
func (c *Config) SetUtility(s string) error {
	if _, err := utility.Parse(s); err != nil {
		return err
	}
	c.Utility = s
	return nil
}

// Ticks says when the cores of a machine are allocated anew.
type Ticks struct {
	cfg  *Config
	last grid.Time // of the last event
	next grid.Time // when the next one is; 0 = nothing waits
}

// NewTicks returns the events of a machine that begins at a time.
func NewTicks(c *Config, now grid.Time) Ticks { return Ticks{cfg: c, last: now} }

// Waits tells that a task waits or is suspended; came = it has just come. It returns when to ask for the next event,
// 0 = that was told before, and is no later.
func (t *Ticks) Waits(now grid.Time, came bool) grid.Time {
	if !t.cfg.On() {
		return 0
	}
	at := t.last.Add(t.cfg.Every)
	if came && t.cfg.Arrivals > 0 {
		at = min(at, t.last.Add(t.cfg.Arrivals))
	}
	if at = max(at, now); t.next != 0 && t.next <= at {
		return 0
	}
	t.next = at
	return at
}

// Due reports whether an event is due, and that it is held now.
func (t *Ticks) Due(now grid.Time) bool {
	if t.next == 0 || now < t.next {
		return false
	}
	t.last, t.next = now, 0
	return true
}
