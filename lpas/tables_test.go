package lpas

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func readCSV(t *testing.T, name string) (header []string, rows [][]string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	all, err := r.ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return all[0], all[1:]
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// published is one row of optima.csv.
type published struct {
	name, delta string
	lambda      float64
	unique      bool
	groups      []int // machine → column of the printed tables
	problem     *Problem
}

func publications(t *testing.T) (all []published) {
	header, rows := readCSV(t, "optima.csv")
	for _, row := range rows {
		get := func(column string) string { return row[slices.Index(header, column)] }
		u := published{name: get("name"), delta: get("delta"), lambda: number(t, get("lambda")),
			unique: get("unique") == "yes"}
		head, system := readCSV(t, "sys-"+get("system")+".csv")
		first := slices.IndexFunc(head, func(s string) bool { return strings.HasPrefix(s, "mu_") })
		columns := len(head) - first
		sizes := strings.Fields(get("sizes"))
		for c := range columns {
			n := 1
			if len(sizes) > 0 {
				n = int(number(t, sizes[c]))
			}
			u.groups = append(u.groups, slices.Repeat([]int{c}, n)...)
		}
		p := &Problem{Cap: slices.Repeat([]float64{1}, len(u.groups))}
		for j, c := range strings.Fields(get("caps")) {
			p.Cap[j] = number(t, c)
		}
		for _, line := range system {
			p.Alpha = append(p.Alpha, number(t, line[slices.Index(head, get("alpha"))])*number(t, get("alpha_factor")))
			for _, c := range u.groups {
				p.Mu = append(p.Mu, number(t, line[first+c])*number(t, get("mu_factor")))
			}
		}
		u.problem = p
		all = append(all, u)
	}
	return all
}

// Every optimum of [1], to the four decimals that it prints; where it prints none, as recomputed by
// another solver. The same from Vertex, Merged and MaxSupport.
func TestPublishedLambda(t *testing.T) {
	all := publications(t)
	if len(all) < 50 {
		t.Fatalf("only %d systems", len(all))
	}
	var ws Workspace
	var sol Solution
	for _, u := range all {
		for name, solve := range solvers {
			var b Basis
			solve(u.problem, &b, &ws, &sol)
			if math.Abs(sol.Lambda-u.lambda) > 0.5e-4*(1+1e-9) {
				t.Errorf("%s, %s: lambda %.6f, published %.4f", u.name, name, sol.Lambda, u.lambda)
			}
		}
	}
}

// Where the optimum is unique it has N·M+1−N−M zeros [1, section 2.2]. (Machines that are down have
// nothing to share and count as if they were not there.)
func TestZeros(t *testing.T) {
	var ws Workspace
	var sol Solution
	for _, u := range publications(t) {
		var b Basis
		Vertex(u.problem, &b, &ws, &sol)
		up := 0
		for _, c := range u.problem.Cap {
			if c > 0 {
				up++
			}
		}
		most := len(u.problem.Alpha) + up - 1
		if len(sol.Delta) > most || u.unique && len(sol.Delta) != most {
			t.Errorf("%s: %d shares that are not 0, want %d (unique: %v)", u.name, len(sol.Delta), most, u.unique)
		}
		if err := verify(u.problem, &sol, 1e-9); err != nil {
			t.Errorf("%s: %v", u.name, err)
		}
	}
}

// The printed allocation matrices; for systems of groups the tables have the part that each machine of
// the group gives, which is what Merged returns.
func TestPublishedDelta(t *testing.T) {
	var ws Workspace
	var sol Solution
	tables := 0
	for _, u := range publications(t) {
		if u.delta == "" {
			continue
		}
		tables++
		_, rows := readCSV(t, "delta-"+u.delta+".csv")
		var b Basis
		Merged(u.problem, &b, &ws, &sol)
		for i, row := range rows {
			for j, c := range u.groups {
				if got, want := part(&sol, i, j), number(t, row[1+c]); math.Abs(got-want) > 0.5e-4*(1+1e-9) {
					t.Errorf("%s: class %d, machine %d has %.6f, printed %.4f", u.name, i+1, j+1, got, want)
				}
			}
		}
	}
	if tables != 15 {
		t.Errorf("%d allocation matrices compared", tables)
	}
}

// [1, p. 30] counts 44 zeros in the allocation of System 2.C1 and [1, p. 38] 52 non-zeros in that of
// 2.C2, both solved by groups.
func TestGroupCounts(t *testing.T) {
	var ws Workspace
	var sol Solution
	for _, u := range publications(t) {
		var b Basis
		Merged(u.problem, &b, &ws, &sol)
		if zeros := 3*30 - len(sol.Delta); u.name == "2.C1" && zeros != 44 {
			t.Errorf("2.C1: %d zeros", zeros)
		}
		if u.name == "2.C2" && len(sol.Delta) != 52 {
			t.Errorf("2.C2: %d shares", len(sol.Delta))
		}
	}
}

func part(sol *Solution, class, machine int) float64 {
	for _, d := range sol.Delta {
		if int(d.Class) == class && int(d.Machine) == machine {
			return d.Part
		}
	}
	return 0
}

var solvers = map[string]func(*Problem, *Basis, *Workspace, *Solution){
	"Vertex": Vertex, "Merged": Merged, "MaxSupport": MaxSupport,
}
