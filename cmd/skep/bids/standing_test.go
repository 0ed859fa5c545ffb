package bids

import (
	"strings"
	"testing"

	v1 "skep/node/api/v1"
)

// A node tells the places of what is ready to start: what has none may be the first by its bid, and lack its inputs.
func TestLineText(t *testing.T) {
	first, third := uint32(0), uint32(2)
	for _, x := range []struct {
		line *v1.Line
		want string
	}{
		{nil, ""},
		{&v1.Line{Order: "bid", Before: &first}, "in line there by order bid: nothing waits before it (told"},
		{&v1.Line{Order: "bid", Before: &third}, "in line there by order bid: 2 before it (told"},
		{&v1.Line{Order: "fair", More: 64},
			"in line there by order fair: has no place in line yet, or not among the next 64 (told"},
	} {
		if got := LineText(&v1.Task{Standing: v1.Standing{Line: x.line}}); !strings.HasPrefix(got, x.want) ||
			x.want == "" && got != "" {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
