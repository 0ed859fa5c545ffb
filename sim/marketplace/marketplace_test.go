package marketplace

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"skep/balance/market"
)

func system(change func(*System)) *System {
	s := Default()
	change(s)
	return s
}

func mustRun(t *testing.T, s *System, o Options) *Report {
	t.Helper()
	r, err := Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// everything is a system in which all can happen that can.
func everything() *System {
	return system(func(s *System) {
		s.Name, s.Load, s.Delay, s.PerSize = "everything", 0.8, 0.02, 0.01
		s.Servers = Servers{Count: 8, Speed: 0.1, Units: 10, Ratio: 0.1}
		s.Background = Background{Share: 0.5, Size: 0.5, Units: 3}
		s.Tasks.Burst, s.Tasks.Factor = 3, 4
		s.Ageing = &Ageing{Interval: 0.1, Time: 10, Max: 2}
	})
}

// The same seed gives the same numbers, with one worker or several, and no run loses or invents work, under every
// protocol.
func TestRepeatable(t *testing.T) {
	o := DefaultOptions()
	o.Protocols, o.Replications, o.Workers, o.Measured = market.Names(), 3, 1, 60
	text := func(o Options) string {
		b, err := json.Marshal(mustRun(t, everything(), o))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := text(o)
	o.Workers = 4
	if text(o) != first {
		t.Error("other numbers with four workers")
	}
	o.Seed++
	if text(o) == first {
		t.Error("the same numbers with another seed")
	}
}

// One server without background load is an M/G/1 queue, so that the mean time is that of Pollaczek and Khinchine, and
// under shares in proportion to equal bids an M/G/1 queue with processor sharing [2].
func TestSingleServer(t *testing.T) {
	const load, second = 0.7, 1.40714 // second moment of the loguniform sizes
	s := system(func(s *System) {
		s.Load, s.Servers.Count, s.Tasks.Weights = load, 1, [2]float64{1, 1}
	})
	o := DefaultOptions()
	o.Protocols, o.Replications, o.Measured = []string{"fifo", "psp"}, 8, 20_000
	r := mustRun(t, s, o)
	for i, want := range []float64{1 + load*second/2/(1-load), 1 / (1 - load)} {
		got := r.Results[i].CT
		if d := math.Abs(float64(got.Mean) - want); d > 3*float64(got.Half) || float64(got.Half) > 0.05*want {
			t.Errorf("%s: mean time %.4f ± %.4f, the formula gives %.4f", o.Protocols[i], got.Mean, got.Half, want)
		}
	}
}

// All protocols of a seed meet the same tasks and the same background load, whose share is the stated one.
func TestSameChance(t *testing.T) {
	s := system(func(s *System) { s.Background = Background{Share: 0.5, Size: 1, Units: 1}; s.Servers.Count = 8 })
	o := DefaultOptions()
	o.Protocols, o.Replications = []string{"cda", "pe_a", "psp"}, 4
	r := mustRun(t, s, o)
	for _, x := range r.Results {
		if math.Abs(float64(x.Background.Mean-r.Results[0].Background.Mean)) > 1e-9 {
			t.Errorf("%s met a background load of %v, cda of %v", x.Protocol, x.Background, r.Results[0].Background)
		}
		if share := float64(x.Background.Mean); math.Abs(share-0.45) > 0.0045+float64(x.Background.Half) {
			t.Errorf("%s: background load %.4f, want 0.45", x.Protocol, share)
		}
	}
}

// Figures that the source states in words, within what a few replications resolve [1, figures 9, 10, 22, 24]; the whole
// list is the study market.
func TestStatedFigures(t *testing.T) {
	for _, c := range []struct {
		name, protocol  string
		lo, hi          float64
		load, share, bg float64
	}{
		{"figure 9, 90 %", "psp", 1.15, 1.23, 0.9, 0, 1},
		{"figure 9, 90 %", "rr", 0.999, 1.001, 0.9, 0, 1},
		{"figure 10, 60 %", "rr", 1.24, 1.29, 0.6, 0.5, 1},
	} {
		s := system(func(s *System) {
			s.Load, s.Background = c.load, Background{Share: c.share, Size: 1, Units: c.bg}
			s.Tasks.Weights, s.Tasks.Spread = [2]float64{1, 1}, 1
		})
		o := DefaultOptions()
		o.Protocols, o.Replications = []string{"cda", c.protocol}, 4
		if x := mustRun(t, s, o).Results[1].Relative; !(float64(x.Mean) > c.lo && float64(x.Mean) < c.hi) {
			t.Errorf("%s: %s over cda %.4f ± %.4f, want %g to %g", c.name, c.protocol, x.Mean, x.Half, c.lo, c.hi)
		}
	}
}

// Where messages take long, servers of exclusive protocols stand idle between two tasks, and shares do not suffer
// [1, figure 18].
func TestLatency(t *testing.T) {
	ct := func(delay float64, protocol string) float64 {
		s := system(func(s *System) {
			s.Servers.Ratio, s.Background, s.Delay = 0.015625, Background{0.5, 1, 10}, delay
			s.Tasks.Weights = [2]float64{1, 1}
		})
		o := DefaultOptions()
		o.Protocols, o.Replications = []string{protocol}, 3
		return float64(mustRun(t, s, o).Results[0].CT.Mean)
	}
	if near, far := ct(0.02, "cda"), ct(0.1, "cda"); far < 10*near {
		t.Errorf("cda: mean times %.3f and %.3f at a latency of 0.02 and 0.1, want ten times as much", near, far)
	}
	if near, far := ct(0.02, "psp"), ct(0.1, "psp"); far > 1.5*near {
		t.Errorf("psp: mean times %.3f and %.3f at a latency of 0.02 and 0.1, want at most half as much more", near, far)
	}
}

// Of an interrupted study each run is compared with that of the first protocol in the same replication.
func TestComparedByReplication(t *testing.T) {
	sample := func(wct float64) *Sample { return &Sample{WCT: wct, judged: wct} }
	o := &Options{Protocols: []string{"cda", "psp"}, Replications: 3}
	r := newReport(Default(), o, []*Sample{nil, sample(2), sample(4), sample(1), sample(3), nil})
	if len(r.Results) != 2 || r.Results[1].Runs != 2 || r.Results[1].Relative.Mean != 1.5 {
		t.Errorf("%+v: want psp at 3 over 2, the one pair of the same replication", r.Results)
	}
}

func TestFiles(t *testing.T) {
	s, err := Read("m.yaml", []byte("name: x\nload: 0.5\nservers: {count: 4, ratio: 0.5}\n"+
		"tasks: {weights: [1, 2], deadline: {slow1: 1.1, slow2: [1.1, 3]}}\nageing: {time: 5, max: 3}\njudge_whole: true\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Servers.Count != 4 || s.Servers.Units != 10 || s.Tasks.Slow2 != [2]float64{1.1, 3} || s.Ageing.Time != 5 ||
		s.Ageing.Interval != 0.1 || s.Readings.Deadlines != market.ByWhole {
		t.Errorf("read %+v", s)
	}
	for file, want := range map[string]string{
		"load: 1\n":                                  "m.yaml: load 1: want a number from 0.001 to 0.999",
		"servers: {cont: 3}\n":                       `m.yaml:1:11: unknown key "cont": want one of count, speed`,
		"tasks: {burst: 1.5}\n":                      `m.yaml:1:16: burst "1.5": want a number without a fraction`,
		"tasks: {weights: 3}\n":                      "weights: want two numbers, as in [0, 2]",
		"tasks: {deadline: {factor: 1, slow1: 1}}\n": "tasks.deadline: want factor, or slow1 and slow2",
		"background: {units: 11}\n":                  "background.units 11: want a number from 1e-06 to 10",
	} {
		if _, err := Read("m.yaml", []byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", file, err, want)
		}
	}
}

// Of events at the same time the one that was planned first comes first, and the arrival is one of them.
func TestEventsOfTheSameTime(t *testing.T) {
	e := &engine{source: source{next: 1}}
	e.at(1, event{kind: tick})
	e.seq++
	e.arrival = e.seq
	e.at(1, event{kind: free})
	e.at(0.5, event{kind: reprice})
	for _, want := range []kind{reprice, tick, arrival, free} {
		_, got := e.next()
		if got.kind == arrival {
			e.source.next = 2
		}
		if got.kind != want {
			t.Fatalf("event of kind %d, want %d", got.kind, want)
		}
	}
}
