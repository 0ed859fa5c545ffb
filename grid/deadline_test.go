package grid

import (
	"strings"
	"testing"
	"time"
)

func TestWorthOfAResult(t *testing.T) {
	soft, hard := Deadline{At: 2 * time.Hour, Worthless: 6 * time.Hour}, Deadline{At: 2 * time.Hour}
	for _, x := range []struct {
		d     Deadline
		after time.Duration
		want  float64
	}{
		{Deadline{}, 1000 * time.Hour, 1},
		{hard, 2 * time.Hour, 1}, {hard, 2*time.Hour + 1, 0},
		{soft, 0, 1}, {soft, 2 * time.Hour, 1}, {soft, 3 * time.Hour, 0.75}, {soft, 5 * time.Hour, 0.25},
		{soft, 6 * time.Hour, 0}, {soft, 7 * time.Hour, 0},
	} {
		if got := x.d.Worth(x.after); got != x.want {
			t.Errorf("%+v after %v: worth %v, want %v", x.d, x.after, got, x.want)
		}
	}
	if soft.Last() != 6*time.Hour || hard.Last() != 2*time.Hour || (Deadline{}).Last() != 0 {
		t.Error("what is worth nothing any more")
	}
}

func TestDeadlinesAreChecked(t *testing.T) {
	for _, x := range []struct {
		d    Deadline
		want string // "" = nothing is wrong
	}{
		{Deadline{}, ""},
		{Deadline{At: time.Second}, ""},
		{Deadline{MaxDeadline - 1, MaxDeadline}, ""},
		{Deadline{At: -time.Second}, "deadline -1s"},
		{Deadline{At: time.Millisecond}, "deadline 1ms"},
		{Deadline{At: MaxDeadline + 1}, "deadline 8784h"},
		{Deadline{Worthless: time.Hour}, "without deadline.at"},
		{Deadline{time.Hour, time.Hour}, "deadline.worthless 1h0m0s"},
		{Deadline{time.Hour, -time.Hour}, "deadline.worthless -1h0m0s"},
	} {
		var p problems
		x.d.check(&p)
		if err := p.err(); (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.d, err, x.want)
		}
	}
}
