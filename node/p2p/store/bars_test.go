package store

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/internal/cputime"
)

// BenchmarkBars compares a commit of four records through the log with the same in the database alone, in turns. The
// log's share has what it costs the database to take over what the log holds, which is most of it where records are
// written once: here each is written three times and deleted, as those of an attempt are.
func BenchmarkBars(b *testing.B) {
	const rounds, commits = 20, 400
	stores := [2]*Store{open(b, b.TempDir()), open(b, b.TempDir())}
	ways := [2]func([]grid.Record) error{stores[0].Commit, func(records []grid.Record) error {
		changes, _, err := appendChanges(nil, records)
		if err == nil {
			err = stores[1].flush(changes, false)
		}
		return err
	}}
	var old []grid.Record
	for n := range uint32(2000) {
		old = append(old, task(1_000_000+n))
	}
	for _, s := range stores {
		if err := s.Commit(old); err != nil {
			b.Fatal(err)
		}
	}
	var cpu, wall [2][]float64
	var longest [2]time.Duration
	for range rounds {
		for i, commit := range ways {
			used, began := cputime.Used(), time.Now()
			for n := range uint32(commits) {
				var batch []grid.Record
				for k := range uint32(4) { // of four attempts, in different states
					r := task(n - n%4 + k)
					r.Delete = n%4 == 3
					batch = append(batch, r)
				}
				t := time.Now()
				if err := commit(batch); err != nil {
					b.Fatal(err)
				}
				longest[i] = max(longest[i], time.Since(t))
			}
			wall[i] = append(wall[i], time.Since(began).Seconds()/commits)
			cpu[i] = append(cpu[i], (cputime.Used()-used).Seconds()/commits)
		}
	}
	for _, x := range []struct {
		what string
		of   [2][]float64
	}{{"CPU", cpu}, {"wall", wall}} {
		var ratios []float64
		for i := range rounds {
			ratios = append(ratios, x.of[0][i]/x.of[1][i])
		}
		mean, half := interval(ratios)
		fmt.Printf("bar: %-58s %10.3f %-6s bar %-9s pass\n", "a commit through the log over bbolt alone, "+x.what, mean,
			fmt.Sprintf("x±%.2f", half), "reported")
		slices.Sort(x.of[0])
		slices.Sort(x.of[1])
		fmt.Printf("     %s of a commit: log %.0f µs, bbolt %.0f µs, medians\n", x.what, 1e6*x.of[0][rounds/2],
			1e6*x.of[1][rounds/2])
	}
	fmt.Printf("     the longest commit: log %v, bbolt %v\n", longest[0], longest[1])
}

// interval returns the mean of values and the half-width of its 95 % interval.
func interval(values []float64) (mean, half float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	sum := 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	n := float64(len(values))
	return mean, 2.09 * math.Sqrt(sum/(n-1)/n) // Student's t of 19 degrees of freedom
}
