package mapper

import (
	"fmt"
	"slices"
	"testing"

	"skep/gang"
	"skep/gang/model"
)

// testbed is a machine of [1, Table V.1]: MHz, memory in MB, and its site.
type testbed struct {
	mhz, mb float64
	site    int
}

var machines = map[string]testbed{"torc3": {550, 512, 0}, "torc7": {550, 512, 0}, "cmajor": {266, 128, 1},
	"fmajor": {266, 128, 1}, "hmajor": {266, 128, 1}, "dralion": {450, 256, 2}, "soleil": {400, 256, 2},
	"quidam": {400, 256, 2}}

// aGroup has links of 100 Mbit/s in a site and of 5 between sites.
func aGroup(names ...string) *gang.Group {
	var all []gang.Machine
	g := &gang.Group{}
	for k, n := range names {
		m := machines[n]
		all = append(all, gang.Machine{Speed: m.mhz * 1e6, Memory: m.mb * (1 << 20)})
		g.Places = append(g.Places, k)
	}
	g.Pool = gang.NewPool(all, func(a, b int) gang.Link {
		if machines[names[a]].site == machines[names[b]].site {
			return gang.Link{Bandwidth: 100e6 / 8}
		}
		return gang.Link{Latency: 0.03, Bandwidth: 5e6 / 8}
	})
	return g
}

func aModel(t *testing.T, name string, n float64) gang.Model {
	t.Helper()
	m, err := model.New(name, map[string]float64{"n": n}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// mapped is the schedule as the tables print it: shares, R, time.
func mapped(t *testing.T, mapper string, m gang.Model, g *gang.Group) (rows, r, time string) {
	t.Helper()
	x, err := New(mapper)
	if err != nil {
		t.Fatal(err)
	}
	s := gang.Schedule{}
	if x.Map(g, m, &s) != nil {
		return "infeasible", "-", "infeasible"
	}
	for _, n := range s.Shares {
		rows += fmt.Sprintf(" %.3f", n)
	}
	return rows[1:], fmt.Sprintf("%.6f", s.Relaxation), fmt.Sprintf("%.6f", m.Predict(&s))
}

// The vectors were computed from the formulas of [1] with a simplex solver, for machines of its Table V.1.
func TestGoldenVectors(t *testing.T) {
	six := []string{"torc3", "torc7", "fmajor", "hmajor", "dralion", "soleil"}
	for _, c := range []struct {
		id, app                        string
		n                              float64
		on                             []string
		balance, r, time, minMax, most string
		equal                          string
	}{
		{"M1", "life", 4500, []string{"torc3", "cmajor", "quidam"}, "2046.056 965.903 1488.041", "0.000000", "1.234113",
			"2046.056 965.903 1488.041", "1.234113", "1.884668"},
		{"M2", "life", 4500, six, "1027.356 978.467 473.222 473.222 800.564 747.168", "0.000000", "0.606646",
			"1027.356 978.467 473.222 473.222 800.564 747.168", "0.606646", "0.943774"},
		{"M3", "jacobi", 4500, six, "997.180 997.180 482.272 482.272 815.874 725.222", "0.000000", "0.414319",
			"997.180 997.180 482.272 482.272 815.874 725.222", "0.414319", "0.577371"},
		{"M4", "life", 9000, six, "2024.536 1975.647 955.495 955.495 1616.438 1472.390", "0.000000", "2.388151",
			"2024.536 1975.647 955.495 955.495 1616.438 1472.390", "2.388151", "3.714615"},
		{"M5", "life", 12000, six, "2623.578 2754.203 1165.084 1165.084 2253.438 2038.612", "0.068359", "4.407242",
			"2752.459 2703.571 1165.084 1165.084 2212.012 2001.789", "4.327704", "infeasible"},
		{"M6", "jacobi", 12000, six, "2580.639 2785.040 1165.084 1165.084 2278.669 2025.484", "0.068359", "2.509133",
			"2727.388 2727.388 1165.084 1165.084 2231.499 1983.555", "2.463850", "infeasible"},
		{"M7", "life", 9000, []string{"cmajor", "fmajor"}, "infeasible", "-", "infeasible", "infeasible", "infeasible",
			"infeasible"},
	} {
		m, g := aModel(t, c.app, c.n), aGroup(c.on...)
		rows, r, time := mapped(t, "time_balance", m, g)
		best, _, most := mapped(t, "min_max", m, g)
		_, _, even := mapped(t, "equal", m, g)
		got, want := []string{rows, r, time, best, most, even}, []string{c.balance, c.r, c.time, c.minMax, c.most, c.equal}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", c.id, got, want)
		}
	}
}
