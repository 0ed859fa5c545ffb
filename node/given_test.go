package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// A node with given rates sends them from the start, and uses them.
func TestGivenRatesAreUsed(t *testing.T) {
	given := []grid.Rate{{Class: "long", Alpha: 0.5, Mu: 0.25}, {Class: "short", Alpha: 3, Mu: 4}}
	r := newRig(t, func(c *Config) { c.Given = given })
	r.join(fastID, 2, "linux")
	r.deliver(fastID, grid.KindPoll, func(m *grid.Message) {
		m.Poll = grid.Poll{ID: 1, Class: "long", Speed: 1, Cores: 1000, Mine: 1}
	})
	s := r.one(grid.KindState).Msg.State
	if len(s.Rates) != 2 || s.Rates[0] != given[0] || s.Rates[1] != given[1] || s.ECT != 4*time.Second {
		t.Fatalf("tells %v and expects %v, want what was given and 4s", s.Rates, s.ECT)
	}
}

func TestGivenRatesAreChecked(t *testing.T) {
	c := config(selfID)
	c.Given = []grid.Rate{{Class: "b", Mu: 1}, {Class: "a"}, {Class: "c", Alpha: -1, Mu: 1e300}}
	err := c.Check()
	for _, want := range []string{`class "a" comes after "b"`, `class "a" has no execution rate`, `rate -1 of class "c"`,
		`rate 1e+300 of class "c"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("does not say %q: %v", want, err)
		}
	}
}
