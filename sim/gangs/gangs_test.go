package gangs

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func setting(experiment, app string, sites int) *Setting {
	return &Setting{Experiment: experiment, App: app, Sites: sites, Eager: app == "jacobi",
		Load:     Load{Left: 0.5, Free: 30 * time.Minute, Busy: 5 * time.Minute, Noise: 0.03},
		WAN:      WAN{Mbps: 5, Sigma: 0.5, Every: 5 * time.Minute, Latency: 30 * time.Millisecond},
		LAN:      LAN{Mbps: 80, Latency: 500 * time.Microsecond, Hubs: true},
		Memory:   Memory{Free: [2]float64{0.55, 0.9}, Every: time.Hour, Usable: 0.9},
		Failures: 0.05, Margin: 0.2, Queries: Queries{Directory: 30, Remote: 0.3, Local: 0.006, Group: 0.001}}
}

// calm is without load, changes and failures.
func calm(experiment, app string, sites int) *Setting {
	s := setting(experiment, app, sites)
	s.Load, s.WAN.Sigma, s.Failures, s.LAN.Hubs = Load{}, 0, 0, false
	return s
}

// Bursts leave their part of what the load that lasts leaves, and do not change when that comes.
func TestBursts(t *testing.T) {
	s := setting("e3", "life", 1)
	lasting := s.load(1, 0, 1)
	s.Load.Bursts = Spells{Free: time.Minute, Busy: 10 * time.Second}
	both, busy, seconds := s.load(1, 0, 1), 0.0, 200_000
	for at := range seconds {
		whole, _ := lasting.Value(float64(at))
		left, until := both.Value(float64(at))
		if until <= float64(at) || left != whole && left != whole*s.Load.Left {
			t.Fatalf("%g of a processor are left until %g, at %d s: want %g or half of it", left, until, at, whole)
		}
		if left != whole {
			busy++
		}
	}
	if part := busy / float64(seconds); math.Abs(part-1.0/7) > 0.02 {
		t.Errorf("there are bursts in %.3f of the time: want a seventh", part)
	}
}

// The medians of a load-free run by another program, with other machines drawn; latencies are what the model leaves
// out.
func TestPredictionWithoutLoad(t *testing.T) {
	for _, c := range []struct {
		app   string
		sites int
		want  map[int]float64
	}{
		{"life", 3, map[int]float64{630: 67.5, 1260: 37.9, 2448: 15.1, 4500: 5.2}},
		{"jacobi", 3, map[int]float64{630: 77.6, 1260: 57.0, 2448: 28.2}},
		{"life", 1, map[int]float64{600: 5.0, 1200: 1.3, 2400: 0.3}},
		{"jacobi", 1, map[int]float64{600: 10.1, 1200: 2.0, 2400: 0.4}},
	} {
		for n, want := range c.want {
			f := calm("e1", c.app, c.sites).Run(n, 1)["equal"]
			if got := f["median"]; math.Abs(got-want) > 0.15*want+0.3 || f["completed"] != 18 {
				t.Errorf("%s, %d sites, %d: median error %.1f %% of %g runs; want %.1f of 18", c.app, c.sites, n, got,
					f["completed"], want)
			}
		}
	}
}

// The least number of machines whose memory holds equal shares, in the order in which a person prefers sites.
func TestByHand(t *testing.T) {
	for sites, want := range map[int]map[int]int{
		1: {600: 1, 1200: 1, 2400: 1, 4800: 1, 7200: 2, 9600: 4},
		3: {600: 1, 4800: 1, 9600: 4, 14_400: 8, 16_800: 11, 19_200: 14}} {
		for n, machines := range want {
			x, ok := setting("e3", "life", sites).testbed(1).byHand(n)
			if !ok || len(x.hosts) != machines || !slices.IsSorted(x.hosts) {
				t.Errorf("%d sites, %d: machines %v; want the first %d", sites, n, x.hosts, machines)
			}
		}
	}
}

// A series is the same every time, and no two of them are at the same time.
func TestSeries(t *testing.T) {
	for _, e := range []string{"e1", "e2", "e3", "e4"} {
		s := setting(e, "life", 1)
		n := s.Sizes()[0]
		a, b := s.Run(n, 1), s.Run(n, 1)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %v, and then %v", e, a, b)
		}
		if c := s.Run(n, 2); reflect.DeepEqual(a, c) {
			t.Errorf("%s: %v under two seeds", e, a)
		}
	}
	seen := map[uint64]bool{}
	for series := range uint64(3) {
		for _, n := range setting("e3", "life", 3).Sizes() {
			for rep := range uint64(many) {
				seen[repetition(series, n, rep)] = true
			}
		}
	}
	if len(seen) != 3*6*many || repetition(1, 600, 8) == repetition(1, 601, 0) {
		t.Errorf("%d seeds of 180 repetitions", len(seen))
	}
}

