package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

var grids = flag.Int("bars.grids", 10, "grids in BenchmarkBars/conserve")

// benchConserve runs bags of tasks on grids of three nodes with two slots: on a fresh grid, after many short tasks of
// the same program, and after tasks that shared an input of 200 MB. Each time over the time that they need at least.
func benchConserve(b *testing.B, skep string) {
	input := filepath.Join(b.TempDir(), "input")
	f, err := os.Create(input)
	if err != nil {
		b.Fatal(err)
	}
	if err := f.Truncate(200_000_000); err != nil {
		b.Fatal(err)
	}
	f.Close()
	before := []struct {
		name string
		run  []string
	}{
		{"fresh", nil},
		{"after 60 x sleep 0.05", []string{"--count", "60", "--", "sh", "-c", "sleep 0.05"}},
		{"after 50 x 200 MB", []string{"--count", "50", "--input", input, "--", "sh", "-c", "test -s input"}},
	}
	ratios := map[string][]float64{}
	for range *grids {
		ms := startGrid(b, skep, 3, "--cpus", "2")
		bag := func(name string, ideal time.Duration, line ...string) {
			t := time.Now()
			ms[0].run(b, "", append([]string{"run"}, line...)...)
			ratios[name] = append(ratios[name], time.Since(t).Seconds()/ideal.Seconds())
		}
		for _, s := range before {
			if s.run != nil {
				ms[0].run(b, "", append([]string{"run"}, s.run...)...)
			}
			bag(s.name+", 12 x sleep 3", 6*time.Second, "--count", "12", "--", "sh", "-c", "sleep 3")
		}
		bag("then 60 x sleep 1", 10*time.Second, "--count", "60", "--", "sh", "-c", "sleep 1")
		for _, m := range ms {
			m.stop()
		}
	}
	for _, s := range before {
		reportBag(b, s.name+", 12 x sleep 3", ratios)
	}
	reportBag(b, "then 60 x sleep 1", ratios)
}

func reportBag(b *testing.B, name string, ratios map[string][]float64) {
	x := ratios[name]
	slices.Sort(x)
	middle, worst := (x[(len(x)-1)/2]+x[len(x)/2])/2, x[len(x)-1]
	report(b, fmt.Sprintf("%s over ideal, median of %d", name, len(x)), middle, "", "<= 1.1", middle <= 1.1)
	report(b, name+" over ideal, worst", worst, "", "<= 1.4", worst <= 1.4)
}
