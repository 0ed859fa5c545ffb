package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/internal/processes"
)

func TestMain(m *testing.M) { processes.Main(m, main) }

// sequential plays on a whole board, cell by cell.
func sequential(n, iterations int, seed uint64) (sum uint64) {
	board := make([][]int32, n)
	for r := range board {
		board[r] = make([]int32, n+2)
		first(board[r], r, seed)
	}
	for range iterations {
		next := make([][]int32, n)
		for r := range next {
			next[r] = make([]int32, n+2)
			for c := 1; c <= n; c++ {
				count := int32(0)
				for y := max(r-1, 0); y <= min(r+1, n-1); y++ {
					for x := c - 1; x <= c+1; x++ {
						count += board[y][x]
					}
				}
				if count-board[r][c] == 3 || count == 3 && board[r][c] == 1 {
					next[r][c] = 1
				}
			}
		}
		board = next
	}
	for r, row := range board {
		sum += rowSum(r, row)
	}
	return sum
}

// The result is that of the sequential program, bit by bit, however the rows are shared.
func TestAnySplitGivesTheSameCells(t *testing.T) {
	want := fmt.Sprintf("checksum %016x\n", sequential(64, 104, 1))
	for _, c := range []struct {
		size   int
		shares string
	}{{1, ""}, {4, ""}, {3, ""}, {4, "1,60,2,1"}, {3, "0,64,0"}, {4, "30,0,0,34"}} {
		out := processes.Run(t, c.size, c.shares, "-n", "64")
		if !strings.HasSuffix(out, want) || !strings.Contains(out, "100 iterations of ") {
			t.Errorf("%d ranks, shares %q: %q, want %q", c.size, c.shares, out, want)
		}
	}
}

// A blinker turns, and a block stays.
func TestRule(t *testing.T) {
	row := func(s string) (cells []int32) {
		for _, c := range s {
			cells = append(cells, int32(strings.IndexRune(".x", c)))
		}
		return cells
	}
	next := make([]int32, 9)
	live(next, row("......xx."), row(".xxx..xx."), row("........."))
	if got := fmt.Sprint(next); got != fmt.Sprint(row("..x...xx.")) {
		t.Error(got)
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
