package marketplace

import (
	"math"
	"slices"
	"strings"
	"testing"

	"skep/balance/market"
)

// still lists the protocols that do not move tasks.
func still() []string {
	return slices.DeleteFunc(market.Names(), func(name string) bool {
		p, _ := market.Parse(name)
		return p.Migrates
	})
}

// One owner that hears of everything at once is a matcher: the same tasks end at the same times. Left out is where news
// of an arrival, which a matcher does not get, change more than what is known: a matcher that goes by the last news,
// and psp while background load takes all of a server, since each news place one of the tasks that wait for it.
func TestOneOwnerIsAMatcher(t *testing.T) {
	for seed := range uint64(25) {
		s := drawn(seed)
		s.Delay, s.PerSize, s.Readings.LastNews = 0, 0, false
		for _, name := range still() {
			if name == "psp" && s.Background.Share > 0 {
				continue
			}
			want := ran(t, s, name).books
			s.Owners = 1
			got := ran(t, s, name).books
			s.Owners = 0
			if got.messages = want.messages; got != want {
				t.Errorf("%s: %s: one owner has %+v, a matcher %+v", s.Name, name, got, want)
			}
		}
	}
}

// Each task ends once also where several owners send theirs to the same servers, with and without tasks sent ahead.
func TestEveryTaskOfOwnersEndsOnce(t *testing.T) {
	for seed := range uint64(25) {
		s := drawn(seed)
		s.Owners, s.Ahead = int(seed%5), int(seed/5%3)
		for _, name := range still() {
			e := ran(t, s, name)
			if b := &e.books; b.back > b.created || b.back < b.created && !e.p.Reserve {
				t.Errorf("%s, %d owners, %d ahead: %s: %d results of %d tasks", s.Name, s.Owners, s.Ahead, name, b.back,
					b.created)
			}
		}
	}
}

// A task that is sent ahead fills the time in which messages are on their way: one server that never waits for them is
// a queue without delay, but for the way to the matcher, to the client, to the server and back.
func TestAhead(t *testing.T) {
	const load, second, delay = 0.7, 1.40714, 0.05
	s := system(func(s *System) {
		s.Load, s.Servers.Count, s.Tasks.Weights, s.Delay = load, 1, [2]float64{1, 1}, delay
	})
	o := DefaultOptions()
	o.Protocols, o.Replications, o.Measured = []string{"fifo"}, 8, 20_000
	ct := func(ahead int) float64 {
		s.Ahead = ahead
		return float64(mustRun(t, s, o).Results[0].CT.Mean)
	}
	instant := 1 + load*second/2/(1-load) + 4*delay
	if none, some := ct(0), ct(100); none < 1.2*instant || math.Abs(some-instant) > 0.05*instant {
		t.Errorf("mean times %.3f and %.3f with no task ahead and many, want a good deal more than %.3f and just that",
			none, some, instant)
	}
}

// Who waits at a server of exclusive protocols goes in the protocol's order.
func TestOrderOfTasksAhead(t *testing.T) {
	for name, want := range map[string]uint64{"cda": 3, "fifo": 2, "sjf": 4} {
		p, err := market.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		s := server{speed: 1, units: 1, discipline: discipline{p.Serving, p.Order}}
		tasks := []*task{{query: market.Query{ID: 1, Size: 1, Bid: 1}}, {query: market.Query{ID: 2, Size: 2, Bid: 2}},
			{query: market.Query{ID: 3, Size: 3, Bid: 3}}, {query: market.Query{ID: 4, Size: 1, Bid: 1}}}
		for _, x := range tasks {
			if stopped := s.add(x); stopped != nil {
				t.Errorf("%s: task %d is suspended", name, stopped.query.ID)
			}
		}
		if next := s.remove(tasks[0]); next == nil || next.query.ID != want {
			t.Errorf("%s: %+v is next, want task %d", name, next, want)
		}
	}
}

func TestOwnersAreChecked(t *testing.T) {
	for file, want := range map[string]string{
		"ahead: 101\n":                          "m.yaml: ahead 101: want a number from 0 to 100",
		"owners: -1\n":                          "m.yaml: owners -1: want a number from 0 to 10000",
		"owners: 5000\nservers: {count: 300}\n": "m.yaml: owners 5000: want at most 3333 of 300 servers",
	} {
		if _, err := Read("m.yaml", []byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", file, err, want)
		}
	}
	if _, err := Read("m.yaml", []byte("owners: 20000\nservers: {count: 100}\n")); err == nil ||
		strings.Count(err.Error(), "owners") != 1 {
		t.Errorf("error %v, want one line about too many owners", err)
	}
	many := system(func(s *System) { s.Owners, s.Servers.Count = 10_000, 100 })
	if _, err := Run(t.Context(), many, DefaultOptions()); err == nil ||
		!strings.Contains(err.Error(), "owners 10000: each hears of all 1.17e+05 tasks of a run, 1.17e+09 times together") {
		t.Errorf("error %v, want that the owners hear too much", err)
	}
	s, o := system(func(s *System) { s.Owners = 2 }), DefaultOptions()
	o.Protocols = []string{"cda", "pe_a"}
	if _, err := Run(t.Context(), s, o); err == nil || !strings.Contains(err.Error(), `"pe_a": moves`) {
		t.Errorf("error %v, want that pe_a needs a matcher", err)
	}
}
