package gangs

import (
	"fmt"

	"skep/gang"
	"skep/gang/mapper"
	"skep/gang/model"
	"skep/grid"
	"skep/sim/mesh"
)

// information is what is known of the machines when a schedule is made.
type information int

const (
	static  information = iota // clock rates and memory from the directory, bandwidths as they were long ago
	dynamic                    // forecasts of availability, free memory and bandwidths
)

// pool is the machines as they are known.
func (t *testbed) pool(of information) *gang.Pool {
	var all []gang.Machine
	for h, m := range t.machines {
		x := gang.Machine{Speed: m.mhz * mega, Memory: m.mb * mib}
		if of == dynamic {
			x.Speed *= t.availability(h)
			x.Memory, _ = t.memory[h].Value(t.now)
		}
		all = append(all, x)
	}
	at := t.now
	if of == static {
		at = begin
	}
	var wan [3][3]float64
	for a := range wan {
		for b := range wan {
			if a != b {
				wan[a][b] = t.bandwidth(a, b, at)
			}
		}
	}
	return gang.NewPool(all, t.links(func(k int) int { return t.machines[k].site },
		func(from, to int) float64 { return wan[from][to] }))
}

// availability is the forecast of the part of a processor that a program would get: at most 1, at least 0.
func (t *testbed) availability(h int) float64 {
	var series []float64
	last := int(t.now / sampling)
	for k := last - samples; k <= last; k++ {
		left, _ := t.world.Hosts[h].Load.Value(float64(k) * sampling)
		noise := grid.NewRand(t.seed, streamNoise+uint64(h)<<32+uint64(k)).NormFloat64()
		series = append(series, left+t.Load.Noise*noise)
	}
	return min(1, max(0, mesh.Forecast(series)))
}

// bandwidth is the forecast of what a probe from one site to another gets, bytes a second.
func (t *testbed) bandwidth(from, to int, at float64) float64 {
	var series []float64
	last := int(at / probing)
	for k := last - probes; k <= last; k++ {
		x, _ := t.wan[from][to].Value(float64(k) * probing)
		series = append(series, x)
	}
	return mesh.Forecast(series)
}

func dividing(by string) gang.Mapper {
	m, err := mapper.New(by)
	if err != nil {
		panic(fmt.Sprint("gangs: ", err))
	}
	return m
}

// model is that of the application with n×n points.
func (s *Setting) model(n int) gang.Model {
	m, err := model.New(s.App, map[string]float64{"n": float64(n), "margin": s.Margin, "latency": s.Latency}, nil)
	if err != nil {
		panic(fmt.Sprint("gangs: ", err))
	}
	return m
}

// rows is a schedule that is run.
type rows struct {
	hosts, of []int
	predicted float64
}

// given maps n×n points to some machines in their order; false where they cannot have them.
func (t *testbed) given(n int, on []int, by string) (rows, bool) {
	m, s := t.model(n), gang.Schedule{}
	if dividing(by).Map(&gang.Group{Pool: t.pool(dynamic), Places: on}, m, &s) != nil {
		return rows{}, false
	}
	s.Time = m.Predict(&s)
	return whole(&s), s.Time < 1e9
}

func whole(s *gang.Schedule) rows { return rows{s.Places, mapper.Whole(s), s.Time} }

// run runs a schedule, and then nothing for the pause; false where the run fails.
func (t *testbed) run(n int, x rows) (iteration float64, ok bool) {
	failed := t.failures.Float64() < t.Failures
	for k, h := range x.hosts {
		failed = failed || float64(x.of[k])*float64(n)*8 > t.Memory.Usable*t.machines[h].mb*mib
	}
	if failed {
		t.now += pause
		return 0, false
	}
	p := mesh.Life(n)
	if t.App == "jacobi" {
		p = mesh.Jacobi(n)
	}
	p.Eager = t.Eager
	r := t.world.Run(p, x.hosts, x.of, t.now)
	t.now = r.End + pause
	return r.Iteration, true
}