// Where nothing changes, forecasts are exact, and static and dynamic know the same but free memory.
func TestInformation(t *testing.T) {
	b := calm("e3", "life", 3).testbed(1)
	if got := b.availability(0); got != 1 {
		t.Errorf("availability %g of a machine without load", got)
	}
	a, c := b.pool(static), b.pool(dynamic)
	if a.Machines[0].Speed != c.Machines[0].Speed || a.Machines[0].Memory <= c.Machines[0].Memory ||
		a.Inverse(0, 7) != c.Inverse(0, 7) || math.Abs(a.Inverse(0, 7)-8/5e6) > 1e-12 || a.Inverse(0, 1) != 8/80e6 {
		t.Errorf("%+v and %+v", a.Machines[0], c.Machines[0])
	}
	busy := setting("e3", "life", 3)
	busy.Load = Load{Left: 0.5, Free: time.Second, Busy: 1000 * time.Hour}
	loaded := busy.testbed(1)
	for host, want := range map[int]float64{3: 0.5, 6: 1} { // of Circus, and of Torc, which has two processors
		if got := loaded.availability(host); got != want {
			t.Errorf("availability %g of machine %d under load; want %g", got, host, want)
		}
	}
	busy.Load.Left = 0.2
	if got := busy.testbed(1).availability(6); math.Abs(got-0.4) > 1e-9 {
		t.Errorf("availability %g of two processors of which others leave a fifth of one; want 0.4", got)
	}
	busy.WAN.Every = 10 * time.Minute
	x := busy.testbed(2)
	x.now += 50_000
	if x.pool(static).Inverse(0, 7) == x.pool(dynamic).Inverse(0, 7) {
		t.Error("bandwidths of long ago are those of now")
	}
}

// A run fails where its shares do not fit into what memory is usable, whatever was said to be free.
func TestMemoryOfARun(t *testing.T) {
	b := calm("e3", "life", 1).testbed(1)
	for n, want := range map[int]bool{5400: true, 5600: false} { // 222 and 239 of 230.4 MiB
		if _, ok := b.run(n, rows{hosts: []int{0}, of: []int{n}}); ok != want {
			t.Errorf("%d×%d points on a machine of 256 MiB run: %v", n, n, ok)
		}
	}
}

// Two for each machine, and the square of the number of sites.
func TestSeriesOfMeasurements(t *testing.T) {
	for sites, want := range map[int]int{1: 12 + 1, 3: 48 + 9} {
		if got := setting("e4", "jacobi", sites).testbed(1).series(); got != want {
			t.Errorf("%d sites: %d series; want %d", sites, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	if err := setting("e4", "jacobi", 3).Check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Setting){
		"experiment": func(s *Setting) { s.Experiment = "e5" },
		"app":        func(s *Setting) { s.App = "torus" },
		"sites 2":    func(s *Setting) { s.Sites = 2 },
		"load":       func(s *Setting) { s.Load.Left = 0 },
		"bursts":     func(s *Setting) { s.Load.Bursts.Busy = time.Second },
		"busy":       func(s *Setting) { s.Load.Bursts.Busy, s.Load.Bursts.Free = -time.Second, -time.Second },
		"wan":        func(s *Setting) { s.WAN.Mbps = 0 },
		"lan":        func(s *Setting) { s.LAN.Latency = 0 },
		"memory":     func(s *Setting) { s.Memory.Free[1] = 0.1 },
		"failures":   func(s *Setting) { s.Failures = 1 },
		"queries":    func(s *Setting) { s.Experiment, s.Queries.Group = "e4", 0 },
		"machine":    func(s *Setting) { s.Experiment, s.Machines = "vectors", []string{"torc9"} },
		"clusters":   func(s *Setting) { s.Experiment = "counts" },
	} {
		s := setting("e1", "life", 1)
		change(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want an error about %s", err, want)
		}
	}
}

// Machines that wait for memory are as fast as their bus, whatever their clock, others as their clock. The cycles of a
// point, measured on each type of processor and averaged, are those of the model either way.
func TestMemoryBound(t *testing.T) {
	s := setting("e1", "jacobi", 3)
	for bound, want := range map[bool][3]float64{false: {400, 550, 266}, true: {450.6, 450.6, 297.4}} {
		s.MemoryBound = bound
		hosts := s.testbed(1).world.Hosts
		for k, host := range []int{1, 6, 19} { // of Circus, Torc and Major
			if got := hosts[host].Speed / mega; math.Abs(got-want[k]) > 0.05 {
				t.Errorf("bound %v: host %d computes as one of %g MHz, want %g", bound, host, got, want[k])
			}
		}
		cycles := 0.0
		for _, clock := range []float64{450, 400, 550, 450, 266} {
			cycles += 36 * clock / s.speed(clock) / 5
		}
		if math.Abs(cycles-36) > 1e-9 {
			t.Errorf("bound %v: %g cycles a point, measured; the model has 36", bound, cycles)
		}
	}
}
