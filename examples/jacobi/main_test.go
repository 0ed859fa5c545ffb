package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skep/internal/processes"
)

func TestMain(m *testing.M) { processes.Main(m, main) }

// sequential solves the equations in one loop.
func sequential(n, iterations int, seed uint64) []float64 {
	a, b := make([][]float64, n), make([]float64, n)
	for r := range a {
		a[r], b[r] = equation(n, r, seed)
	}
	x := append([]float64(nil), b...)
	for range iterations {
		next := make([]float64, n)
		for r := range next {
			sum := 0.0
			for c := range x {
				if c != r {
					sum += a[r][c] * x[c]
				}
			}
			next[r] = (b[r] - sum) / a[r][r]
		}
		x = next
	}
	return x
}

// The result is that of the sequential program within rounding, however the rows are shared, and solves the equations.
func TestAnySplitSolves(t *testing.T) {
	const n = 60
	x := sequential(n, 104, 1)
	for r := range x {
		row, b := equation(n, r, 1)
		for c, v := range row {
			b -= v * x[c]
		}
		if math.Abs(b) > 1e-9 {
			t.Fatalf("equation %d is off by %g", r, b)
		}
	}
	want := checksum(x)
	for _, c := range []struct {
		size   int
		shares string
	}{{1, ""}, {4, ""}, {7, ""}, {3, "1,57,2"}, {4, "0,30,0,30"}} {
		out := processes.Run(t, c.size, c.shares, "-n", fmt.Sprint(n))
		_, text, _ := strings.Cut(out, "checksum ")
		got, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%d ranks, shares %q: %q, want %.12e", c.size, c.shares, out, want)
		}
	}
}

// A program that begins from a checkpoint has the same result, to the bit, also with other shares and another number of
// ranks.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "progress"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	checksum := func(size int, shares string, step int) string {
		out := processes.Run(t, size, shares, "-n", "60", "-checkpoint", "7")
		if measured := fmt.Sprintf(" %d iterations ", 104-max(step, 4)); !strings.Contains(out, measured) {
			t.Errorf("%q: want %s", out, measured)
		}
		_, sum, _ := strings.Cut(out, "checksum ")
		return sum
	}
	t.Setenv("SKEP_WORK", dir)
	t.Setenv("SKEP_PROGRESS", filepath.Join(dir, "progress"))
	want := checksum(3, "", 0)
	t.Setenv("SKEP_PROGRESS", "")
	for _, k := range []int{7, 56, 98} {
		step := fmt.Sprint(k)
		folder := filepath.Join(dir, "checkpoint", step)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "state", step), filepath.Join(folder, "0")); err != nil {
			t.Fatal(err)
		}
		t.Setenv("SKEP_CHECKPOINT", folder)
		t.Setenv("SKEP_CHECKPOINT_STEP", step)
		for _, shares := range []string{"", "1,57,2", "0,30,0,30"} {
			if got := checksum(strings.Count(shares, ",")+1, shares, k); got != want || want == "" {
				t.Errorf("from %s with shares %q: %q, want %q", step, shares, got, want)
			}
		}
	}
}
