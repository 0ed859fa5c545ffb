package model

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"skep/gang"
)

// four machines of 1, 2, 4 and 4 work a second; links from a to b of 1000 + 100·a + b bytes a second, and 0.25 s.
func four() *gang.Group {
	return &gang.Group{Pool: gang.NewPool([]gang.Machine{{Speed: 1, Memory: 1e4}, {Speed: 2, Memory: 1e4},
		{Speed: 4, Memory: 1e4, Slots: 2}, {Speed: 4}}, func(a, b int) gang.Link {
		return gang.Link{Latency: 0.25, Bandwidth: float64(1000 + 100*a + b)}
	}), Places: []int{0, 1, 2, 2}}
}

func make4(t *testing.T, name string, told map[string]float64) []gang.Cost {
	t.Helper()
	m, err := New(name, told, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m.Costs(four(), nil)
}

// costs are rows of seconds a unit, seconds, and units.
func costs(rows ...[]float64) (out []gang.Cost) {
	for _, r := range rows {
		out = append(out, gang.Cost{PerUnit: r[0], Fixed: r[1], Most: r[2]})
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }

// The formulas by hand: IV.4, IV.7 and Fig. IV.4 of [1].
func TestLife(t *testing.T) {
	for latency, more := range map[float64]float64{0: 0, 1: 0.25} {
		got := make4(t, "life", map[string]float64{"n": 10, "point_cost": 3, "latency": latency})
		first, second := 40/1001.0+more, 40/1102.0+more // the slower of both directions, 10 values of 4 bytes
		want := costs([]float64{30, first, 1e4 / (80 * 1.2)}, []float64{15, first + second, 1e4 / (80 * 1.2)},
			[]float64{7.5, second, 5e3 / (80 * 1.2)}, []float64{7.5, 0, 5e3 / (80 * 1.2)})
		for k := range want {
			want[k].Most = min(want[k].Most, 10)
			if !near(got[k].PerUnit, want[k].PerUnit) || !near(got[k].Fixed, want[k].Fixed) || !near(got[k].Most, want[k].Most) {
				t.Errorf("latency %g: rank %d costs %+v; want %+v", latency, k, got[k], want[k])
			}
		}
	}
}

// IV.8 of [1]: p·log2 p messages, each of the mean over all ordered pairs; two ranks on one machine need none.
func TestJacobi(t *testing.T) {
	sum := 0.0
	for _, a := range []float64{0, 1, 2, 2} {
		for _, b := range []float64{0, 1, 2, 2} {
			if a != b {
				sum += 1 / (1000 + 100*a + b)
			}
		}
	}
	got := make4(t, "jacobi", map[string]float64{"n": 100})
	if want := 8 * (100 * 8 / 4) * sum / 12; !near(got[0].Fixed, want) || got[3].Fixed != got[0].Fixed {
		t.Errorf("broadcasts take %g; want %g", got[0].Fixed, want)
	}
	if got := make4(t, "jacobi", map[string]float64{"n": 100, "latency": 1}); !near(got[0].Fixed,
		8*((100*8/4)*sum/12+0.25*10/12)) {
		t.Errorf("broadcasts take %g with latencies", got[0].Fixed)
	}
	for p, want := range map[int][2]float64{1: {0, 0}, 2: {2, 2}, 3: {4.7549, 6}, 5: {11.6096, 15}, 8: {24, 24},
		18: {75.0587, 90}, 2000: {21931.5686, 22000}} {
		for k, whole := range []bool{false, true} {
			if got := newJacobi(mesh{}, whole).steps(p); math.Abs(got-want[k]) > 5e-5 {
				t.Errorf("%d ranks, rounded up %v: %g messages; want %g", p, whole, got, want[k])
			}
		}
	}
}

func TestMemory(t *testing.T) {
	got := make4(t, "memory", map[string]float64{"units": 90, "unit_memory": 100, "margin": 0})
	if want := []gang.Cost{{Most: 90}, {Most: 90}, {Most: 50}, {Most: 50}}; !slices.Equal(got, want) {
		t.Errorf("%+v; want %+v", got, want)
	}
	if got := make4(t, "memory", map[string]float64{"units": 90}); got[3].Most != 90 {
		t.Errorf("%+v; want room for all where no memory is needed", got)
	}
}

func TestTable(t *testing.T) {
	rows := []Measurement{{8, 3, 2}, {2, 12, 0.5}}
	m, err := New("table", map[string]float64{"units": 60, "speed": 2}, rows)
	if err != nil {
		t.Fatal(err)
	}
	g := four() // between 2 and 8 ranks: 9 s and 1 s at speed 2
	want := costs([]float64{9 * 4 / 60.0 * 2, 1, 60}, []float64{9 * 4 / 60.0, 1, 60}, []float64{4.5 * 4 / 60, 1, 60},
		[]float64{4.5 * 4 / 60, 1, 60})
	if got := m.Costs(g, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v; want %+v", got, want)
	}
	g.Places = g.Places[:1]
	if got := m.Costs(g, nil); !math.IsInf(got[0].Fixed, 1) {
		t.Errorf("%+v; want nothing of one rank, which was not measured", got)
	}
}

// A place that computes nothing takes for ever, and so does an unknown link.
func TestWhatCannotRun(t *testing.T) {
	m, err := New("life", map[string]float64{"n": 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := gang.NewPool([]gang.Machine{{Speed: 1}, {}, {Speed: 1}}, func(a, b int) gang.Link {
		return gang.Link{Bandwidth: float64(2 - a - b)} // that of 0 and 2 is unknown
	})
	for _, places := range [][]int{{0, 1}, {0, 2}} {
		s := gang.Schedule{Shares: []float64{5, 5}, Costs: m.Costs(&gang.Group{Pool: p, Places: places}, nil)}
		if got := m.Predict(&s); !math.IsInf(got, 1) {
			t.Errorf("ranks on %v take %g s", places, got)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		told map[string]float64
		rows []Measurement
		want string
	}{
		{"torus", nil, nil, `model "torus": is not known: want one of jacobi, life, memory, table`},
		{"life", nil, nil, "model life: n: is not given: want points on a side of the mesh"},
		{"life", map[string]float64{"n": 2.5}, nil, "model life: n: 2.5: want points on a side of the mesh"},
		{"life", map[string]float64{"n": 0}, nil, "model life: n: 0: want"},
		{"life", map[string]float64{"n": 10, "m": 1}, nil,
			`model life: "m": is not known: want one of n, point_memory, margin, point_cost, value_bytes, latency`},
		{"life", map[string]float64{"n": 10, "point_cost": 0}, nil, "model life: point_cost: 0: want"},
		{"life", map[string]float64{"n": 10, "latency": math.NaN()}, nil, "model life: latency: NaN: want"},
		{"life", map[string]float64{"n": 10}, []Measurement{{1, 1, 1}}, "they are of the model table"},
		{"table", map[string]float64{"units": 10}, nil, "model table: 0 measurements: want 1 to 1024"},
		{"table", map[string]float64{"units": 10}, []Measurement{{1, 1, 1}, {1, 2, 1}}, "1 ranks are there twice"},
		{"table", map[string]float64{"units": 10}, []Measurement{{0, 1, 1}}, "want a rank or more, and times"},
		{"table", map[string]float64{"units": 10, "speed": 0}, []Measurement{{1, 1, 1}}, "model table: speed: 0: want"},
	} {
		m, err := New(c.name, c.told, c.rows)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %v: %v, %v; want %s", c.name, c.told, m, err, c.want)
		}
	}
	if !slices.IsSorted(Names()) || len(Parameters("life")) != 6 || Parameters("torus") != nil {
		t.Errorf("%v, %v", Names(), Parameters("life"))
	}
}
