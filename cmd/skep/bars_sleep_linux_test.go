package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// benchSleep measures how long four slots stand empty between tasks that need no processor: 200 × sleep 0.1 over
// `xargs -P4` in the same round. A grid is measured in its first round, when nobody has measured anything yet, and in
// later ones.
func benchSleep(b *testing.B, skep string) {
	const fresh, rounds = 5, 20
	one := startMember(b, skep, "", "--cpus", "4")
	bag := func(m *member) float64 {
		t := time.Now()
		m.run(b, "", "run", "--count", "200", "--", "sleep", "0.1")
		return time.Since(t).Seconds()
	}
	var alone, first, later []float64
	var grid []*member
	for range fresh {
		for _, m := range grid {
			m.stop()
		}
		grid = startSlots(b, skep, 2, 1, 1)
		first = append(first, bag(grid[0])/xargs(b))
	}
	bag(one)
	for range rounds {
		reference := xargs(b)
		alone, later = append(alone, bag(one)/reference), append(later, bag(grid[0])/reference)
	}
	for _, x := range []struct {
		what   string
		ratios []float64
		most   float64
	}{{"one node", alone, 1.02}, {"three nodes, first round of fresh grids", first, 1.05},
		{"three nodes, later rounds", later, 1.03}} {
		mean, half := interval(x.ratios)
		report(b, "200 x sleep 0.1 on 4 slots over xargs -P4, "+x.what, mean, fmt.Sprintf("±%.3f", half),
			fmt.Sprintf("<= %.2f", x.most), mean+half <= x.most)
	}
}

// startSlots starts a grid of which each node has so many slots.
func startSlots(b *testing.B, skep string, cpus ...int) (ms []*member) {
	join := ""
	for _, n := range cpus {
		ms = append(ms, startMember(b, skep, join, "--cpus", fmt.Sprint(n)))
		join = ms[0].join
	}
	awaitMembers(b, ms)
	return ms
}

// xargs is how long the same tasks take without a node.
func xargs(b *testing.B) float64 {
	t := time.Now()
	cmd := exec.Command("xargs", "-P4", "-n1", "sleep")
	cmd.Stdin = strings.NewReader(strings.Repeat("0.1\n", 200))
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("xargs: %v\n%s", err, out)
	}
	return time.Since(t).Seconds()
}
