package gangs

import (
	"math"
	"time"

	"skep/grid"
	"skep/sim/mesh"
)

// machine is one of [1, Table V.1].
type machine struct {
	mhz, mb    float64
	site       int
	hub        int // 0 = its Ethernet is switched
	processors int // a program uses one of them
}

// The sites in the order in which the strategy user prefers them.
const (
	ucsd = iota
	utk
	uiuc
)

// machines lists those of a setting. Opus took part in e3 and e4 alone.
func (s *Setting) machines() (all []machine) {
	add := func(n int, m machine) {
		for range n {
			all = append(all, m)
		}
	}
	add(1, machine{450, 256, ucsd, 1, 1}) // dralion, and so on in the order of the table
	add(4, machine{400, 256, ucsd, 1, 1})
	add(1, machine{450, 256, ucsd, 1, 1})
	if s.Sites == 1 {
		return all
	}
	add(8, machine{550, 512, utk, 0, 2})
	if s.Experiment == "e3" || s.Experiment == "e4" {
		add(4, machine{450, 256, uiuc, 0, 1})
	}
	add(6, machine{266, 128, uiuc, 2, 1})
	return all
}

// streams of a repetition's chance.
const (
	streamLoad = 1000 * (1 + iota)
	streamNoise
	streamWAN
	streamMemory
	streamFailures
	streamChoice
	streamQueries
	streamBursts
)

const (
	mega = 1e6 // of hertz and bits
	mib  = 1 << 20

	sampling = 10.0  // seconds between measurements of a host
	probing  = 300.0 // seconds between those of a link
	samples  = 90    // that a forecast of a host rests on
	probes   = 12    // so of a link
	segment  = 1460  // bytes of a packet of TCP on Ethernet; two are sent at first [2]
	timeout  = 0.2   // seconds: the least after which Linux repeats a packet, and what counts as a pause [2]
	begin    = 7200  // seconds of history before the first run
	pause    = 180.0 // seconds between runs
)

// testbed is the machines of one repetition.
type testbed struct {
	*Setting
	seed     uint64
	machines []machine
	world    mesh.World
	memory   []*mesh.Trace // bytes free, by host
	wan      [3][3]*mesh.Trace
	failures *grid.Rand
	now      float64
}

func (s *Setting) testbed(seed uint64) *testbed {
	t := &testbed{Setting: s, seed: seed, machines: s.machines(), now: begin,
		failures: grid.NewRand(seed, streamFailures)}
	n := len(t.machines)
	for h, m := range t.machines {
		t.world.Hosts = append(t.world.Hosts, mesh.Host{Speed: s.speed(m.mhz) * mega,
			Load: s.load(seed, uint64(h), m.processors)})
		r := grid.NewRand(seed, streamMemory+uint64(h))
		t.memory = append(t.memory, mesh.NewTrace(func() (float64, float64) {
			free := s.Memory.Free[0] + (s.Memory.Free[1]-s.Memory.Free[0])*r.Float64()
			return free * m.mb * mib, s.Memory.Every.Seconds()
		}))
	}
	t.world.Net = mesh.Network{Hosts: n, Path: make([][]int, n*n), Latency: make([]float64, n*n)}
	if s.SlowStart {
		t.world.Net.SlowStart = &mesh.SlowStart{Window: 2 * segment, Pause: timeout}
	}
	t.connect()
	return t
}

// types are the processors of [1, Table V.1] by their clocks, MHz.
var types = []float64{450, 400, 550, 450, 266}

// waits is how many times as long as on a bus of 100 MHz a processor waits for memory: a Pentium II up to 333 MHz has a
// bus of 66 MHz.
func waits(mhz float64) float64 {
	if mhz <= 333 {
		return 100.0 / 66
	}
	return 1
}

// speed is the clock rate by which a machine computes, MHz. Where it waits for memory, a point takes the same time on
// all machines with the same bus. How long follows from how the cycles of a point were measured: they are the mean over
// the types of processors of clock times time [1, section IV.B.2].
func (s *Setting) speed(mhz float64) float64 {
	if !s.MemoryBound {
		return mhz
	}
	sum := 0.0
	for _, clock := range types {
		sum += clock * waits(clock)
	}
	return sum / float64(len(types)) / waits(mhz)
}

// load is the part of one of a host's processors that others leave. A process of theirs is on one processor: of two,
// the other one is free as long as they leave half of what one of them does.
func (s *Setting) load(seed, host uint64, processors int) *mesh.Trace {
	all := s.others(seed, host)
	if processors == 1 {
		return all
	}
	now := 0.0
	return mesh.NewTrace(func() (float64, float64) {
		left, until := all.Value(now)
		began := now
		now = until
		return min(1, left*float64(processors)), until - began
	})
}

// others is what those on a host leave of one processor, were there no other.
func (s *Setting) others(seed, host uint64) *mesh.Trace {
	lasting := s.spells(Spells{s.Load.Free, s.Load.Busy}, grid.NewRand(seed, streamLoad+host))
	if s.Load.Bursts.Busy == 0 {
		return lasting
	}
	bursts, now := s.spells(s.Load.Bursts, grid.NewRand(seed, streamBursts+host)), 0.0
	return mesh.NewTrace(func() (float64, float64) {
		a, untilA := lasting.Value(now)
		b, untilB := bursts.Value(now)
		began := now
		now = min(untilA, untilB)
		return a * b, now - began
	})
}

func (s *Setting) spells(of Spells, r *grid.Rand) *mesh.Trace {
	if of.Busy == 0 {
		return mesh.Constant(1)
	}
	mean := func(d time.Duration) float64 { return max(r.ExpFloat64()*d.Seconds(), 1e-3) }
	busy := r.Float64() < of.Busy.Seconds()/(of.Busy+of.Free).Seconds()
	return mesh.NewTrace(func() (float64, float64) {
		busy = !busy
		if !busy {
			return s.Load.Left, mean(of.Busy)
		}
		return 1, mean(of.Free)
	})
}

// connect lays the cables: a hub, or two ports for each host, and a link from each site to each other one.
func (t *testbed) connect() {
	net := &t.world.Net
	resource := func(capacity *mesh.Trace) int {
		net.Capacity = append(net.Capacity, capacity)
		return len(net.Capacity) - 1
	}
	lan := func() int { return resource(mesh.Constant(t.LAN.Mbps * mega / 8)) }
	hubs := [3]int{0, lan(), lan()}
	var out, in []int
	for _, m := range t.machines {
		if m.hub > 0 && t.LAN.Hubs {
			out, in = append(out, hubs[m.hub]), append(in, hubs[m.hub])
			continue
		}
		out, in = append(out, lan()), append(in, lan())
	}
	var links [3][3]int
	for a := range 3 {
		for b := range 3 {
			if a != b {
				r := grid.NewRand(t.seed, streamWAN+uint64(3*a+b))
				t.wan[a][b] = mesh.NewTrace(func() (float64, float64) {
					return t.WAN.Mbps * mega / 8 * math.Exp(t.WAN.Sigma*r.NormFloat64()), t.WAN.Every.Seconds()
				})
				links[a][b] = resource(t.wan[a][b])
			}
		}
	}
	for a, from := range t.machines {
		for b, to := range t.machines {
			path, latency := []int{out[a]}, t.LAN.Latency
			if from.site != to.site {
				path, latency = append(path, links[from.site][to.site]), t.WAN.Latency
			}
			if in[b] != out[a] {
				path = append(path, in[b])
			}
			net.Path[a*net.Hosts+b], net.Latency[a*net.Hosts+b] = path, latency.Seconds()
		}
	}
}
