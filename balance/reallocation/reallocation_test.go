package reallocation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"skep/balance/utility"
	"skep/grid"
)

func TestSettings(t *testing.T) {
	for s, want := range map[string]Config{
		"never": {}, "10m": {Every: 10 * time.Minute},
		"1h,30s": {Every: time.Hour, Arrivals: 30 * time.Second},
	} {
		var c Config
		if err := c.SetTimes(s); err != nil || c != want {
			t.Errorf("%s: %+v, %v: want %+v", s, c, err, want)
		}
	}
	for _, s := range []string{"", "10", "500ms", "10m,", "10m,0s", "-1h", "10m,1s,1s"} {
		c := Config{Every: time.Minute}
		err := c.SetTimes(s)
		if err == nil || !strings.Contains(err.Error(), "want never, a time") || c.Every != time.Minute {
			t.Errorf("%q: %+v, %v: want an error and nothing changed", s, c, err)
		}
	}
	var c Config
	if err := c.SetUtility("um_p6"); err == nil || !strings.Contains(err.Error(), "um_p5") || c.Utility != "" {
		t.Errorf("%+v, %v: want an error that names the functions", c, err)
	}
}

// Events are a tick apart, and an arrival makes one no sooner than its least time after the last.
func TestTicks(t *testing.T) {
	second := func(n int) grid.Time { return grid.Time(n) * grid.Time(time.Second) }
	k := NewTicks(&Config{Every: time.Minute, Arrivals: 10 * time.Second}, 0)
	if at := k.Waits(second(3), false); at != second(60) {
		t.Errorf("what waits is seen to at %v: want at 60 s", at)
	}
	if at := k.Waits(second(3), true); at != second(10) {
		t.Errorf("what comes is seen to at %v: want at 10 s", at)
	}
	if at := k.Waits(second(4), true); at != 0 {
		t.Errorf("another event at %v: want the one that was told", at)
	}
	if k.Due(second(9)) || !k.Due(second(10)) || k.Due(second(10)) {
		t.Error("want one event, at 10 s")
	}
	if at := k.Waits(second(50), true); at != second(50) {
		t.Errorf("what comes late is seen to at %v: want at once", at)
	}
	never := NewTicks(new(Config), 0)
	if at := never.Waits(second(3), true); at != 0 || never.Due(second(100)) {
		t.Error("want no event where there are none")
	}
}

// What bids most per core runs; what runs goes on where the gain is small, and where nobody wants its cores.
func TestChoose(t *testing.T) {
	bid := func(b, cores float64, runs bool) Item {
		return Item{Cores: cores, Runs: runs, Facts: utility.Facts{Value: b, Length: 100, Remaining: 100}}
	}
	big := bid(9, 1, false)
	big.Memory = 10
	for name, x := range map[string]struct {
		items []Item
		want  []bool
	}{
		"a higher bid":        {[]Item{bid(1, 1, true), bid(2, 1, true), bid(4, 1, false)}, []bool{false, true, true}},
		"an equal bid":        {[]Item{bid(1, 1, true), bid(1, 1, true), bid(1, 1, false)}, []bool{true, true, false}},
		"hardly more":         {[]Item{bid(1, 2, true), bid(1.05, 2, false)}, []bool{true, false}},
		"two small for a big": {[]Item{bid(3, 2, true), bid(2, 1, false), bid(2, 1, false)}, []bool{false, true, true}},
		"no memory":           {[]Item{bid(1, 2, true), big}, []bool{true, false}},
		"room for both":       {[]Item{bid(0, 1, true), bid(2, 1, false)}, []bool{true, true}},
		"nothing":             {nil, nil},
	} {
		c := NewChooser(&Config{Utility: "um_p1"})
		if got := c.Choose(2, 8, x.items); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v runs: want %v", name, got, x.want)
		}
	}
}

// The usual function lets what has waited long go before what came just now, and what is nearly done end.
func TestWaitingCounts(t *testing.T) {
	task := func(waited, left float64, runs bool) Item {
		return Item{Cores: 1, Runs: runs, Facts: utility.Facts{Value: 100, Length: 100, Waited: waited, Remaining: left}}
	}
	c := NewChooser(new(Config))
	got := c.Choose(1, 0, []Item{task(0, 90, true), task(1000, 100, false)})
	if !slices.Equal(got, []bool{false, true}) {
		t.Errorf("%v runs: want what has waited long", got)
	}
	got = c.Choose(1, 0, []Item{task(0, 2, true), task(50, 100, false)})
	if !slices.Equal(got, []bool{true, false}) {
		t.Errorf("%v runs: want what is nearly done", got)
	}
	if c.Worth(0) <= c.Worth(1) {
		t.Errorf("worth %g and %g: want what is nearly done to be worth more", c.Worth(0), c.Worth(1))
	}
}
